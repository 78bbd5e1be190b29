"""airspeed velocity: the files of one commit in asv's folder of results."""

from __future__ import annotations

import re
import sys

from dlbench.document import Document, Measured
from dlbench.document.keys import MeasuredWorker
from dlbench.environments.environment import DEFAULT
from dlbench.exporters import names
from dlbench.exporters.dates import moment
from dlbench.text.escaping import json_text

BENCHMARKS = "benchmarks.json"  #: the list of all commits' benchmarks
MACHINE = "machine.json"  #: in the folder of each machine
RESULTS_VERSION = BENCHMARKS_VERSION = 2
MACHINE_VERSION = 1
NS = 1e-9  #: asv's unit of time is the second
#: asv compares only results of the same version of a benchmark.
BENCHMARK_VERSION = "1"
COLUMNS = ("result", "params", "version", "started_at", "duration", "stats_ci_99_a",
           "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_number", "stats_repeat",
           "samples")  # fmt: skip
#: Number of medians whose range contains the true median with 99 %: 1 - 2 / 2**8.
MEDIANS_FOR_99 = 8
#: asv makes a file for each graph, and finds its benchmark by the name of that file.
LONGEST_NAME = 200


def files(document: Document, commit: str, commit_date_s: int | None = None) -> dict[str, str]:
    """The files by their place in asv's folder: the benchmarks, the machine, and the results of
    `commit`, with a benchmark for each cell. `commit_date_s`: its date in seconds since 1970;
    default: the run's date."""
    entries = _entries(document)
    context, machine = document.context, document.run.machine
    environment = document.environment(DEFAULT)
    # A new patch version of Python must not end a line of asv's graphs.
    python = ".".join(environment.python.split(".")[:2])
    host = _portable(context.host_name or "unknown")
    benchmarks: dict[str, object] = {_name(entry): _benchmark(entry) for entry in entries}
    about = {
        "machine": host,
        "os": machine.kernel,
        "arch": "",
        "cpu": machine.cpu,
        "num_cpu": str(machine.cores or context.num_cpus or ""),
        "ram": str(machine.memory_bytes or ""),
        "version": MACHINE_VERSION,
    }
    results = {
        "commit_hash": commit,
        "env_name": f"dlbench-py{python}",
        "date": _milliseconds(context.date) if commit_date_s is None else commit_date_s * 1000,
        # asv draws a line for each combination of these. So versions are not among them: a change
        # that comes with a new version would lie between two lines.
        "params": {"machine": host, "cpu": machine.cpu, "python": python},
        "python": python,
        "requirements": environment.versions,
        "env_vars": {},
        "result_columns": COLUMNS,
        "results": {_name(entry): _row(entry) for entry in entries},
        "durations": {},
        "version": RESULTS_VERSION,
    }
    made = {
        BENCHMARKS: {**benchmarks, "version": BENCHMARKS_VERSION},
        f"{host}/{MACHINE}": about,
        f"{host}/{commit[:8]}-{results['env_name']}.json": results,
    }
    return {place: json_text(content, indent=1) + "\n" for place, content in made.items()}


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


def _name(entry: Measured) -> str:
    """The cell's name as the name of a file; asv's tree of benchmarks branches at each dot."""
    return _portable(entry.name.replace("/", ".").replace(":", "-"))


def _portable(text: str) -> str:
    """The text with letters only that each file system has; a changed text is made unique."""
    made = re.sub(r"[^A-Za-z0-9_.-]|^\.", "_", text)
    is_safe = made == text and len(text) <= LONGEST_NAME
    return made if is_safe else names.hashed(made, text, LONGEST_NAME)


def _benchmark(entry: Measured) -> dict[str, object]:
    return {"name": _name(entry), "pretty_name": entry.name, "type": "time", "unit": "seconds",
            "code": "", "param_names": [], "params": [], "timeout": 60.0,
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
    result = [entry.median_ns * NS]
    return [result, [], BENCHMARK_VERSION, None, None, *columns, None, [medians]]


def _median(worker: MeasuredWorker) -> float:
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
