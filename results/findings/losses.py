"""Findings about exchanges that drop or convert data without an error."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dlbench.document import Entry
from dlbench.document.facts import lost
from dlbench.findings.finding import Finding, by_pair, limits, pairs_text
from dlbench.text.escaping import dlbench_command


def losses(entries: list[Entry], run: str) -> Iterator[Finding]:
    """One line for each unit, mask, index, gradient or precision that results no longer have."""
    crossed = [entry for entry in entries if entry.has("changed")]
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for of_pair in by_pair(crossed).values():
        words = dict.fromkeys(word for entry in of_pair for word in lost(entry))
        words.pop("protection", None)  # which has a finding of its own
        for word in words:
            losing = [entry for entry in of_pair if word in entry.changed]
            only = ", ".join(limit for limit in limits(of_pair, losing) if limit)
            groups[word, only] += losing
    for (word, only), losing in sorted(groups.items(), key=lambda item: item[0]):
        pairs = pairs_text(entry.pair for entry in losing)
        where = f"{pairs} ({only})" if only else pairs
        what, becomes, other = word.partition(" -> ")
        label = "converts" if becomes else "drops"
        text = f"the {what} to {other}: {where}" if becomes else f"the {what}: {where}"
        yield Finding(label, text, dlbench_command("show", run, *losing[0].pair))
