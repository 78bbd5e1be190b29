"""Prints seconds and MB of `dlbench compare` at 1,000, 10,000 and 100,000 cells.

Each size is measured in a separate process, which has its own peak memory. The cells are as a run
writes them: --workers processes of six rounds each (3, the default of a run).
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from dlbench import _core

CELLS = (1_000, 10_000, 100_000)
SIZES = [4 << shift for shift in range(10, 20)]
PLANTED = 100  #: of so many cells, one is half as long again


def entry(number: int, workers: int, chance: random.Random, slower: bool) -> dict[str, Any]:
    """A measured cell."""
    producer, consumer = f"lib{number // 1000:03}", f"lib{number // 10 % 100:03}"
    axes = {"producer": producer, "consumer": consumer, "protocol": "dlpack", "device": "cpu",
            "case": "f32", "bytes": SIZES[number % 10]}  # fmt: skip
    name = "exchange/" + "/".join(f"{key}:{value}" for key, value in axes.items())
    measured = []
    for _ in range(workers):
        median = 1000 * (1 + chance.gauss(0, 0.02)) * (1.5 if slower else 1)
        samples = [median * (1 + chance.gauss(0, 0.01)) for _ in range(6)]
        measured.append({"median_ns": median, "first_ns": 5e4, "samples_ns": samples})
    middle = sorted(worker["median_ns"] for worker in measured)[workers // 2]
    return {
        "name": name, "run_name": name, "run_type": "iteration", "repetitions": 1,
        "repetition_index": 0, "threads": 1, "iterations": 1000, "real_time": middle,
        "cpu_time": middle, "time_unit": "ns", "phase": "exchange", "clock": "call", **axes,
        "environment": "default", "outcome": "zero-copy", "changed": [],
        "evidence": {"address": "yes", "guard": "yes", "write": "yes", "slope": "skipped"},
        "lo_ns": middle * 0.98, "hi_ns": middle * 1.02, "mad_ns": 3.0, "floor_ratio": 47.7,
        "warnings": [], "workers": measured,
        "observed": {"used": "dlpack", "via": "direct", "calls": ["__dlpack__(max_version=(1,0))"],
                 "struct": "versioned", "version": [1, 0], "flags": []},
    }  # fmt: skip


def write(path: Path, cells: int, workers: int, seed: int) -> None:
    """A document of this many cells; with the second seed some are slower."""
    chance = random.Random(seed)
    reference = {"median_ns": 61.0, "spread": 0.01, "workers": 50}
    here = {
        "python": "3.11.7",
        "libraries": {},
        "floors_ns": {"call": 21.0},
        "reference_exchange": reference,
    }
    own = {"schema": 1, "version": "0.1.0", "wall_s": 1.0, "machine": {"cpu": "made up"},
           "environments": {"default": here}}  # fmt: skip
    context = {"date": "", "host_name": "", "num_cpus": 1, "mhz_per_cpu": 0, "caches": [],
               "json_schema_version": 1, "library_build_type": "release",
               "dlbench": own}  # fmt: skip
    with path.open("w") as out:
        out.write(f'{{"context": {json.dumps(context)},\n"benchmarks": [\n')
        for number in range(cells):
            slower = seed == 2 and number % PLANTED == 0
            out.write("" if number == 0 else ",\n")
            out.write(json.dumps(entry(number, workers, chance, slower)))
        out.write('],\n"not_measured": []}\n')


def measure(base: str, head: str) -> dict[str, float]:
    """Compare two documents in this process."""
    begin = time.perf_counter()
    made = _core.compare(base=[base], head=[head], only_changed=True)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"s": seconds, "mb": peak, **made["counts"]}


def main() -> None:
    """Print one line for each size."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--workers", type=int, default=3)
    options.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    requested = options.parse_args()
    if requested.measure:
        print(json.dumps(measure(*requested.measure)))
        return
    print(f"{'cells':>8}{'MB each':>10}{'s':>8}{'MB':>8}   {requested.workers} workers a side")
    for cells in CELLS:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, f"{seed}.json") for seed in (1, 2)]
            for seed, path in enumerate(paths, 1):
                write(path, cells, requested.workers, seed)
            command = [sys.executable, __file__, "--measure", *map(str, paths)]
            observed = [
                json.loads(subprocess.check_output(command)) for _ in range(requested.times)
            ]
            size = paths[0].stat().st_size / 1e6
        best = min(observed, key=lambda one: float(one["s"]))
        found = f"{best['SLOW']} SLOW of {cells // PLANTED} planted"
        print(f"{cells:>8}{size:>10.1f}{best['s']:>8.2f}{best['mb']:>8.0f}   {found}")


if __name__ == "__main__":
    main()
