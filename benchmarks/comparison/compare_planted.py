"""Prints how often `compare` finds a native consumer that is 5 % slower, and how often it errs.

Makes --times comparisons of each kind, each a run with both sides interleaved. Expected: SLOW in at
least 95 of 100 with the planted change, FAST or SLOW in at most 1 of 100 without.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import planting
from dlbench import _core
from dlbench.compare import sides, stages
from dlbench.document import ComparedCell
from dlbench.environments import environment
from dlbench.running.request import Request


def side(folder: Path, name: str, steps: int) -> sides.Side:
    """A side with a consumer of this many steps."""
    made = planting.libraries(planting.adapters(folder / name, steps), name)
    return sides.Side(replace(environment.here(), name=name), made)


def compared(steps: int, threshold: float, workers: int, seed: int) -> ComparedCell:
    """The one cell of a comparison of the base with a head of this many steps."""
    requested = Request(producers=["native"], consumers=[planting.NAME], protocols=["dlpack"],
                    sizes=["4KiB"], precision=sides.PRECISION, seed=seed)  # fmt: skip
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        base, head = side(folder, "base", planting.BASE_STEPS), side(folder, "head", steps)
        pair = sides.Pair(
            base,
            head,
            requested,
            sides.ComparisonRequest([], workers, threshold, False),
            quiet=True,
        )
        (folder / "run").mkdir()
        (cell,) = stages.in_stages(pair, folder / "run").cells
    return cell


def main() -> None:
    """Print one line for each kind."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=100, help="comparisons of each kind")
    options.add_argument("--share", type=float, default=0.05, help="planted, of the exchange")
    options.add_argument("--threshold", type=float, default=0.05)
    options.add_argument("--workers", type=int, default=_core.most_workers)
    requested = options.parse_args()
    far = compared(planting.FAR * planting.BASE_STEPS, requested.threshold, requested.workers, 0)
    steps, share = planting.steps_for(requested.share, far.base or 0.0, far.head or 0.0)
    print(
        f"native -> planted {far.base:.0f} ns; {steps} steps for {planting.BASE_STEPS} make it "
        f"{share:.1%} slower; threshold {requested.threshold:.0%}"
    )
    for kind, count, wanted in (
        ("planted", steps, "SLOW"),
        ("nothing", planting.BASE_STEPS, "SAME, AMBIG or INCONCLUSIVE"),
    ):
        words: Counter[str] = Counter()
        observed, workers, begin = [], 0, time.perf_counter()
        for number in range(requested.times):
            cell = compared(count, requested.threshold, requested.workers, number + 1)
            words[str(cell.verdict)] += 1
            observed.append(cell.ratio or 0.0)
            workers += cell.base_workers
        each = (time.perf_counter() - begin) / requested.times
        reported = ", ".join(f"{count} {word}" for word, count in words.most_common())
        print(
            f"{kind}: {reported} of {requested.times} (wanted {wanted}); "
            f"ratios {min(observed):.3f}..{max(observed):.3f}; "
            f"{workers / requested.times:.1f} workers a side, {each:.1f} s each"
        )


if __name__ == "__main__":
    main()
