"""pyperf's JSON: a benchmark for each cell, and a run for each worker with its median as the value.

pyperf compares the means of all values by a t-test. A few interrupted rounds change a mean, and
rounds of one process are not independent. Medians of processes avoid both.
"""

from __future__ import annotations

from dlbench.document import Document, Measured
from dlbench.document.keys import MeasuredWorker
from dlbench.exporters.dates import moment
from dlbench.exporters.origin import Origins
from dlbench.text.escaping import json_text

FORMAT = "1.0"
#: The meaning of each value, stored in the file because pyperf's own values are means of loops.
VALUES = "median of the rounds of one process"
NS = 1e-9  #: pyperf's unit is the second


def export(document: Document) -> str:
    """A suite that `pyperf show`, `stats` and `compare_to` read."""
    common = _metadata(document)
    origins = Origins(document)
    made = [_benchmark(entry, document, origins) for entry in document.measured if _timed(entry)]
    if not made:
        raise ValueError("no cell has a time above 0, and pyperf accepts no other times")
    suite = {"version": FORMAT, "metadata": common, "benchmarks": made}
    return json_text(suite, indent=1) + "\n"


def _benchmark(entry: Measured, document: Document, origins: Origins) -> dict[str, object]:
    metadata: dict[str, object] = {
        "name": entry.name,
        "unit": "second",
        "dlbench_outcome": entry.outcome,
        "dlbench_values": VALUES,
    }
    origin = origins.of(entry)
    known = {
        "python_version": origin.python,
        "cpu_model_name": document.origin(entry)[0].run.machine.cpu,
        # Of a merged document the suite's host is not the machine's.
        "hostname": origin.host,
        "dlbench_run": origin.run,
        "dlbench_producer_version": origin.producer_version,
        "dlbench_consumer_version": origin.consumer_version,
    }
    metadata |= {key: text.strip() for key, text in known.items() if text and text.strip()}
    runs = [_run(worker, entry.iterations) for worker in _timed(entry)]
    return {"metadata": metadata, "runs": runs}


def _run(worker: MeasuredWorker, iterations: int) -> dict[str, object]:
    """`iterations`: used if the worker has no number of its own."""
    loops = max(worker.iterations or iterations, 1)
    metadata = {"loops": loops, "dlbench_rounds": len(worker.samples_ns)}
    run: dict[str, object] = {"metadata": metadata, "values": [worker.median_ns * NS]}
    if worker.first_ns > 0:
        run["warmups"] = [[1, worker.first_ns * NS]]
    return run


def _timed(entry: Measured) -> list[MeasuredWorker]:
    """The workers with a time above 0, which pyperf requires; a phase minus its floor may be below
    0."""
    return [worker for worker in entry.workers if worker.median_ns > 0]


def _metadata(document: Document) -> dict[str, object]:
    """The metadata of all benchmarks in pyperf's keys; pyperf refuses empty texts."""
    context = document.context
    found: dict[str, object] = {
        "platform": document.run.machine.kernel,
        "dlbench_version": document.run.version,
        "date": _date(context.date),
    }
    cores = document.run.machine.cores or context.num_cpus
    found |= {"cpu_count": cores} if cores else {}
    texts = {key: v.strip() if isinstance(v, str) else v for key, v in found.items()}
    return {key: value for key, value in texts.items() if value}


def _date(text: str) -> str:
    """The date in pyperf's format; empty for other texts."""
    found = moment(text)
    return found.strftime("%Y-%m-%d %H:%M:%S.%f") if found else ""
