"""Instructions over processes."""

from __future__ import annotations

import shutil

from dlbench.document import Measured
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting


def instructions(setting: Setting) -> list[Row]:
    """One row: the instructions of numpy -> numpy in several processes."""
    processes = 2 if setting.short else 10
    description = f"numpy -> numpy, counted in {processes} processes"
    if shutil.which("valgrind") is None:
        return [Row(description, "valgrind is not on PATH", None)]
    words = ["--producers", "numpy", "--consumers", "numpy", "--protocols", "dlpack"]
    words += ["--sizes", "4KiB", "--count", "instructions"]
    counts = []
    for number in range(processes):
        entry = runs.run_of_one(setting.folder, f"count-{number}", words, setting.seed)
        # A cell without a number makes the row fail.
        counts.append(entry.instructions if isinstance(entry, Measured) else 0)
    alike = counts[0] > 0 and len(set(counts)) == 1
    return [
        Row(description, f"{counts[0]} each" if alike else f"{counts}", alike),
    ]
