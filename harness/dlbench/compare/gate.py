"""What of a comparison makes the command fail, and with which exit status."""

from __future__ import annotations

from dlbench import _core, values
from dlbench.document import Comparison
from dlbench.text.layout import count

#: What --fail-on may name and ends in REGRESSION, and the counts that it looks at.
REASONS = {"slow": "SLOW", "outcome": "worse", "lost": "lost"}
#: What it may name and ends in UNDECIDED.
INCONCLUSIVE = "inconclusive"
NONE = "none"
ALL = (*REASONS, INCONCLUSIVE)
REGRESSION, UNDECIDED = 1, 3


def reasons(text: str) -> tuple[str, ...]:
    """ "slow,outcome" -> what to fail on. Raises UsageError for what is neither."""
    words = tuple(word.strip() for word in text.split(","))
    allowed = [*ALL, NONE]
    for word in words:
        _core.require_known("reason for --fail-on", word, allowed)
    return tuple(word for word in words if word != NONE)


def failures(comparison: Comparison, fail_on: tuple[str, ...]) -> list[str]:
    """["2 slow", "1 lost"]: the regressions that make the command fail."""
    counts = comparison.counts
    found = [word for word in fail_on if word in REASONS]
    return [f"{counts[REASONS[word]]} {word}" for word in found if counts[REASONS[word]]]


def inconclusive(comparison: Comparison, option: str) -> str:
    """How many cells could hide a change as large as the threshold, and what would decide them;
    empty where there are none. `option` says how many processes are measured."""
    found = comparison.inconclusive
    if not found.cells:
        return ""
    change = values.percent(comparison.threshold)
    text = f"inconclusive: {count(found.cells, 'cell')} of {found.of} could hide a change of"
    if found.replicas:
        advice = f"about {option} {found.replicas} on each side would show it"
    elif found.unknown:
        advice = f"the spread between processes is not known for {found.unknown} of them: "
        advice += f"measure both sides with {option} 6"
    elif option == "--workers":
        advice = "no number of workers up to 1000 would show it: use a quieter machine or a larger "
        advice += "--threshold"
    else:
        advice = "no number of replicas up to 1000 would show it: measure both sides in one run "
        advice += "(--base-env, --head-env) on a quieter machine"
    return f"{text} {change}; {advice}"


def status(comparison: Comparison, fail_on: tuple[str, ...]) -> int:
    """The exit status: 1 for a regression; 3 where a regression could be hidden."""
    if failures(comparison, fail_on):
        return REGRESSION
    is_open = INCONCLUSIVE in fail_on and comparison.inconclusive.cells
    return UNDECIDED if is_open else 0
