"""What the inconclusive cells of a comparison could hide, and what would decide them."""

from __future__ import annotations

from dlbench import _core, values
from dlbench.document import Comparison
from dlbench.text.layout import count

#: More inconclusive cells than this share of the compared ones: the gate cannot fail.
MOST_INCONCLUSIVE = 0.5


def cannot_fail(comparison: Comparison) -> bool:
    """Could most of the compared cells hide a change as large as the threshold?"""
    found = comparison.inconclusive
    return found.cells > found.of * MOST_INCONCLUSIVE


def in_words(comparison: Comparison, option: str) -> str:
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
