"""Where a series of versions changes its time: a permutation scan within replicas.

Each replica measured every version once, in random order. If no version differs, the times of a
replica may be exchanged, whatever the drift between replicas. So permuting them within replicas
gives the exact distribution of any statistic without a step.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: The chance of a false step in a series: half each for the best split and the best windows.
FALSE_ALARMS = 0.01
PERMUTATIONS = 1999
LEAST = 0.03  #: smaller steps are left out
FEWEST_OF_TWO = 9  #: replicas: fewer have too few permutations for a step between two versions
WIDEST = 4  #: versions on each side of a window
LIMIT = 4.0  #: deviations beyond it, in standard deviations by the median, count as it
MAD_TO_DEVIATION = 1.4826


@dataclass(frozen=True)
class Step:
    """`index` is the first version after the step."""

    index: int
    before_ns: float
    after_ns: float


def find(times: Array, seed: int = 1) -> list[Step]:
    """The steps of times by replica and version, oldest first. A time is the lowest round of a
    worker: it scatters least between workers."""
    if np.min(times) <= 0:  # without a logarithm
        return []
    logs = np.log(times)
    cuts = sorted(_cuts(logs, 0, logs.shape[1], np.random.default_rng(seed)))
    middles = np.median(logs, axis=0)
    while cuts:
        ends = [0, *cuts, logs.shape[1]]
        levels = [np.median(middles[a:b]) for a, b in itertools.pairwise(ends)]
        sizes = np.abs(np.diff(levels))
        if np.min(sizes) >= np.log1p(LEAST):
            pairs = zip(cuts, levels, levels[1:], strict=False)
            return [Step(cut, float(np.exp(a)), float(np.exp(b))) for cut, a, b in pairs]
        del cuts[int(np.argmin(sizes))]
    return []


def _cuts(logs: Array, first: int, end: int, random: np.random.Generator) -> list[int]:
    """The cuts of a segment, and those of its two parts."""
    if end - first < 2:
        return []
    own = logs[:, first:end] - np.median(logs[:, first:end], axis=1, keepdims=True)
    # One disturbed worker must not hide a step. The limit is the same in any order.
    if limit := LIMIT * MAD_TO_DEVIATION * float(np.median(np.abs(own))):
        own = own.clip(-limit, limit)
    shuffled = random.permuted(np.broadcast_to(own, (PERMUTATIONS, *own.shape)), axis=2)
    without = shuffled.mean(axis=1)
    observed = own.mean(axis=0)[None]
    for statistic in (_splits, _windows):
        seen = statistic(observed)[0]
        chance = statistic(without).max(axis=1)
        # The values are equal up to rounding where an order is drawn again.
        often = np.count_nonzero(chance >= seen.max() * (1 - 1e-9))
        if (1 + often) / (1 + PERMUTATIONS) <= FALSE_ALARMS / 2:
            cut = first + 1 + int(seen.argmax())
            return [cut, *_cuts(logs, first, cut, random), *_cuts(logs, cut, end, random)]
    return []


def _splits(middles: Array) -> Array:
    """For each cut: the difference of the means of both sides, in standard errors' proportion."""
    count = middles.shape[1]
    left = np.arange(1, count)
    sums = np.cumsum(middles, axis=1)
    before = sums[:, :-1] / left
    after = (sums[:, -1:] - sums[:, :-1]) / (count - left)
    return np.asarray(np.abs(after - before) * np.sqrt(left * (count - left) / count))


def _windows(middles: Array) -> Array:
    """The same of the best two neighboring windows of equal width around each cut."""
    count = middles.shape[1]
    sums = np.pad(np.cumsum(middles, axis=1), ((0, 0), (1, 0)))
    best = np.zeros((len(middles), count - 1))
    for width in range(1, min(WIDEST, count // 2) + 1):
        cut = np.arange(width, count - width + 1)
        after = sums[:, cut + width] - sums[:, cut]
        before = sums[:, cut] - sums[:, cut - width]
        scores = np.abs(after - before) / width * np.sqrt(width / 2)
        best[:, cut - 1] = np.maximum(best[:, cut - 1], scores)
    return best
