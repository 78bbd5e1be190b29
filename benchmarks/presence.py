"""Finds out whether other libraries in a process change results: grouped and isolated workers.

Measures the same matrix alternately without and with `--isolate`, each time with one worker a cell.
It compares both sides: the ratio of their medians with its 95 % interval, and the outcomes. It
prints how far the ratios are from 1, by size, for cells with and without a copy. For the cells that
differ most it then measures their pair beside one other library at a time, and names the libraries
with which the interval of the ratio excludes 1.

`presence.py [--runs N] [--causes N] [DLBENCH OPTION ...]`: N runs a side (default 5, at least 4).
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from dlbench import _core, values
from dlbench.document import Document, Entry, Measured, Pair, read_document
from dlbench.document.facts import COPIED
from dlbench.findings.import_effects import in_words

Medians = dict[str, list[list[float]]]


class Side:
    """All runs of one kind: the rounds of each process and the outcomes, by cell."""

    def __init__(self) -> None:
        self.rounds: Medians = defaultdict(list)
        self.outcomes: dict[str, set[str]] = defaultdict(set)
        self.entries: dict[str, Entry] = {}
        self.effects: dict[str, Mapping[str, Sequence[str]]] = {}

    def add(self, document: Document) -> None:
        self.effects.update(document.environments["default"].import_effects)
        for entry in document.entries:
            self.entries[entry.name] = entry
            self.outcomes[entry.name].add(entry.outcome)
            if isinstance(entry, Measured):
                self.rounds[entry.name] += [list(one.samples_ns) for one in entry.workers]


def measured(folder: Path, number: int, words: Sequence[str]) -> Document:
    """Measure a run with this seed."""
    out = folder / str(number)
    command = [sys.executable, "-m", "dlbench", "--matrix", "--replicas", "1", *words]
    command += ["--seed", str(number), "--no-plots", "--quiet", "--out", str(out)]
    subprocess.run(command, check=True)
    return read_document(out / "results.json")


def ratio(first: list[list[float]], second: list[list[float]]) -> tuple[float, float, float] | None:
    """The second side's time over the first's with its interval, if both have processes."""
    if not first or not second:
        return None
    value, low, high, _ = _core.ratio_of_medians(first, second)
    return value, low, high


def alternate(
    folder: Path, runs: int, first: Sequence[str], second: Sequence[str]
) -> tuple[Side, Side]:
    """Measure this many runs of each side, interleaved, in changing order."""
    sides = (Side(), Side())
    folder.mkdir()
    for turn in range(runs):
        for which in (0, 1) if turn % 2 == 0 else (1, 0):
            words = (first, second)[which]
            sides[which].add(measured(folder, 2 * turn + which + 1, words))
    return sides


def print_distances(copies: bool, size: int, ratios: Sequence[float]) -> None:
    """Print how far the ratios are from 1: the median, and what nine of ten do not exceed."""
    away = sorted(abs(each - 1) for each in ratios)
    most = away[math.ceil(0.9 * len(away)) - 1]
    kind = "with" if copies else "without"
    print(
        f"{len(ratios)} cells {kind} a copy, {values.size(size)}: median ratio grouped/isolated "
        f"{statistics.median(ratios):.3f}; distance from 1: median "
        f"{values.percent(statistics.median(away))}, nine of ten at most {values.percent(most)}"
    )


def one_of(library: str) -> str:
    """A cell that makes a worker import the library."""
    return f"producer:{library}/consumer:{library}/protocol:dlpack/device:cpu/case:f32/bytes:4096$"


def find_causes(
    folder: Path,
    runs: int,
    words: Sequence[str],
    name: str,
    pair: Pair,
    libraries: Sequence[str],
    effects: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:
    """Measure a cell beside each other library; print the libraries that change it."""
    cell = name.replace("+", "\\+") + "$"
    for other in libraries:
        if other in pair:
            continue
        names = ",".join(dict.fromkeys((*pair, other)))
        both = [*words, "--producers", names, "--consumers", names]
        alone, beside = alternate(
            folder / f"{len(list(folder.iterdir()))}", runs,
            [*both, "--isolate", "--filter", cell],
            [*both, "--filter", f"{cell}|{one_of(other)}"],
        )  # fmt: skip
        found = ratio(alone.rounds[name], beside.rounds[name])
        if found is not None and not found[1] <= 1 <= found[2]:
            changes = in_words(effects.get(other, {}), 5) or "no effect of its import was observed"
            print(
                f"    beside {other}: x{found[0]:.2f} ({found[1]:.2f} .. {found[2]:.2f}); {changes}"
            )


def main() -> None:
    """Print the shares, the cells that differ, and the libraries that cause the difference."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--causes", type=int, default=3)
    options, words = arguments.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        grouped, isolated = alternate(folder / "runs", options.runs, words, [*words, "--isolate"])
        names = sorted(grouped.outcomes.keys() | isolated.outcomes.keys())
        other = [each for each in names if grouped.outcomes[each] != isolated.outcomes[each]]
        differ = []
        ratios: dict[tuple[bool, int], list[float]] = defaultdict(list)
        for each in names:
            found = ratio(isolated.rounds[each], grouped.rounds[each])
            if found is None:
                continue
            outcomes = grouped.outcomes[each] | isolated.outcomes[each]
            copies = not outcomes.isdisjoint(COPIED)
            ratios[copies, grouped.entries[each].bytes].append(found[0])
            if not found[1] <= 1 <= found[2]:
                differ.append((each, found))
        compared = sum(len(of) for of in ratios.values())
        agreeing = 100 * (compared - len(differ)) / max(compared, 1)
        print(f"{compared} cells compared: {agreeing:.1f} % agree within the 95 % interval")
        for (copies, size), of in sorted(ratios.items()):
            print_distances(copies, size, of)
        print(f"{len(names) - len(other)} of {len(names)} cells have the same outcomes")
        for each in other:
            print(f"  {each}: {isolated.outcomes[each]} alone, {grouped.outcomes[each]} grouped")
        differ.sort(key=lambda item: -abs(item[1][0] - 1))
        libraries = sorted(
            {library for entry in grouped.entries.values() for library in entry.pair}
        )
        for number, (each, (value, low, high)) in enumerate(differ):
            print(f"  {each}: grouped x{value:.2f} ({low:.2f} .. {high:.2f})")
            if number < options.causes:
                pair = grouped.entries[each].pair
                find_causes(folder, options.runs, words, each, pair, libraries, grouped.effects)


if __name__ == "__main__":
    main()
