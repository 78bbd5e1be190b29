"""Which two neighboring versions have a step between them, from few measurements."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dlbench.analysis import history, steps
from dlbench.analysis.history import Facts

CONFIDENCE = 0.99  #: of the gap with the step, before the search ends
MOST_WORKERS = 200
LEAST_SCATTER = 0.005


@dataclass(frozen=True)
class Gap:
    """Two versions, by their number, between which there is a step."""

    low: int
    high: int
    is_several: bool = False  #: there are further steps
    confidence: float = 1.0  #: that the step lies here and in no other gap


def by_facts(observe: Callable[[int], Facts | None], last: int, kind: str) -> Gap:
    """Halves the versions 0 to `last`, which differ in this kind. A version without that fact is
    passed over. Of several steps it finds the first outcome, or the largest change of counts."""
    seen = {0: observe(0), last: observe(last)}
    low, high, is_several = 0, last, False
    while left := [index for index in range(low + 1, high) if index not in seen]:
        middle = min(left, key=lambda index: abs(2 * index - low - high))
        seen[middle] = now = observe(middle)
        first, end = seen[low], seen[high]
        if now is None or not getattr(now, kind) or first is None or end is None:
            continue
        before, after = first.change(now, kind), now.change(end, kind)
        is_several |= min(before, after) >= history.LEAST[kind]
        low, high = (low, middle) if before >= after else (middle, high)
    return Gap(low, high, is_several)


def by_times(
    measure: Callable[[int], float | None], good: steps.Array, bad: steps.Array, last: int
) -> Gap:
    """Measures one worker after another of the version that divides best, until one gap is nearly
    certain. `good` and `bad` are the times of the two ends' workers. The likelihood of a time is
    Student's t of 3 around one of the ends, so one disturbed worker cannot decide."""
    ends = [np.log(good), np.log(bad)]
    levels = [float(np.median(end)) for end in ends]
    around = np.concatenate([end - level for end, level in zip(ends, levels, strict=True)])
    scatter = max(steps.MAD_TO_DEVIATION * float(np.median(np.abs(around))), LEAST_SCATTER)
    scores = np.zeros(last)  # of the gap before each version from 1
    unknown = set[int]()
    for worker in range(MOST_WORKERS):
        chances = np.exp(scores - np.max(scores))
        chances /= chances.sum()
        # A version that cannot be measured joins the gaps on both of its sides.
        known = [index for index in range(last + 1) if index not in unknown]
        merged = [float(chances[a:b].sum()) for a, b in itertools.pairwise(known)]
        best = int(np.argmax(merged))
        gap = Gap(known[best], known[best + 1], False, merged[best])
        if gap.confidence >= CONFIDENCE or len(known) == 2:
            return gap
        # Both neighbors of the middle in turn: one alone may be the version with the step.
        middle = min(int(np.searchsorted(np.cumsum(merged), 0.5)), len(merged) - 1)
        index = known[min(max(middle + worker % 2, 1), len(known) - 2)]
        time = measure(index)
        if time is None:
            unknown.add(index)
            continue
        from_good, from_bad = (
            -2 * np.log1p(((np.log(time) - level) / scatter) ** 2 / 3) for level in levels
        )
        scores += np.where(np.arange(1, last + 1) <= index, from_bad, from_good)
    return gap
