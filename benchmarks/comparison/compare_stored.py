"""Prints false alarms and power of `compare` of stored runs of the same code.

Compares each two of the RUNS, folders of runs with the same options, with --replicas workers drawn
from each, as they are and with the head's rounds 5 % and 10 % longer (native -> native excepted:
it is the reference exchange). --changed makes so many random cells longer, instead of all, and
counts only these. --cells decides at the significance level of a run of so many cells. Expected:
false alarms in at most 1 % of the comparisons, and at most 5 % of the intervals miss the truth.
docs/explanation/stored-runs.md has what was measured.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import random
import statistics
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.document import locate

Document = dict[str, Any]


def is_reference(cell: Document) -> bool:
    return {cell["producer"], cell["consumer"]} == {"native"}


def drawn(
    run: Document, replicas: int, longer: float, names: set[str], chance: random.Random
) -> Document:
    """The run with some of its workers, the same for each cell, and longer rounds of `names`."""
    made = copy.deepcopy(run)
    have = min(len(entry["workers"]) for entry in made["benchmarks"])
    chosen = chance.sample(range(have), min(replicas, have))
    for entry in made["benchmarks"]:
        factor = longer if entry["name"] in names else 1
        entry["workers"] = [entry["workers"][index] for index in chosen]
        for worker in entry["workers"]:
            worker["median_ns"] *= factor
            worker["samples_ns"] = [ns * factor for ns in worker["samples_ns"]]
        middle = statistics.median(worker["median_ns"] for worker in entry["workers"])
        entry |= dict.fromkeys(("real_time", "lo_ns", "hi_ns"), middle)
    return made


def measure(runs: list[Document], given: argparse.Namespace, longer: float, folder: Path) -> str:
    """All pairs of runs, in one line, of the cells that changed."""
    chance, pairs, alarmed, missed = random.Random(1), 0, 0, 0
    verdicts: Counter[str] = Counter()
    least = []
    have = len(runs[0]["benchmarks"])
    false_alarms = 0.01 * have / (given.cells or have)
    names = [entry["name"] for entry in runs[0]["benchmarks"] if not is_reference(entry)]
    for sides in itertools.combinations(runs, 2):
        changed = set(chance.sample(names, given.changed or len(names)))
        paths = []
        for name, run, factor in zip(("base", "head"), sides, (1.0, longer), strict=True):
            paths.append(folder / f"{name}.json")
            paths[-1].write_text(json.dumps(drawn(run, given.replicas, factor, changed, chance)))
        found = _core.compare(
            base=[str(paths[0])], head=[str(paths[1])], false_alarms=false_alarms
        )["cells"]
        judged = [cell for cell in found if cell["verdict"] and cell["name"] in changed]
        verdicts.update(cell["verdict"] for cell in judged)
        missed += sum(not cell["lo"] <= longer <= cell["hi"] for cell in judged)
        least += [cell["minimum_detectable_change"] for cell in judged]
        alarmed += any(cell["verdict"] in ("SLOW", "FAST") for cell in judged)
        pairs += 1
    count = verdicts.total()
    shares = ", ".join(f"{number / count:.1%} {word}" for word, number in verdicts.most_common())
    facts = [
        f"{count} cells: {shares}",
        f"{alarmed} of {pairs} comparisons with SLOW or FAST",
        f"{missed / count:.1%} outside 95 %",
        f"detects {statistics.median(least):.1%}",
    ]
    return "; ".join(facts)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("runs", nargs="+", metavar="RUN")
    options.add_argument("--replicas", type=int, default=3)
    options.add_argument("--cells", type=int, help="default: as many as the runs have")
    options.add_argument("--changed", type=int, help="random cells that change; default: all")
    given = options.parse_args()
    runs = [json.loads(locate(run).read_text()) for run in given.runs]
    with tempfile.TemporaryDirectory() as folder:
        for longer in (1.0, 1.05, 1.1):
            print(f"x {longer:g}: {measure(runs, given, longer, Path(folder))}")


if __name__ == "__main__":
    main()
