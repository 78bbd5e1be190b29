"""Compares `dlbench compare` and pyperf on the same question: did numpy -> torch change?

Prints the wall time of one A/A comparison of dlbench and of two `pyperf timeit` with `compare_to`,
and the change that each would have detected in 95 of 100 cases at 1 of 100 false alarms, from the
scatter of its own processes. The time that a comparison needs grows with the inverse square of that
change, so the last ratio is that of the times for the same change. Needs pyperf for this Python.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SETUP = "import numpy as np, torch; x = np.zeros(1024, np.float32); convert = torch.from_dlpack"
FILTER = "producer:numpy/consumer:torch/"
#: Quantiles of a normal distribution: 1 % two-sided, and 95 %.
SURE, FOUND = 2.5758, 1.6449
Side = Sequence[float]


def observed_by(first: Side, second: Side) -> float:
    """The relative change that two sides of such processes detect."""
    logs = [[math.log(value) for value in side] for side in (first, second)]
    degrees_of_freedom = len(first) + len(second) - 2
    squares = sum(statistics.variance(side) * (len(side) - 1) for side in logs)
    error = math.sqrt(squares / degrees_of_freedom * (1 / len(first) + 1 / len(second)))
    return math.expm1((SURE + FOUND) * error)


def measure_dlbench(folder: Path) -> tuple[float, float, int]:
    """Seconds, the minimum detectable change, and processes a side, of dlbench."""
    out = folder / "ours"
    words = ["compare", "--aa", "numpy", "torch", "--protocols", "dlpack", "--sizes", "4KiB",
             "--filter", FILTER, "--out", str(out), "--fail-on", "none", "--quiet"]  # fmt: skip
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "dlbench", *words], check=True)
    seconds = time.perf_counter() - begin
    sides: dict[str, list[float]] = {"base": [], "head": []}
    for path in sorted(out.rglob("results.json")):
        for entry in json.loads(path.read_text())["benchmarks"]:
            sides[entry["environment"]] += [worker["median_ns"] for worker in entry["workers"]]
    return seconds, observed_by(*sides.values()), len(sides["base"])


def measure_pyperf(folder: Path) -> tuple[float, float, int]:
    """The same for pyperf."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    paths = [folder / "a.json", folder / "b.json"]
    pyperf = [sys.executable, "-m", "pyperf"]
    begin = time.perf_counter()
    for path in paths:
        words = ["timeit", "--inherit-environ", "PYTHONPATH", "-s", SETUP, "convert(x)"]
        subprocess.run([*pyperf, *words, "-o", str(path)], check=True, env=os.environ, **quiet)
    subprocess.run([*pyperf, "compare_to", *map(str, paths)], check=True, **quiet)
    seconds = time.perf_counter() - begin
    sides = []
    for path in paths:
        (benchmark,) = json.loads(path.read_text())["benchmarks"]
        runs = [run["values"] for run in benchmark["runs"] if "values" in run]
        sides.append([statistics.mean(values) for values in runs])
    return seconds, observed_by(*sides), len(sides[0])


def main() -> None:
    """Print one line for each pair of comparisons, and the medians."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=3)
    times = options.parse_args().times
    plain, same = [], []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            mine, other = measure_dlbench(Path(folder)), measure_pyperf(Path(folder))
        plain.append(mine[0] / other[0])
        same.append(plain[-1] * (mine[1] / other[1]) ** 2)
        for name, (seconds, change, processes) in (("dlbench", mine), ("pyperf", other)):
            print(f"{name:<8}{seconds:7.1f} s, {processes} processes a side detect {change:.1%}")
        print(f"ratio of times {plain[-1]:.2f}, for the same change {same[-1]:.2f}", flush=True)
    print(f"median of {times}: {statistics.median(plain):.2f}, for the same change "
          f"{statistics.median(same):.2f} (wanted: at most 0.5)")  # fmt: skip


if __name__ == "__main__":
    main()
