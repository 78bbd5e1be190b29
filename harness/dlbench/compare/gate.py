"""What of a comparison makes the command fail."""

from __future__ import annotations

from typing import Any

from dlbench import _core
from dlbench.errors import BadInput

Comparison = dict[str, Any]

#: What --fail-on may name, and the counts that it looks at.
REASONS = {"slow": "SLOW", "outcome": "worse", "lost": "lost"}
NONE = "none"
REGRESSION, TOO_NOISY = 1, 3


def reasons(text: str) -> tuple[str, ...]:
    """ "slow,outcome" -> what to fail on. Raises BadInput for what is neither a reason nor none."""
    words = tuple(word.strip() for word in text.split(","))
    allowed = [*REASONS, NONE]
    for word in words:
        if word not in allowed:
            near = _core.nearest(word, allowed)
            meant = f" (did you mean {near!r}?)" if near else ""
            raise BadInput(f"--fail-on: unknown {word!r}{meant}; allowed: {', '.join(allowed)}")
    return tuple(word for word in words if word != NONE)


def failures(comparison: Comparison, fail_on: tuple[str, ...]) -> list[str]:
    """["2 slow", "1 lost"]: what was found of that which makes the command fail."""
    counts = comparison["counts"]
    return [f"{counts[REASONS[word]]} {word}" for word in fail_on if counts[REASONS[word]]]


def status(comparison: Comparison, fail_on: tuple[str, ...], *, strict: bool) -> int:
    """The exit status: 1 for a regression; with `strict` 3 where the noise leaves cells open."""
    if failures(comparison, fail_on):
        return REGRESSION
    return TOO_NOISY if strict and comparison["counts"]["AMBIG"] else 0
