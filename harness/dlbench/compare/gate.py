"""Which results of a comparison make the command fail, and with which exit status."""

from __future__ import annotations

from dlbench import _core, values
from dlbench.document import Comparison
from dlbench.text.layout import count

#: Values of --fail-on that end in REGRESSION, and the counts that they examine.
REASONS = {"slow": "SLOW", "outcome": "worse", "lost": "lost"}
#: Values of --fail-on that end in UNDECIDED or CANNOT_FAIL.
INCONCLUSIVE = "inconclusive"
NONE = "none"
ALL = (*REASONS, INCONCLUSIVE)
REGRESSION, UNDECIDED, CANNOT_FAIL = 1, 3, 4
#: More inconclusive cells than this share of the compared ones: the gate cannot fail.
MOST_INCONCLUSIVE = 0.5


def reasons(text: str) -> tuple[str, ...]:
    """ "slow,outcome" -> the results to fail on. Raises UsageError for an unknown one."""
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


def cannot_fail(comparison: Comparison) -> bool:
    """Could most of the compared cells hide a change as large as the threshold?"""
    found = comparison.inconclusive
    return found.cells > found.of * MOST_INCONCLUSIVE


def inconclusive(comparison: Comparison, option: str) -> str:
    """The number of cells that could hide a change as large as the threshold, and the measures that
    would decide them; empty if none could. `option` sets the number of processes."""
    found = comparison.inconclusive
    if not found.cells:
        return ""
    change = values.percent(comparison.threshold)
    what = "too noisy to find a regression" if cannot_fail(comparison) else "inconclusive"
    text = f"{what}: {count(found.cells, 'cell')} of {found.of} could hide a change of {change}"
    return f"{text}; {'; '.join(_advice(comparison, option))}"


def _advice(comparison: Comparison, option: str) -> list[str]:
    """Measures that would decide the inconclusive cells, the simplest first."""
    found = comparison.inconclusive
    made = []
    if found.unknown:
        advice = f"the spread between processes is not known for {found.unknown} of them: "
        made.append(f"{advice}measure both sides with {option} 6")
    if found.replicas:
        decided = found.cells - found.unknown - found.undecidable
        which = "it" if decided == found.cells else f"it in {decided} of them"
        made.append(f"about {option} {found.replicas} on each side would detect {which}")
    if found.undecidable:
        which = "" if found.undecidable == found.cells else f" in {found.undecidable} of them"
        if option == "--workers":
            advice = "use a quieter machine or a larger --threshold"
        else:
            advice = "measure both sides in one run (--base-env, --head-env), on a quieter machine"
        number = f"no number of {option.removeprefix('--')} up to {_core.most_workers}"
        made.append(f"{number} would detect it{which} on this machine: {advice}")
    return made


def status(comparison: Comparison, fail_on: tuple[str, ...]) -> int:
    """The exit status: 1 for a regression, 3 if some cells could hide one, 4 if most could."""
    if failures(comparison, fail_on):
        return REGRESSION
    if INCONCLUSIVE not in fail_on or not comparison.inconclusive.cells:
        return 0
    return CANNOT_FAIL if cannot_fail(comparison) else UNDECIDED
