"""Prints how often `compare --count instructions` finds a consumer that needs 1 % more.

Makes --times comparisons of each kind: two runs under valgrind, of which one has the fewest planted
steps that add at least 1 %, or two equal runs, in which nothing must be found.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import planting
from dlbench import _core


def counted(folder: Path, name: str, steps: int) -> tuple[str, float]:
    """A run with a consumer of this many steps: its document, and its instructions."""
    adapters = planting.adapters(folder / f"{name}-adapters", steps)
    words = ["--matrix", "--producers", "native", "--consumers", planting.NAME, "--sizes", "4KiB",
             "--protocols", "dlpack", "--adapters", str(adapters), "--count", "instructions",
             "--out", str(folder / name), "--no-plots", "--quiet"]  # fmt: skip
    subprocess.run([sys.executable, "-m", "dlbench", *words], check=True)
    path = folder / name / "results.json"
    (entry,) = json.loads(path.read_text())["benchmarks"]
    return str(path), float(entry["instructions"])


def compared(base: str, head: str) -> dict[str, Any]:
    """The one cell, at 1 %."""
    (cell,) = _core.compare(base=[base], head=[head], threshold=0.01, instructions=True)["cells"]
    made: dict[str, Any] = cell
    return made


def main() -> None:
    """Print one line for each kind."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=20)
    times = options.parse_args().times
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        _, alone = counted(folder, "alone", planting.BASE_STEPS)
        _, more = counted(folder, "more", planting.BASE_STEPS + 100)
        step = (more - alone) / 100
        needed = planting.BASE_STEPS + int(-(-0.01 * alone // step))
        share = (needed - planting.BASE_STEPS) * step / alone
        print(f"{alone:.0f} instructions, {step:g} a step: planted {share:.2%}")
        for kind, steps, wanted in (("planted", needed, "SLOW"), ("nothing", None, "SAME")):
            words, ratios = [], []
            for number in range(times):
                base, _ = counted(folder, f"{kind}-base-{number}", planting.BASE_STEPS)
                head, _ = counted(folder, f"{kind}-head-{number}", steps or planting.BASE_STEPS)
                cell = compared(base, head)
                words.append(cell["verdict"])
                ratios.append(cell["ratio"])
            print(
                f"{kind}: {words.count(wanted)} of {times} {wanted}; "
                f"ratios {min(ratios):.5f}..{max(ratios):.5f}"
            )


if __name__ == "__main__":
    main()
