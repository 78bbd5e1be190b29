"""What one line says, and the words that several of them need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dlbench import values
from dlbench.grouping import grouped
from dlbench.layout import listing
from dlbench.values import Entry

Pair = tuple[str, str]


@dataclass(frozen=True)
class Finding:
    """`label` says what was found, `text` where and why, `command` what to type next."""

    label: str
    text: str
    command: str = ""


def pairs_text(pairs: Iterable[Pair]) -> str:
    """ "a, b -> c; d -> e, f": producers with the same consumers stand together."""
    consumers: dict[str, list[str]] = defaultdict(list)
    for producer, consumer in sorted(set(pairs)):
        consumers[producer].append(consumer)
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for producer, targets in consumers.items():
        together[tuple(targets)].append(producer)
    groups = [f"{listing(sources, 4)} -> {listing(to, 4)}" for to, sources in together.items()]
    return "; ".join(groups[:3]) + (f"; and {len(groups) - 3} more" if len(groups) > 3 else "")


def pair_of(entry: Entry) -> Pair:
    return entry["producer"], entry["consumer"]


def by_pair(entries: Iterable[Entry]) -> dict[Pair, list[Entry]]:
    return grouped(entries, pair_of)


def limits(all_of: Sequence[Entry], these: Sequence[Entry]) -> tuple[str, ...]:
    """By protocol, case, size and device: names these where they are not all, else nothing."""
    return tuple(
        _some({e[axis] for e in all_of}, {e[axis] for e in these}, text)
        for axis, text in (("protocol", str), ("case", str), ("bytes", values.size),
                           ("device", str))
    )  # fmt: skip


def _some(all_of: set[Any], these: set[Any], text: Callable[[Any], str]) -> str:
    return "" if all_of <= these else ", ".join(text(item) for item in sorted(these))
