"""Items by what they have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


def grouped(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """The items by key; both stay in the order in which they came."""
    groups: dict[Key, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(groups)
