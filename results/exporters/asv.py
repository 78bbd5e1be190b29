"""airspeed velocity: a results file, version 2, and the list of its benchmarks."""

from __future__ import annotations

import sys

from dlbench.exporters.dates import moment

from dlbench.document import Document, Measured
from dlbench.document.entry import Worker
from dlbench.environments.environment import DEFAULT
from dlbench.text.escaping import json_text

VERSION = 2
NO_COMMIT = "0" * 40
NS = 1e-9  #: asv's unit of time is the second
#: asv compares only results of the same version of a benchmark.
BENCHMARK_VERSION = "1"
COLUMNS = ("result", "params", "version", "started_at", "duration", "stats_ci_99_a",
           "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_number", "stats_repeat",
           "samples")  # fmt: skip
#: Number of medians whose range contains the true median with 99 %: 1 - 2 / 2**8.
MEDIANS_FOR_99 = 8


def export(document: Document, commit: str | None = None, commit_date_s: int | None = None) -> str:
    """The results of `commit` (default: a hash of zeros), with a benchmark for each cell.
    `commit_date_s`: its date in seconds since 1970; default: the run's date."""
    entries = _entries(document)
    context, machine = document.context, document.run.machine
    environment = document.environment(DEFAULT)
    python, requirements = environment.python, environment.versions
    params = {
        "machine": context.host_name,
        "os": machine.kernel,
        "arch": "",
        "cpu": machine.cpu,
        "num_cpu": str(machine.cores or context.num_cpus or ""),
        "ram": str(machine.memory_bytes or ""),
        "python": python,
    }
    made = {
        "commit_hash": commit or NO_COMMIT,
        "env_name": f"dlbench-py{python}",
        "date": _milliseconds(context.date) if commit_date_s is None else commit_date_s * 1000,
        "params": {**params, **requirements},
        "python": python,
        "requirements": requirements,
        "env_vars": {},
        "result_columns": COLUMNS,
        "results": {entry.name: _row(entry) for entry in entries},
        "durations": {},
        "version": VERSION,
    }
    return json_text(made, indent=1) + "\n"


def export_benchmarks(document: Document) -> str:
    """`benchmarks.json`, from which asv reads the units and the names."""
    made: dict[str, object] = {entry.name: _benchmark(entry.name) for entry in _entries(document)}
    return json_text({**made, "version": VERSION}, indent=1) + "\n"


def _entries(document: Document) -> list[Measured]:
    """The cells of the default environment, because asv's file has one machine and one environment.
    Raises ValueError for a merged document, and if no cell has a number."""
    if document.machines:
        raise ValueError(
            "a merged run has several machines, but asv's file has one: export each machine's run"
        )
    entries = [entry for entry in document.measured if entry.environment == DEFAULT]
    if not entries:
        raise ValueError(f"asv needs numbers of the environment {DEFAULT!r}, which has none")
    return entries


def _benchmark(name: str) -> dict[str, object]:
    return {"name": name, "pretty_name": name, "type": "time", "unit": "seconds", "code": "",
            "param_names": [], "params": [], "timeout": 60.0,
            "version": BENCHMARK_VERSION}  # fmt: skip


def _row(entry: Measured) -> list[object]:
    """The medians of processes, not their rounds, because asv assumes independent samples."""
    medians = sorted(_median(worker) for worker in entry.workers)
    low, high = 0.0, sys.float_info.max
    if len(medians) >= MEDIANS_FOR_99:
        low, high = medians[0], medians[-1]
    quartiles = [_quantile(medians, share) for share in (0.25, 0.75)] if medians else [None] * 2
    stats = [low, high, *quartiles, entry.iterations]
    # Without a number of repeats asv decides by the samples or the interval; with 1 only by the
    # ratio.
    columns = [[value] for value in stats]
    result = [entry.real_time * NS]
    return [result, [], BENCHMARK_VERSION, None, None, *columns, None, [medians]]


def _median(worker: Worker) -> float:
    return worker.median_ns * NS


def _quantile(ordered: list[float], share: float) -> float:
    """The quantile, by linear interpolation."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _milliseconds(text: str) -> int:
    """Milliseconds since 1970; 0 if the text is not a date."""
    found = moment(text)
    return int(found.timestamp() * 1000) if found else 0
