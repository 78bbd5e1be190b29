"""Intervals by simulation, and instructions over processes."""

from __future__ import annotations

import shutil

from dlbench import _core
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting

LEAST, MOST = 0.93, 0.97
#: Where neighbouring rounds are alike, an interval that takes them for independent is too narrow:
#: these are no 95 %, and the row says so.
LEAST_IN_BLOCKS = 0.90


def coverage(setting: Setting) -> list[Row]:
    """Two rows: how often a cell's interval holds the truth, the stop included."""
    rows = _core.coverage(4000, setting.seed)
    blocks = [row for row in rows if row["source"].endswith("in blocks")]
    mixed = [row for row in rows if row not in blocks]
    asked = f"intervals over {len(mixed)} recorded rows of rounds"
    return [
        _held(f"{asked} (95 %)", mixed, LEAST),
        _held(f"{asked}, neighbours kept together (90 %)", blocks, LEAST_IN_BLOCKS),
    ]


def _held(asked: str, rows: list[_core.CoverageRow], least: float) -> Row:
    shares = [row["share"] for row in rows]
    off = [row for row in rows if not least <= row["share"] <= MOST]
    found = f"held the truth in {min(shares):.1%} to {max(shares):.1%}"
    told = tuple(f"{row['source']}: {row['share']:.1%}" for row in off)
    return Row(asked, found, not off, told)


def instructions(setting: Setting) -> list[Row]:
    """One row: the instructions of numpy -> numpy in several processes."""
    processes = 2 if setting.short else 10
    asked = f"numpy -> numpy, counted in {processes} processes"
    if shutil.which("valgrind") is None:
        return [Row(asked, "valgrind is not on PATH", None)]
    words = ["--producers", "numpy", "--consumers", "numpy", "--protocols", "dlpack"]
    words += ["--sizes", "4KiB", "--count", "instructions"]
    counts = []
    for number in range(processes):
        (entry,) = runs.run(setting.folder, f"count-{number}", words, setting.seed)
        counts.append(entry.get("instructions"))
    alike = counts[0] is not None and len(set(counts)) == 1
    return [
        Row(asked, f"{counts[0]} each" if alike else f"{counts}", alike),
    ]
