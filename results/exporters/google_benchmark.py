"""Google Benchmark's JSON with a repetition for each process, like `--benchmark_repetitions`.

From `results.json`, with one row for each cell, compare.py computes a ratio. From repetitions it
computes a U-test, which assumes independent values: medians of processes are independent, rounds of
one process are not.
"""

from __future__ import annotations

from typing import Any

from dlbench.document import Document, Measured
from dlbench.exporters.origin import Origin, Origins
from dlbench.text.escaping import json_text


def export(document: Document) -> str:
    """The rows of each cell: its repetitions and the median of several."""
    origins = Origins(document)
    rows = [
        row | {"label": _label(entry, origins.of(entry))}
        for i, entry in enumerate(document.measured)
        for row in _rows(i, entry)
    ]
    context = document.context.to_json(without=("dlbench",))
    return json_text({"context": context, "benchmarks": rows}, indent=1) + "\n"


def _label(entry: Measured, origin: Origin) -> str:
    """ "numpy 2.4.6, torch 2.13.0, Python 3.13.1, host, run 0123456789ab": a row's only text beside
    its name."""
    versions = {entry.producer: origin.producer_version, entry.consumer: origin.consumer_version,
                "Python": origin.python}  # fmt: skip
    words = [f"{name} {version}" for name, version in versions.items() if version]
    return ", ".join([*words, *([origin.host] if origin.host else []), f"run {origin.run}"])


def _rows(family: int, entry: Measured) -> list[dict[str, Any]]:
    times = [worker.median_ns for worker in entry.workers] or [entry.median_ns]
    rows = [
        _row(family, entry, time)
        | {"run_type": "iteration", "repetitions": len(times), "repetition_index": i}
        for i, time in enumerate(times)
    ]
    if len(times) > 1:
        rows.append(
            _row(family, entry, entry.median_ns)
            | {"name": f"{entry.name}_median", "run_type": "aggregate", "aggregate_name": "median",
               "aggregate_unit": "time", "repetitions": len(times)}
        )  # fmt: skip
    return rows


def _row(family: int, entry: Measured, time: float) -> dict[str, Any]:
    return {
        "name": entry.name,
        "family_index": family,
        "per_family_instance_index": 0,
        "run_name": entry.name,
        "threads": 1,
        "iterations": max(entry.iterations, 1),
        "real_time": time,
        # compare.py needs a value, but the document has no CPU time for each process, so a test of
        # this value is meaningless.
        "cpu_time": time,
        "time_unit": "ns",
    }
