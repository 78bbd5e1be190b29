"""Prints how often the interval of a few processes contains the median of the others (A/A).

Measures a small matrix in many processes, or reads such a run. A trial draws a few processes of
each pair, forms the intervals as a run with this number of `--replicas` does, and compares each
with the median of the processes that were not drawn. That median has an error of its own, by which
the interval is widened, as for a normal distribution. Prints a table; `--check` fails outside
93..97 %.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from dlbench import _core
from dlbench.document import Document, Measured, read_document

MATRIX = ["--producers", "native,numpy,torch", "--consumers", "native,numpy,torch",
          "--protocols", "dlpack,convert", "--sizes", "4KiB,64KiB,1MiB"]  # fmt: skip
LEAST, MOST = 0.93, 0.97
#: By number of processes: variance of their median over that of their mean, for a normal
#: distribution.
LOSS = {2: 1.0, 3: 1.346, 4: 1.193, 5: 1.434, 6: 1.288}


def measured(folder: Path, processes: int) -> Path:
    """Measure the matrix."""
    run = folder / "run"
    words = [sys.executable, "-m", "dlbench", "--matrix", *MATRIX, "--quiet", "--no-plots"]
    subprocess.run([*words, "--replicas", str(processes), "--out", str(run)], check=True)
    return run / "results.json"


def by_pair(document: Document) -> dict[tuple[str, ...], list[Measured]]:
    """The cells by pair, because cells of a pair share their processes."""
    found = defaultdict(list)
    for entry in document.measured:
        found[tuple(sorted(entry.pair))].append(entry)
    return dict(found)


def trial(
    pairs: dict[tuple[str, ...], list[Measured]], drawn: int, chance: random.Random
) -> list[tuple[bool, float]]:
    """For each cell: whether its interval contained the median, and its log half-width."""
    few: list[list[float]] = []
    others: list[list[float]] = []
    for entries in pairs.values():
        workers = len(entries[0].workers)
        chosen = sorted(chance.sample(range(workers), drawn))
        for entry in entries:
            medians = [worker.median_ns for worker in entry.workers]
            if len(medians) != workers:
                continue
            few.append([medians[i] for i in chosen])
            others.append([ns for i, ns in enumerate(medians) if i not in chosen])
    found = []
    for medians, rest, (low, high) in zip(few, others, _core.process_intervals(few), strict=True):
        center = statistics.median(medians)
        own = (math.pi / 2 / len(rest)) / (LOSS.get(drawn, math.pi / 2) / drawn)
        wider = math.sqrt(1 + own)
        off = math.log(statistics.median(rest) / center)
        end = math.log((high if off > 0 else low) / center)
        found.append((abs(off) <= abs(end) * wider, math.log(high / low) / 2))
    return found


def main() -> None:
    """Measure or read, draw, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("runs", nargs="*", type=Path, metavar="RESULTS")
    options.add_argument("--processes", type=int, default=24)
    options.add_argument("--trials", type=int, default=300)
    options.add_argument("--check", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = chosen.runs or [measured(Path(folder), chosen.processes)]
        documents = [read_document(path) for path in paths]
    chance = random.Random(1)
    failed = False
    print("processes   covered   half-width   run")
    for drawn in (2, 3, 4, 5, 6):
        everything = []
        for path, document in zip(paths, documents, strict=True):
            pairs = by_pair(document)
            found = [one for _ in range(chosen.trials) for one in trial(pairs, drawn, chance)]
            everything += found
            report(drawn, found, str(path))
        if len(paths) > 1:
            report(drawn, everything, "all")
        share = statistics.mean(held for held, _ in everything)
        failed |= drawn == 3 and not LEAST <= share <= MOST
    print(json.dumps({"three processes within 93..97 %": not failed}))
    if chosen.check and failed:
        sys.exit(1)


def report(drawn: int, found: list[tuple[bool, float]], name: str) -> None:
    share = statistics.mean(held for held, _ in found)
    width = math.expm1(statistics.median(half for _, half in found))
    print(f"{drawn:9}   {100 * share:4.1f} %    {100 * width:5.1f} %     {name}", flush=True)


if __name__ == "__main__":
    main()
