"""The exchanges of a couple, asked about one by one in workers outside the fleet."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any, TypeVar

from dlbench import debug
from dlbench.asking import AskFailed, Worker
from dlbench.discover import Catalogue
from dlbench.values import Entry

W = TypeVar("W", bound=Worker)
T = TypeVar("T")
R = TypeVar("R")


def load(worker: Worker, entry: Entry, found: Catalogue) -> dict[str, str]:
    """Loads both libraries of an exchange; their versions."""
    versions = {}
    for request in debug.loading(entry, found):
        versions[request["library"]] = str(worker.ask(request).get("version", ""))
    return versions


def ask(
    worker: Worker, entry: Entry, request: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Prepares an exchange, asks one thing of it and drops it: what preparing told, the answer."""
    prepared = worker.ask(debug.preparing(entry, round_ns=1))  # nobody times here
    answer = worker.ask({**request, "id": 0})
    worker.ask({"do": "drop", "id": 0})
    return prepared, answer


def one_by_one(
    items: Iterable[T],
    *,
    start: Callable[[Path], W],
    load: Callable[[W], object],
    ask: Callable[[W, T], R],
    failed: Callable[[T, AskFailed], R],
    end: Callable[[W], object] = lambda worker: None,
    scratch: str,
) -> Generator[R, None, None]:
    """What a worker answers about each item, or what `failed` makes of it; in order.

    An item that takes the worker along costs its own answer: a new worker goes on with the rest. A
    failure always has an `outcome` when it comes to `failed`. `start` is given a folder that is
    there as long as its worker, named after `scratch`; `end` is asked of a worker that has answered
    all, and keeps its failures to itself. Whoever stops early closes the generator: the worker and
    its folder go with it.
    """
    left = list(items)
    while left:
        loaded = False
        lost: AskFailed | None = None
        with tempfile.TemporaryDirectory(prefix=f"dlbench-{scratch}-") as folder:
            try:
                with start(Path(folder)) as worker:
                    load(worker)
                    loaded = True
                    while left:
                        yield _answer(worker, left[0], ask, failed)
                        left.pop(0)
                    end(worker)
            except AskFailed as failure:
                lost = failure
        if lost is None:
            return
        lost.outcome = lost.outcome or ("crashed" if loaded else "import-failed")
        # A couple that cannot even be loaded is not tried again for each of its exchanges.
        for _ in range(1 if loaded else len(left)):
            yield failed(left.pop(0), lost)


def _answer(worker: W, item: T, ask: Callable[[W, T], R], failed: Callable[[T, AskFailed], R]) -> R:
    """Raises AskFailed where the worker is lost."""
    try:
        return ask(worker, item)
    except AskFailed as failure:
        if not worker.is_alive():
            raise
        failure.outcome = failure.outcome or "refused"
        return failed(item, failure)
