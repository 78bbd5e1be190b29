"""What changed between two sides, base and head: typed records of `_core.compare` and
comparison.json.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dlbench.document.entry import Cell, CodedWarning
from dlbench.document.record import Key, Record, part, parts

#: Verdicts of undecided cells.
OPEN = ("INCONCLUSIVE", "AMBIG")
#: Results of a cell, the most important first; empty if the outcome is the same and not both sides
#: have a number.
RESULTS = ("worse", "lost", "SLOW", "other", "FAST", "better", "gained", *OPEN, "SAME", "")


class Side(Record):
    """One side."""

    __slots__ = ()
    runs = Key[Sequence[str]](())
    environment = Key("")
    date = Key("")
    libraries = Key[Mapping[str, str]]({})
    python = Key("")


class DetectableChange(Record):
    """The smallest changes that would have been detected, over the cells."""

    __slots__ = ()
    least = Key(0.0)
    median = Key(0.0)
    most = Key(0.0)


class InconclusiveSummary(Record):
    """Cells that could hide a change as large as the threshold, and the number of processes that
    would decide them."""

    __slots__ = ()
    cells = Key(0)
    of = Key(0)
    replicas = Key[int | None](None)  #: a side, which decide all but the next two
    unknown = Key(0)  #: the spread between their processes is unknown
    undecidable = Key(0)  #: no number of processes would decide them


class InconclusiveCell(Record):
    """Why a cell is INCONCLUSIVE, and the processes on each side that would decide it."""

    __slots__ = ()
    code = Key("")  #: too-few-processes, too-noisy, unknown-spread or reference-moved
    replicas = Key[int | None](None)


class Alarms(Record):
    """For two runs of the same side: cells reported as changed after correction, and cells whose
    own 95 % interval excludes zero. One in twenty of the latter is expected by chance.
    """

    __slots__ = ()
    cells = Key(0)
    alarms = Key(0)
    outside_95 = Key(0)


class ComparedCell(Cell):
    """One cell of both sides. A number is None where that side does not have it."""

    __slots__ = ()
    presence = Key("both")  #: both, gained or lost
    base_outcome = Key[str | None](None)
    head_outcome = Key[str | None](None)
    base = Key[float | None](None)
    head = Key[float | None](None)
    base_workers = Key(0)
    head_workers = Key(0)
    ratio = Key[float | None](None)  #: head over base
    lo = Key[float | None](None)  #: with `hi`: the 95 % interval of the ratio
    hi = Key[float | None](None)
    minimum_detectable_change = Key[float | None](None)
    verdict = Key[str | None](None)  #: FAST, SLOW, SAME, AMBIG or INCONCLUSIVE
    inconclusive = part(InconclusiveCell)  #: of an INCONCLUSIVE cell alone
    outcome_change = Key[str | None](None)  #: worse, better or other
    details = Key[Sequence[str]](())

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


class Comparison(Record):
    """All cells of two sides, with the summary."""

    __slots__ = ()
    version = Key("")
    metric = Key("time")
    threshold = Key(0.0)
    false_alarms = Key(0.0)
    base = part(Side)
    head = part(Side)
    counts = Key[Mapping[str, int]]({})
    minimum_detectable_change = part(DetectableChange)
    inconclusive = part(InconclusiveSummary)
    warnings = parts(CodedWarning)
    cells = parts(ComparedCell)
    aa = part(Alarms)

    @property
    def is_timed(self) -> bool:
        """Are times compared (not instructions)?"""
        return self.metric == "time"

    @property
    def sides(self) -> dict[str, Side]:
        return {"base": self.base, "head": self.head}

    def counted(self) -> str:
        """ "1 SLOW, 9 SAME": the counts that are not 0."""
        return ", ".join(f"{self.counts[word]} {word}" for word in RESULTS if self.counts.get(word))
