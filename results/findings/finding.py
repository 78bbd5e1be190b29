"""One finding, and the texts that several findings share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dlbench import values
from dlbench.document import Axis, Entry, Pair
from dlbench.text.grouping import grouped
from dlbench.text.layout import listing

E = TypeVar("E", bound=Entry)


@dataclass(frozen=True)
class Finding:
    """`label` names the finding, `text` its place and reason, `command` the next command to type.

    Two findings are the same if their labels and keys are equal; without a key, if their texts are.
    """

    label: str
    text: str
    command: str = ""
    key: tuple[str, ...] = ()


def pairs_text(pairs: Iterable[Pair]) -> str:
    """ "a, b -> c; d -> e, f": producers with the same consumers are grouped."""
    consumers: dict[str, list[str]] = defaultdict(list)
    for producer, consumer in sorted(set(pairs)):
        consumers[producer].append(consumer)
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for producer, targets in consumers.items():
        together[tuple(targets)].append(producer)
    groups = [f"{listing(sources, 4)} -> {listing(to, 4)}" for to, sources in together.items()]
    return "; ".join(groups[:3]) + (f"; and {len(groups) - 3} more" if len(groups) > 3 else "")


def by_pair(entries: Iterable[E]) -> dict[Pair, list[E]]:
    return grouped(entries, lambda entry: entry.pair)


def limits(all_of: Sequence[Entry], these: Sequence[Entry]) -> tuple[str, ...]:
    """The protocol, case, size and device of the entries, each only if others of the run differ."""
    return tuple(
        _some({e.axis(axis) for e in all_of}, {e.axis(axis) for e in these})
        for axis in ("protocol", "case", "bytes", "device")
    )


def _some(all_of: set[Axis], these: set[Axis]) -> str:
    if all_of <= these:
        return ""
    sizes = sorted(value for value in these if isinstance(value, int))
    words = sorted(value for value in these if isinstance(value, str))
    return ", ".join([*map(values.size, sizes), *words])
