"""Prints how often `compare` reports a change between two copies of one NumPy, and whether it finds
one that is planted.

Makes --copies virtual environments with copies of this environment's NumPy, and compares random
pairs of them, without and with the eviction of their code between replicas. The head's consumer
`planted` is slower by --share. Expected with eviction: SLOW or FAST in at most 1 of 100 comparisons
of the same code, and `planted` is SLOW. Needs a file system on a disk: files in memory stay where
they are.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import venv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

import planting
from dlbench.compare import sides, stages
from dlbench.document import ComparedCell
from dlbench.environments import probe
from dlbench.environments.environment import Environment
from dlbench.libraries import discover
from dlbench.running.request import Request

BASE_STEPS, FAR_STEPS = 20, 400
ADAPTER = """\
import numpy as np
DISTRIBUTION = None
def take(array):
    for _ in range({steps}): pass
    return np.from_dlpack(array)
PROTOCOLS = {{"dlpack": take}}
"""


def copied(folder: Path) -> Environment:
    """A virtual environment with a copy of NumPy; copies share no pages, unlike links."""
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    for package in Path(np.__file__).parents[1].glob("numpy*"):
        shutil.copytree(package, packages / package.name)
    return probe.probe(folder.name, str(folder / "bin/python"), 60)


def side(place: Environment, name: str, folder: Path, steps: int) -> sides.Side:
    """NumPy and native of this copy, with a consumer of this many steps."""
    adapters = planting.adapters(folder / name, steps, ADAPTER)
    there = replace(place, name=name)
    found = discover.catalogue(adapters, environment=there)
    names = ("native", "numpy", planting.NAME)
    made = [discover.library(each, found.roles(each), there) for each in names]
    return sides.Side(there, made)


def compared(
    places: list[Environment], steps: tuple[int, int], requested: Request, workers: int
) -> list[ComparedCell]:
    """The cells of a comparison of two copies, with these steps of the planted consumer."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        pair = sides.Pair(
            side(places[0], "base", folder, steps[0]),
            side(places[1], "head", folder, steps[1]),
            requested,
            sides.ComparisonRequest([], workers, 0.05, False),
            quiet=True,
        )
        (folder / "run").mkdir()
        return list(stages.in_stages(pair, folder / "run").cells)


def report(places: list[Environment], steps: int, evict: bool, args: argparse.Namespace) -> None:
    """Prints the verdicts of --times comparisons."""
    chance = random.Random(args.seed)
    planted: Counter[str] = Counter()
    alarms, cells, comparisons = 0, 0, 0
    changes: list[float] = []
    for number in range(args.times):
        picked = chance.sample(places, 2)
        requested = Request(producers=["native", "numpy"], consumers=["numpy", planting.NAME],
                            protocols=["dlpack"], sizes=["4KiB"], precision=sides.PRECISION,
                            seed=number, evict=evict)  # fmt: skip
        found = compared(picked, (BASE_STEPS, steps), requested, args.workers)
        same = [cell for cell in found if cell.consumer != planting.NAME]
        planted.update(str(cell.verdict) for cell in found if cell.consumer == planting.NAME)
        wrong = [cell for cell in same if cell.verdict in ("SLOW", "FAST")]
        alarms, cells, comparisons = (
            alarms + len(wrong),
            cells + len(same),
            comparisons + bool(wrong),
        )
        changes += [cell.ratio - 1 for cell in same if cell.ratio]
        print(
            f"{'evicted' if evict else 'kept'}: false alarms in {comparisons} of {number + 1} "
            f"comparisons, {alarms} of {cells} cells ({min(changes):+.1%}..{max(changes):+.1%}); "
            f"planted: {', '.join(f'{count} {word}' for word, count in planted.most_common())}",
            flush=True,
        )


def main() -> None:
    """Print a line for each comparison; the last one of each kind counts."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--copies", type=int, default=8)
    options.add_argument("--times", type=int, default=30, help="comparisons of each kind")
    options.add_argument("--share", type=float, default=0.08, help="planted, of the exchange")
    options.add_argument("--workers", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    args = options.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        places = [copied(Path(folder) / f"copy{number}") for number in range(args.copies)]
        requested = Request(producers=["native"], consumers=[planting.NAME], protocols=["dlpack"],
                            sizes=["4KiB"], precision=sides.PRECISION)  # fmt: skip
        (far,) = compared(places[:1] * 2, (BASE_STEPS, FAR_STEPS), requested, 6)
        base_ns, far_ns = far.base or 0.0, far.head or 0.0
        step_ns = (far_ns - base_ns) / (FAR_STEPS - BASE_STEPS)
        more = max(1, round(args.share * base_ns / step_ns))
        print(
            f"native -> planted {base_ns:.0f} ns; {more} steps more make it "
            f"{more * step_ns / base_ns:.1%} slower"
        )
        for evict in (False, True):
            report(places, BASE_STEPS + more, evict, args)


if __name__ == "__main__":
    main()
