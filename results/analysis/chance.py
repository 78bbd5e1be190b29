"""Correction of intervals for statements about many exchanges at once."""

from __future__ import annotations

from statistics import NormalDist

#: Probability that a statement names any exchange wrongly.
FALSE_ALARMS = 0.01


def times_as_wide(exchanges: int) -> float:
    """Factor by which the 95 % interval of each of `number` exchanges is widened, so that in one of
    a hundred runs any of them is outside by chance (Bonferroni, normal distribution)."""
    normal = NormalDist()
    return normal.inv_cdf(1 - FALSE_ALARMS / max(exchanges, 1) / 2) / normal.inv_cdf(0.975)
