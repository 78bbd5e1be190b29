"""A/A: the same pair in two workers must show no difference."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from dlbench import _core
from dlbench.document import Measured
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting

WORDS = ["--producers", "native", "--consumers", "native", "--protocols", "dlpack"]
ALLOWED = 0.95
#: Of ten pairs two may be off by chance.
CHANCE = 2


def half_width(medians: Sequence[float]) -> float:
    """Relative half-width of the 95 % prediction interval for one process, from the quartiles of
    other pairs, so that a few outliers do not widen it. Student's t with three degrees of freedom,
    which has tails like those of processes, over its own quartile; wider for few pairs."""
    low, middle, high = statistics.quantiles(medians, n=4, method="inclusive")
    factor = 3.18245 / 0.76489 * (1 + 3.6 / (len(medians) - 1))
    return factor * (high - low) / 2 / middle


def trial(setting: Setting) -> list[Row]:
    """One row: how often the interval of the ratio of two workers contains 1."""
    pairs = 10 if setting.short else 200
    words = [*WORDS, "--sizes", "4KiB", "--replicas", str(2 * pairs)]
    entry = runs.run_of_one(setting.folder, "alike", words, setting.seed)
    found = entry.workers if isinstance(entry, Measured) else ()
    workers = [list(worker.samples_ns) for worker in found]
    # The spread between processes is estimated from other pairs than the one that is judged.
    medians = [worker.median_ns for worker in found]
    held, off = 0, []
    compared = len(workers) // 2
    for pair in range(compared):
        first, second = 2 * pair, 2 * pair + 1
        others = [ns for i, ns in enumerate(medians) if i not in (first, second)]
        between = half_width(others)
        value, low, high, _ = _core.ratio_of_medians([workers[first]], [workers[second]], between)
        if low <= 1 <= high:
            held += 1
        else:
            off.append(f"pair {pair}: {value:.3f} ({low:.3f}..{high:.3f})")
    return [
        Row(
            f"no change, between {compared} pairs of workers",
            f"the interval of their ratio contains 1 in {held}",
            compared == pairs and held >= ALLOWED * pairs - (CHANCE if setting.short else 0),
            tuple(off[:10]),
        )
    ]
