"""Which results of a comparison make the command fail, and with which exit status."""

from __future__ import annotations

from dlbench import _core
from dlbench.analysis.inconclusive import cannot_fail
from dlbench.document import ComparedCell, Comparison

#: Values of --fail-on that end in REGRESSION, and the counts that they examine.
REASONS = {"slow": "SLOW", "outcome": "worse", "lost": "lost"}
#: Values of --fail-on that end in UNDECIDED or CANNOT_FAIL.
INCONCLUSIVE = "inconclusive"
NONE = "none"
ALL = (*REASONS, INCONCLUSIVE)
REGRESSION, UNDECIDED, CANNOT_FAIL = 1, 3, 4


def reasons(text: str) -> tuple[str, ...]:
    """ "slow,outcome" -> the results to fail on. Raises UsageError for an unknown one."""
    words = tuple(word.strip() for word in text.split(","))
    allowed = [*ALL, NONE]
    for word in words:
        _core.require_known("reason for --fail-on", word, allowed)
    return tuple(word for word in words if word != NONE)


def regressions(cell: ComparedCell) -> list[str]:
    """The words of --fail-on that apply, in its order."""
    applies = {
        "slow": cell.verdict == "SLOW",
        "outcome": cell.outcome_change == "worse",
        "lost": cell.presence == "lost",
    }
    return [word for word in REASONS if applies[word]]


def failures(comparison: Comparison, fail_on: tuple[str, ...]) -> list[str]:
    """["2 slow", "1 lost"]: the regressions that make the command fail."""
    counts = comparison.counts
    found = [word for word in fail_on if word in REASONS]
    return [f"{counts[REASONS[word]]} {word}" for word in found if counts[REASONS[word]]]


def status(comparison: Comparison, fail_on: tuple[str, ...]) -> int:
    """The exit status: 1 for a regression, 3 if some cells could hide one, 4 if most could."""
    if failures(comparison, fail_on):
        return REGRESSION
    if INCONCLUSIVE not in fail_on or not comparison.inconclusive.cells:
        return 0
    return CANNOT_FAIL if cannot_fail(comparison) else UNDECIDED
