"""One pass over exchanges: a worker for each pair of libraries, each result recorded at once."""

from __future__ import annotations

import signal
import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import ClassVar

from dlbench import _core
from dlbench.document import Document, Entry, read_document
from dlbench.environments.environment import where
from dlbench.libraries.discover import Catalogue
from dlbench.supervisor import Item, Result, Steps, Worker, send_all, worker_command
from dlbench.text import progress
from dlbench.text.grouping import grouped


class Pass(Steps[Item, Result]):
    """A pass: its request to the worker, its record, and the items left in a resumed run.

    An item is one request to a worker: an exchange and the cells that share its result.
    """

    #: Memory that a worker may need, for a pass whose results do not depend on other processes; 0:
    #: one worker at a time.
    worker_bytes: ClassVar[int] = 0

    def __init__(self, folder: Path, found: Mapping[str, Catalogue], timeout_s: float) -> None:
        """`folder` is the run's, `found` are the adapters by environment, and `timeout_s` is the
        deadline of one step."""
        super().__init__()
        self.folder, self.found, self.timeout_s = folder, found, timeout_s

    @abstractmethod
    def pending(self, document: Document) -> Sequence[Sequence[Item]]:
        """The items without a result, by the worker that handles them."""

    @abstractmethod
    def entry(self, item: Item) -> Entry:
        """The exchange itself."""

    @abstractmethod
    def title(self, item: Item) -> str:
        """The text of the progress bar for an item."""

    @abstractmethod
    def record(self, result: Result) -> None: ...

    def cells(self, item: Item) -> int:
        """The number of cells that share its result."""
        return 1

    def catalogue(self, item: Item) -> Catalogue:
        """The adapters of its environment."""
        return self.found[self.entry(item).environment]

    def start(self, item: Item, folder: Path) -> Worker:
        return Worker(worker_command(self.catalogue(item).environment), self.timeout_s)

    def load(self, worker: Worker, item: Item) -> None:
        worker.load(self.entry(item), self.catalogue(item))


def resume(pass_: Pass[Item, Result], at_a_time: int, *, quiet: bool) -> int:
    """Walks over the exchanges that the run has measured and the pass has not; see walk()."""
    document = read_document(Path(_core.write_document(str(pass_.folder))))
    return walk(pass_, pass_.pending(document), at_a_time, quiet=quiet)


def walk(
    pass_: Pass[Item, Result],
    pairs: Sequence[Sequence[Item]],
    at_a_time: int = 1,
    *,
    quiet: bool,
) -> int:
    """Records a result for each item, with that number of workers at a time.

    Returns 0, or the number of the signal that ended it early; what was recorded by then stays.
    """
    total, done = sum(pass_.cells(item) for items in pairs for item in items), 0
    try:
        with _stoppable(), progress.observer(sys.stderr, quiet, units="cells") as observer:

            def keep(item: Item, result: Result) -> None:
                nonlocal done
                pass_.record(result)
                done += pass_.cells(item)
                observer.on_progress(done, total, pass_.title(item))

            if first := next(chain.from_iterable(pairs), None):
                observer.on_progress(done, total, pass_.title(first))
            send_all([(pass_, items) for items in pairs], keep, at_a_time)
    except _Stopped as stopped:
        return stopped.number
    return 0


def has_result(entry: Entry, key: str, failed: str) -> bool:
    """Has a pass recorded a result of an entry: its key, or the warning that it failed?"""
    return entry.has(key) or entry.warns_of(failed)


def pair_of(entry: Entry) -> tuple[str, ...]:
    """The environment and the libraries of the worker that makes an exchange."""
    return entry.environment, *sorted({entry.producer, entry.consumer})


def by_pair(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries by pair, in the order of their names."""
    return [of_pair for _, of_pair in sorted(grouped(entries, pair_of).items())]


def pair_title(entry: Entry) -> str:
    """ "numpy and torch in old"."""
    environment, *libraries = pair_of(entry)
    return " and ".join(libraries) + where(environment)


def direction_title(entry: Entry) -> str:
    """ "numpy -> torch in old"."""
    return f"{entry.producer} -> {entry.consumer}{where(entry.environment)}"


class _Stopped(Exception):  # noqa: N818  (a request, not an error)
    """A signal requested the end."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise _Stopped, so that the worker is ended and results are kept.
    A SIGHUP that is ignored, as under nohup, stays ignored."""

    def stop(number: int, _: object) -> None:
        raise _Stopped(number)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
