"""What an exchange drops or converts without an error."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dlbench import values
from dlbench.escaping import dlbench_command
from dlbench.findings.finding import Finding, by_pair, limits, pair_of, pairs_text
from dlbench.values import Entry


def losses(entries: list[Entry], run: str) -> Iterator[Finding]:
    """One line for each unit, mask, index, gradient or precision that results no longer have."""
    crossed = [entry for entry in entries if "changed" in entry]
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for of_pair in by_pair(crossed).values():
        for word in dict.fromkeys(word for entry in of_pair for word in values.lost(entry)):
            losing = [entry for entry in of_pair if word in entry["changed"]]
            only = ", ".join(limit for limit in limits(of_pair, losing) if limit)
            groups[word, only] += losing
    for (word, only), losing in sorted(groups.items(), key=lambda item: item[0]):
        pairs = pairs_text(map(pair_of, losing))
        where = f"{pairs} ({only})" if only else pairs
        what, becomes, other = word.partition(" -> ")
        label = "converts" if becomes else "drops"
        text = f"the {what} to {other}: {where}" if becomes else f"the {what}: {where}"
        yield Finding(label, text, dlbench_command("show", run, *pair_of(losing[0])))
