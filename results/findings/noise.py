"""Findings about measurement noise: disturbed rounds, a busy machine, and how exact times are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from dlbench import values
from dlbench.analysis.scaling import PROCESSES, log_half_width
from dlbench.document import Entry, Measured, Request, Run
from dlbench.document.facts import ENOUGH_REPLICAS, WIDE
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

    A time is good to the half-width of its 95 % interval, spread between processes included. The
    times that are uncertain are those with the mark of a wide interval.
    """
    shares = [(entry.median_ns, _share(entry)) for entry in measured]
    times = sorted(time for time in shares if math.isfinite(time[1]))
    if not times:
        return "between processes not measured: each cell ran in one; --replicas 3 measures it"
    parts = [_good(times)]
    if wide := [share for _, share in times if share > WIDE]:
        is_few = replicas < ENOUGH_REPLICAS
        more = f"--replicas {ENOUGH_REPLICAS} narrows them" if is_few else "dlbench doctor says why"
        few = f"{len(wide)} of {len(times)} " if len(wide) < len(times) else ""
        are = "is" if len(wide) == 1 else "are"
        parts.append(f"{few}times {are} uncertain, worst {values.spread(max(wide))}: {more}")
    unknown = len(shares) - len(times)
    parts.append(f"not known of {count(unknown, 'cell')}" if unknown else "")
    return "; ".join(filter(None, parts))


def _share(entry: Measured) -> float:
    """The half-width over the median, as the cell shows it if it has that of several processes."""
    if entry.interval == PROCESSES:
        return entry.half_width / entry.median_ns
    return math.expm1(log_half_width(entry))


def _good(times: Sequence[tuple[float, float]]) -> str:
    """Which times are good: all, or those below a limit. `times`: the median and the share of each
    cell, sorted."""
    for limit in (math.inf, *LIMITS_NS):
        below = [time for time in times if time[0] < limit]
        is_stated = limit == math.inf or FEWEST <= len(below) < len(times)
        if is_stated and (good := _nine_of_ten(below)) <= WIDE:
            most = "9 of 10 " if len(below) >= 10 else ""
            ends = re.sub(r"\.0+ ", " ", values.duration(limit)) if limit < math.inf else ""
            limited = f" below {ends}" if ends else ""
            return f"{most}times{limited} are good to {values.spread(good)}"
    return ""


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
    if facts:
        yield Finding("noise", ", ".join(facts), "dlbench doctor")
