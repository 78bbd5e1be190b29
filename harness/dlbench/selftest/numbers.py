"""Intervals by simulation, and instructions over processes."""

from __future__ import annotations

import shutil

from dlbench import _core
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting

LEAST, MOST = 0.93, 0.97


def coverage(setting: Setting) -> list[Row]:
    """One row: how often a cell's interval holds the truth, the stop included."""
    rows = _core.coverage(1000 if setting.short else 4000, setting.seed)
    off = [row for row in rows if not LEAST <= row["share"] <= MOST]
    shares = [row["share"] for row in rows]
    return [
        Row(
            f"the truth, in intervals of {len(rows)} kinds of recorded rounds (nominal 95 %)",
            f"held in {min(shares):.1%} to {max(shares):.1%}",
            not off,
            tuple(f"{row['source']}: {row['share']:.1%}" for row in off),
        )
    ]


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
