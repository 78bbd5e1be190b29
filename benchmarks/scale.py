"""Prints seconds and MB of planning and recording, by the number of cells.

Each size is measured in a separate process, which has its own peak memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dlbench import _core

CELLS = (1_000, 10_000, 100_000)
SIZES = [4 << shift for shift in range(10, 20)]


def libraries(count: int) -> list[_core.Library]:
    """This many invented libraries."""
    return [
        _core.Library(
            name=f"lib{i:03}",
            installed=True,
            version="1.0",
            producer_path="p.py",
            consumer_path="c.py",
            protocols=["dlpack"],
        )
        for i in range(count)
    ]


def measure(cells: int) -> dict[str, float]:
    """Plan this many cells; write a journal of them, and its document."""
    count = round((cells / len(SIZES)) ** 0.5)
    made = libraries(count)
    begin = time.perf_counter()
    plan = _core.make_plan(made, _core.Axes(protocols=["dlpack"], sizes=SIZES))
    planned = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.jsonl"
        with journal.open("w") as out:
            context = {"dlbench": {"schema": 1, "environments": {"default": {"libraries": {}}}}}
            header = {"dlbench_journal": 1, "fingerprint": plan.fingerprint, "context": context}
            out.write(json.dumps(header) + "\n")
            for cell in plan.cells:
                out.write(json.dumps({"entry": entry(cell)}) + "\n")
            out.write(json.dumps({"end": {"wall_s": 1.0, "round_s": 1.0, "signal": 0}}) + "\n")
        begin = time.perf_counter()
        _core.write_document(folder)
        recorded = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cells": len(plan.cells), "plan_s": planned, "document_s": recorded, "mb": peak}


def entry(cell: _core.Cell) -> dict[str, object]:
    """A measured cell of six rounds."""
    samples = [1000.0, 1001.0, 1002.0, 1003.0, 1004.0, 1005.0]
    evidence = {"address": "yes", "guard": "skipped", "write": "yes", "slope": "skipped"}
    return {
        "name": cell.name, "run_name": cell.name, "run_type": "iteration", "repetitions": 1,
        "repetition_index": 0, "threads": 1, "iterations": 1000, "real_time": 1002.5,
        "cpu_time": 1002.0, "time_unit": "ns", "phase": cell.phase, "clock": cell.clock,
        "producer": cell.producer, "consumer": cell.consumer, "protocol": cell.protocol,
        "device": cell.device, "case": cell.case, "bytes": cell.bytes,
        "environment": cell.environment, "outcome": "zero-copy", "changed": [],
        "evidence": evidence, "lo_ns": 1000.0, "hi_ns": 1005.0, "mad_ns": 1.5,
        "floor_ratio": 47.7, "warnings": [],
        "workers": [{"median_ns": 1002.5, "first_ns": 52000.0, "samples_ns": samples}],
        "observed": {"used": "dlpack", "via": "direct", "calls": ["__dlpack__()"],
                 "struct": "legacy", "version": [], "flags": []},
    }  # fmt: skip


def main() -> None:
    """Print one line for each size."""
    if len(sys.argv) == 2:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    print(f"{'cells':>8}{'plan s':>10}{'document s':>12}{'us a cell':>11}{'peak MB':>9}")
    for cells in CELLS:
        observed = json.loads(subprocess.check_output([sys.executable, __file__, str(cells)]))
        total = (observed["plan_s"] + observed["document_s"]) / observed["cells"] * 1e6
        print(
            f"{observed['cells']:8.0f}{observed['plan_s']:10.3f}{observed['document_s']:12.3f}"
            f"{total:11.1f}{observed['mb']:9.0f}"
        )


if __name__ == "__main__":
    main()
