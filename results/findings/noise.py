"""Findings about measurement noise: disturbed rounds, and a busy machine."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from dlbench import values
from dlbench.analysis.scaling import log_half_width
from dlbench.document import Entry, Measured, Request, Run
from dlbench.document.facts import WIDE
from dlbench.findings.finding import Finding, pairs_text
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import count

#: By code of a warning about a cell's rounds: its meaning, and the replicas with which the pair
#: should be measured again. Without them, or if the run had as many, the command is `doctor`.
DISTURBED = {
    "few-rounds": ("fewer than six rounds: each round is long, or the budget ended", 6),
    "bimodal": ("the rounds form two groups; the median lies in one of them", 0),
    "drift": ("the times rise or fall from round to round", 6),
    "migrated-core": ("a third of the rounds moved to another core", 0),
    "preempted": ("a third of the rounds were preempted", 0),
    "slow-cpu": ("a third of the rounds ran on a slowed core", 0),
    "host-behind": ("in a third of the rounds the device waited for the host", 0),
}

ENOUGH = 9  #: replicas that are advised
FEWEST = 5  #: cells below a limit that is stated
LIMITS_NS = [step * 10**power for power in range(9, 0, -1) for step in (5, 2, 1)]


def disturbed(entries: list[Entry], request: Request) -> Iterator[Finding]:
    """`request`: the options of the run."""
    for code, (meaning, replicas) in DISTURBED.items():
        reported = [entry for entry in entries if entry.warns_of(code)]
        if reported:
            pairs = pairs_text(entry.pair for entry in reported)
            again = [*reported[0].pair, "--replicas", str(replicas)]
            command = dlbench_command(*(again if replicas > request.replicas else ["doctor"]))
            label = code.replace("-", " ")
            yield Finding(label, f"{count(len(reported), 'cell')}: {meaning}: {pairs}", command)


def trust(measured: Sequence[Measured], replicas: int) -> str:
    """How exact the times of a run are, with the option that makes them more exact.

    A time is good to the half-width of its 95 % interval, spread between processes included; one of
    ten cells may be worse.
    """
    shares = [(entry.median_ns, math.expm1(log_half_width(entry))) for entry in measured]
    times = sorted(time for time in shares if math.isfinite(time[1]))
    if not times:
        return "between processes not measured: each cell ran in one; --replicas 3 measures it"
    unknown = len(shares) - len(times)
    more = f"--replicas {ENOUGH} narrows them" if replicas < ENOUGH else "dlbench doctor says why"
    return _limits(times, more) + (f"; not known of {count(unknown, 'cell')}" if unknown else "")


def _limits(times: Sequence[tuple[float, float]], more: str) -> str:
    """`times`: the median and the share of each cell, sorted."""
    most = "9 of 10 " if len(times) >= 10 else ""
    whole = _nine_of_ten(times)
    if whole <= WIDE:
        return f"{most}times are good to {values.spread(whole)}"
    for limit in LIMITS_NS:
        below = [time for time in times if time[0] < limit]
        above = times[len(below) :]
        if len(below) >= FEWEST and above and (good := _nine_of_ten(below)) <= WIDE:
            limited = re.sub(r"\.0+ ", " ", values.duration(limit))
            rest = f"longer ones uncertain by {values.spread(_nine_of_ten(above))}"
            return f"{most}times below {limited} are good to {values.spread(good)}, {rest}: {more}"
    return f"times are uncertain by {values.spread(whole)}: {more}"


def _nine_of_ten(times: Sequence[tuple[float, float]]) -> float:
    """The least share that nine of ten cells keep."""
    shares = sorted(share for _, share in times)
    return shares[math.ceil(0.9 * len(shares)) - 1]


def _disturbance(run: Run) -> str:
    """ "other processes 90 %, stolen 3.0 %, cuda:0 busy 85 %"."""
    found = run.noise
    shares = (("other processes", found.other_processes), ("stolen", found.stolen))
    reported = [f"{name} {values.percent(share)}" for name, share in shares if share]
    if found.frequency is not None:
        reported.append(f"frequency {values.percent(found.frequency)}")
    for use in found.devices:
        reported += [f"{use.device} busy {values.percent(use.busy)}"] if use.busy else []
        reported += [f"processes on {use.device}: {use.processes}"] if use.processes else []
    return ", ".join(reported)


def noise(run: Run) -> Iterator[Finding]:
    machine = run.machine
    facts = ["virtual machine"] if machine.virtual else []
    facts += [f"busy before the run ({_disturbance(run)})"] if run.noise.too_busy else []
    facts += ["turbo on"] if machine.turbo == "on" else []
    if machine.governor not in ("unknown", "performance"):
        facts.append(f"governor {machine.governor}")
    rows = [
        row for environment in run.environments.values() for row in environment.between_processes
    ]
    if rows:
        widest = max(rows, key=lambda row: row.half_width)
        length = values.duration(widest.length_ns)
        facts.append(f"{values.spread(widest.half_width)} between processes at {length}")
    if facts:
        yield Finding("noise", ", ".join(facts), "dlbench doctor")
