"""Passes over a measured run, couple by couple; each result is kept as it comes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dlbench import progress
from dlbench.asking import Stopped, stoppable
from dlbench.environments.environment import DEFAULT

T = TypeVar("T")
R = TypeVar("R")


def where(environment: str) -> str:
    """What follows the names of libraries that are not of the environment one would expect."""
    return "" if environment == DEFAULT else f" in {environment}"


def go_through(
    couples: Sequence[Sequence[T]],
    doing: Callable[[Sequence[T]], str],
    look: Callable[[Sequence[T]], Iterable[R]],
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
                for result in look(couple):
                    keep(result)
                    done += 1
                    observer.on_progress(done, total, words, -1)
    except Stopped as stopped:
        return stopped.number
    return 0
