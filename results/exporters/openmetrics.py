"""OpenMetrics, in the form that a push gateway and Prometheus's text files accept.

All metrics are gauges without a timestamp, because a push gateway refuses timestamps and reads the
older text format, in which `# UNIT` and `# EOF` are comments and other types are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dlbench.document import Document, Entry, Measured
from dlbench.exporters.dates import moment
from dlbench.text.escaping import log_line

NS = 1e-9  #: the unit of time is the second
AXES = ("environment", "machine", "producer", "consumer", "protocol", "device", "case", "bytes",
        "arrays", "phase", "clock")  # fmt: skip
Read = Callable[[Measured], float]

#: Metric: its unit, its description, its value, and the key of a cell that has it.
METRICS: dict[str, tuple[str, str, Read, str]] = {
    "dlbench_exchange_seconds": (
        "seconds", "Median time of one exchange.", lambda e: e.median_ns * NS, "real_time",
    ),
    "dlbench_exchange_low_seconds": (
        "seconds", "Lower end of the median's 95 % interval.", lambda e: e.lo_ns * NS, "lo_ns",
    ),
    "dlbench_exchange_high_seconds": (
        "seconds", "Upper end of the median's 95 % interval.", lambda e: e.hi_ns * NS, "hi_ns",
    ),
    "dlbench_exchange_instructions": (
        "", "Instructions of one exchange.", lambda e: e.instructions, "instructions",
    ),
}  # fmt: skip


def export(document: Document) -> str:
    """The document as the newest run of a push gateway's group. `dlbench_cell` has every cell, with
    or without a number, and its outcome as a label."""
    lines = [*_family("dlbench_run", "", "1, with the facts of the run as labels.")]
    for machine, context in document.contexts.items():
        run = {"version": context.run.version, "host": context.host_name, "run": context.run_id}
        lines.append(_sample("dlbench_run", _with_machine(machine, run), 1))
    began = [(name, _seconds(context.date)) for name, context in document.contexts.items()]
    dated = [(name, seconds) for name, seconds in began if seconds is not None]
    name = "dlbench_run_time_seconds"
    lines += _family(name, "seconds", "Start of the run, in seconds since 1970.") if dated else []
    lines += [_sample(name, _with_machine(machine, {}), seconds) for machine, seconds in dated]
    name = "dlbench_library_info"
    lines += _family(name, "", "1, with a library, or python, and its version as labels.")
    for machine, context in document.contexts.items():
        for environment, facts in context.run.environments.items():
            versions = {"python": facts.python, **facts.versions}
            lines += [_sample(name, _with_machine(machine, {"environment": environment,
                                    "library": library, "version": version}), 1)
                      for library, version in versions.items() if version]  # fmt: skip
    lines += _family("dlbench_cell", "", "1, with a cell and its outcome as labels.")
    for entry in document.entries:
        lines += [_sample("dlbench_cell", {**_labels(entry), "outcome": entry.outcome}, 1)]
    for name, (unit, text, read, key) in METRICS.items():
        values = [(entry, read(entry)) for entry in document.measured if entry.has(key)]
        lines += _family(name, unit, text) if values else []
        lines += [_sample(name, _labels(entry), value) for entry, value in values]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _family(name: str, unit: str, text: str) -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {text}"


def _with_machine(machine: str, labels: dict[str, str]) -> dict[str, str]:
    """The labels, with the machine in a merged document."""
    return {"machine": machine, **labels} if machine else labels


def _labels(entry: Entry) -> dict[str, str]:
    """The axes that the cell has."""
    return {axis: str(value) for axis in AXES if (value := entry.axis(axis)) != ""}


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{shown}}} {value!r}" if shown else f"{name} {value!r}"


def _escaped(text: str) -> str:
    """The text on one line, with the characters that end a label escaped."""
    return log_line(text).replace("\\", "\\\\").replace('"', '\\"')


def _seconds(text: str) -> float | None:
    """The date in seconds since 1970; None for other texts."""
    found = moment(text)
    return found.timestamp() if found else None
