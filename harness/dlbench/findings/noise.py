"""What makes numbers wander: disturbed rounds, and a machine that is not quiet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlbench import _core, values
from dlbench.document import Entry, Request, Run
from dlbench.findings.finding import Finding, pairs_text
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import count

#: Codes of warnings of a cell's rounds: their meaning, and the options to measure the pair with
#: again. Without options, or where the run had them, the command is `doctor`.
DISTURBED = {
    "few-rounds": ("fewer than six rounds: the interval is only their range", "--budget 120s"),
    "bimodal": ("the rounds fall into two groups: the median is one of them", ""),
    "drift": ("the rounds rise or fall while they run", "--replicas 6"),
    "migrated-core": ("a third of the rounds changed their core", ""),
    "preempted": ("in a third of the rounds another thread had the core", ""),
    "slow-cpu": ("a third of the rounds ran on a slowed core", ""),
    "host-behind": ("in a third of the rounds the device waited for the host", ""),
}


def disturbed(entries: list[Entry], asked: Request) -> Iterator[Finding]:
    """`asked`: the options of the run."""
    for code, (meaning, options) in DISTURBED.items():
        told = [entry for entry in entries if entry.warns_of(code)]
        if told:
            pairs = pairs_text(entry.pair for entry in told)
            words = options.split()
            again = words and not _was_done(words, asked)
            command = dlbench_command(*([*told[0].pair, *words] if again else ["doctor"]))
            label = code.replace("-", " ")
            yield Finding(label, f"{count(len(told), 'cell')}: {meaning}: {pairs}", command)


def _was_done(options: Sequence[str], asked: Request) -> bool:
    """Did the run have at least what the options set?"""
    if "--replicas" in options:
        return asked.replicas >= int(options[options.index("--replicas") + 1])
    if "--budget" in options and asked.budget:
        try:
            given = _core.parse_seconds(asked.budget)
        except _core.UsageError:
            return False
        return given >= _core.parse_seconds(options[options.index("--budget") + 1])
    return False


def _disturbance(run: Run) -> str:
    """ "other processes 90 %, stolen 3.0 %"."""
    found = run.noise
    shares = (("other processes", found.other_processes), ("stolen", found.stolen))
    told = [f"{name} {values.percent(share)}" for name, share in shares if share]
    if found.frequency is not None:
        told.append(f"frequency {values.percent(found.frequency)}")
    return ", ".join(told)


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
        facts.append(f"+-{values.percent(widest.half_width)} between processes at {length}")
    if facts:
        yield Finding("noise", ", ".join(facts), "dlbench doctor")
