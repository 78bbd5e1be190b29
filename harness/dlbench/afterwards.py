"""Passes over exchanges in workers outside the fleet, couple by couple; each result is kept as it
comes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import TypeVar

from dlbench import progress
from dlbench.asking import Stopped, stoppable
from dlbench.environments.environment import where
from dlbench.grouping import grouped
from dlbench.values import Entry

T = TypeVar("T")
R = TypeVar("R")


def is_told(entry: Entry, key: str, warning: str) -> bool:
    """Has a pass told of an entry: by its key, or in a warning that begins so?"""
    return key in entry or any(text.startswith(warning) for text in entry["warnings"])


def couple_of(entry: Entry) -> tuple[str, ...]:
    """The environment and the libraries whose worker makes an exchange."""
    return entry["environment"], *sorted({entry["producer"], entry["consumer"]})


def couples(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries by couple, in the order of their names."""
    return [of_couple for _, of_couple in sorted(grouped(entries, couple_of).items())]


def title(couple: Sequence[Entry]) -> str:
    """ "numpy and torch in old"."""
    environment, *libraries = couple_of(couple[0])
    return " and ".join(libraries) + where(environment)


def go_through(
    couples: Sequence[Sequence[T]],
    doing: Callable[[Sequence[T]], str],
    look: Callable[[Sequence[T]], Generator[R, None, None]],
    keep: Callable[[R], None],
    *,
    quiet: bool,
) -> int:
    """Keeps what looking at each couple yields, a result for each of its parts; `doing` is what the
    progress says meanwhile.

    Returns 0, or the number of the signal that ended it early; what was kept by then stays.
    """
    total, done = sum(len(couple) for couple in couples), 0
    try:
        with stoppable(), progress.observer(sys.stderr, quiet) as observer:
            for couple in couples:
                words = doing(couple)
                observer.on_progress(done, total, words, -1)
                # A signal may come while a result is kept: the worker at hand ends with it.
                with closing(look(couple)) as results:
                    for result in results:
                        keep(result)
                        done += 1
                        observer.on_progress(done, total, words, -1)
    except Stopped as stopped:
        return stopped.number
    return 0
