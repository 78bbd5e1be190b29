"""Prints how often `compare` reports SLOW or FAST without a change, with few processes.

Makes --times A/A comparisons of two sides of --replicas processes each, for each source of
processes: the records of tests/stats, simulated ones with heavy tails, and every RUN that is named
(a document whose cells have many processes, from `dlbench ... --replicas 60`), from which both
sides are drawn. All cells of a comparison have the same processes, as in a run. Expected: false
alarms in at most 1 % of the cells and in about 1 % of the comparisons.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import re
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import compare_scale
from dlbench import _core
from dlbench.document import locate

RECORDED = Path(__file__).parents[2] / "tests/core/stats/recorded_workers.cpp"
REFERENCE = 61.0  #: ns
Document = dict[str, Any]
#: From a random generator and a number of processes: the deviation of each, as a logarithm.
Scatter = Callable[[random.Random, int], list[float]]


def records() -> Iterator[list[float]]:
    """The series of recorded_workers.cpp, logarithms about their median."""
    text = RECORDED.read_text(encoding="utf-8")
    for series in re.findall(r"kSeries\d\{(.*?)\};", text, re.DOTALL):
        values = [float(number) for number in re.findall(r"[\d.]+", series)]
        middle = statistics.median(values)
        yield [math.log(value / middle) for value in values]


def recorded(chance: random.Random, count: int) -> list[float]:
    return chance.sample(chance.choice(list(records())), count)


def student_of_three(chance: random.Random, count: int) -> list[float]:
    return [0.01 * chance.gauss(0, 1) / math.sqrt(chance.gammavariate(1.5, 2 / 3))
            for _ in range(count)]  # fmt: skip


def disturbed(chance: random.Random, count: int) -> list[float]:
    """One process in ten is slower, by 30 % on average."""
    return [chance.gauss(0, 0.01) + (chance.random() < 0.1) * chance.expovariate(1 / 0.3)
            for _ in range(count)]  # fmt: skip


MADE: dict[str, Scatter] = {
    "recorded processes": recorded,
    "Student's t of 3": student_of_three,
    "one in ten disturbed": disturbed,
}


def simulate_runs(
    scatter: Scatter, cells: int, replicas: int, seed: int
) -> tuple[Document, Document]:
    """Two sides whose cells share their processes, and scatter by a little of their own."""
    chance = random.Random(seed)
    offs = scatter(chance, 2 * replicas)
    entries = [compare_scale.entry(number, 1, chance, False) for number in range(cells)]
    shares = [math.exp(chance.gauss(0, 0.4)) for _ in entries]
    lengths = [math.exp(chance.uniform(4, 10)) for _ in entries]
    sides = []
    for side in (offs[:replicas], offs[replicas:]):
        made = copy.deepcopy(entries)
        for entry, share, length in zip(made, shares, lengths, strict=True):
            medians = [length * math.exp(share * off + chance.gauss(0, 0.008)) for off in side]
            fill(entry, [worker(ns) for ns in medians])
        sides.append(document(made, [REFERENCE * math.exp(off) for off in side]))
    return sides[0], sides[1]


def worker(ns: float) -> dict[str, Any]:
    return {"median_ns": ns, "first_ns": 5e4, "samples_ns": [ns * 0.998, ns, ns * 1.002] * 2}


def fill(entry: dict[str, Any], workers: list[dict[str, Any]]) -> None:
    """Replace the entry's workers by these."""
    middle = statistics.median(one["median_ns"] for one in workers)
    entry |= {"workers": workers, "real_time": middle, "cpu_time": middle,
              "lo_ns": middle * 0.98, "hi_ns": middle * 1.02}  # fmt: skip


def document(entries: list[dict[str, Any]], references: list[float]) -> Document:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.json"
        compare_scale.write(path, 0, 1, 1)
        made: Document = json.loads(path.read_text())
    here = made["context"]["dlbench"]["environments"]["default"]
    here["reference_exchange"] |= {"median_ns": statistics.median(references),
                                   "workers": len(references)}  # fmt: skip
    return made | {"benchmarks": entries}


def drawn(run: Document, replicas: int, seed: int) -> tuple[Document, Document]:
    """Two sides of a run's processes: the same ones in every cell."""
    chance = random.Random(seed)
    order = list(range(fewest_workers(run)))
    chance.shuffle(order)
    sides = []
    for picked in (order[:replicas], order[replicas : 2 * replicas]):
        made = copy.deepcopy(run)
        for entry in made["benchmarks"]:
            fill(entry, [entry["workers"][number] for number in picked])
        sides.append(made)
    return sides[0], sides[1]


def fewest_workers(run: Document) -> int:
    return min(len(entry["workers"]) for entry in run["benchmarks"])


def compared(sides: tuple[Document, Document], folder: Path) -> Document:
    paths = []
    for name, side in zip(("base", "head"), sides, strict=True):
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps(side))
    return _core.compare(base=[str(paths[0])], head=[str(paths[1])])


def measure(draw: Callable[[int], tuple[Document, Document]], times: int) -> str:
    """Alarms of this number of comparisons, and their minimum detectable change."""
    alarms, cells, comparisons, inconclusive, sees = 0, 0, 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(times):
            made = compared(draw(number), Path(folder))
            found = made["counts"]["SLOW"] + made["counts"]["FAST"]
            alarms, comparisons = alarms + found, comparisons + (found > 0)
            cells += made["inconclusive"]["of"]
            inconclusive += made["inconclusive"]["cells"]
            sees.append(made["minimum_detectable_change"]["median"])
    return (f"{alarms} of {cells} cells ({alarms / cells:.3%}) in {comparisons} of {times} "
            f"comparisons; {inconclusive / cells:.0%} INCONCLUSIVE; the median cell detects "
            f"{statistics.median(sees):.1%}")  # fmt: skip


def main() -> None:
    """Print one line for each record."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("runs", nargs="*", metavar="RUN")
    options.add_argument("--times", type=int, default=200)
    options.add_argument("--cells", type=int, default=40)
    options.add_argument("--replicas", type=int, default=3)
    args = options.parse_args()
    print(f"{args.times} A/A comparisons, {args.replicas} processes a side; false alarms:")
    for name, scatter in MADE.items():
        found = measure(lambda seed, s=scatter: simulate_runs(s, args.cells, args.replicas, seed),
                       args.times)  # fmt: skip
        print(f"{name}, {args.cells} cells: {found}", flush=True)
    for run in args.runs:
        made = json.loads(locate(run).read_text())
        if (have := fewest_workers(made)) < 2 * args.replicas:
            options.error(f"{run}: {have} processes; {2 * args.replicas} are needed")
        found = measure(lambda seed, made=made: drawn(made, args.replicas, seed), args.times)
        print(f"{run}: {found}", flush=True)


if __name__ == "__main__":
    main()
