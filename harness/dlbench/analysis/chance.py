"""How sure a sentence about many exchanges must be of each of them."""

from __future__ import annotations

from statistics import NormalDist

#: Chance that a sentence names any exchange of which it is not so.
FALSE_ALARMS = 0.01


def times_as_wide(exchanges: int) -> float:
    """By how much the 95 % interval of each of so many exchanges is widened, so that what lies
    outside does so by chance in one of a hundred runs (Bonferroni, as of a normal distribution)."""
    normal = NormalDist()
    return normal.inv_cdf(1 - FALSE_ALARMS / max(exchanges, 1) / 2) / normal.inv_cdf(0.975)
