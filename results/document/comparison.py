"""What changed between two sides, base and head: typed records of `_core.compare` and
comparison.json.
"""

from __future__ import annotations

import math

from dlbench.document import keys
from dlbench.document.record import parts

#: Verdicts of undecided cells.
OPEN = ("INCONCLUSIVE", "AMBIG")
#: Results of a cell, the most important first; empty if the outcome is the same and not both sides
#: have a number.
RESULTS = ("worse", "lost", "SLOW", "other", "FAST", "better", "gained", *OPEN, "SAME", "")


class ComparedCell(keys.Cell):
    """One cell of both sides. A number is None where that side does not have it."""

    __slots__ = ()

    def axis(self, name: str) -> str:
        """The value of an axis; empty where the cell does not have it."""
        return str(getattr(self, name))

    @property
    def result(self) -> str:
        """The most important of RESULTS that applies: presence, outcome, then speed. So a proven
        change of the outcome is never INCONCLUSIVE."""
        if self.presence != "both":
            return self.presence
        return self.outcome_change or self.verdict or ""

    @property
    def speed(self) -> str:
        """The verdict of the number."""
        return self.verdict or ""

    @property
    def is_changed(self) -> bool:
        """Did the cell change? Undecided, SAME and uncompared cells did not."""
        return self.result not in ("SAME", "", *OPEN) or self.verdict in ("SLOW", "FAST")

    @property
    def rank(self) -> tuple[int, float, str]:
        """Sorts cells: the most important result first, then the largest change."""
        far = abs(math.log(self.ratio)) if self.ratio else 0.0
        return RESULTS.index(self.result), -far, self.name

    @property
    def outcomes(self) -> str:
        """ "copy", or what changed: "zero-copy -> copy; dtype is now lost"."""
        base, head = self.base_outcome, self.head_outcome
        either = head or "" if base == head else f"{base or 'none'} -> {head or 'none'}"
        # The details of a changed outcome begin with both.
        listed = self.details if self.outcome_change and self.details else [either, *self.details]
        return "; ".join(text for text in listed if text)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the ratio's 95 % interval; a count has none."""
        low, high = self.lo, self.hi
        return None if low is None or high is None else (low, high)

    @property
    def share(self) -> float:
        """Half the width of the ratio's interval over the ratio; 0 where it is not known."""
        ends = self.interval
        return (ends[1] - ends[0]) / (2 * self.ratio) if ends and self.ratio else 0.0


class Comparison(keys.Comparison):
    """All cells of two sides, with the summary."""

    __slots__ = ()
    cells = parts(ComparedCell)

    @property
    def is_timed(self) -> bool:
        """Are times compared (not instructions)?"""
        return self.metric == "time"

    @property
    def sides(self) -> dict[str, keys.Side]:
        return {"base": self.base, "head": self.head}

    def counted(self) -> str:
        """ "1 SLOW, 9 SAME": the counts that are not 0."""
        return ", ".join(f"{self.counts[word]} {word}" for word in RESULTS if self.counts.get(word))
