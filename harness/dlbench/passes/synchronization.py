"""`--sync`: classifies how each measured exchange synchronizes, by a worker for each producer and
consumer."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlbench import _core, values, worker_requests
from dlbench.device import Device
from dlbench.document import EXCHANGE, Document, Entry, Measured, Sync, codes
from dlbench.document.facts import is_below
from dlbench.environments.environment import Environment
from dlbench.libraries.discover import Catalogue
from dlbench.passes.walk import Pass, direction_title
from dlbench.supervisor import RequestFailed, Worker, worker_command
from dlbench.sync import trials
from dlbench.text.grouping import grouped

#: Devices whose queues dlbench fills itself; elsewhere the producer's `busy` does.
WITH_STREAMS = ("cuda", "rocm", "sim")
#: A plain line of four-byte words: the exchange is classified, not the kind of array.
CASE = "f32"
#: NumPy's functions on the array itself, and calls: nothing is imported.
NO_EXCHANGE = ("array_ufunc", "array_function", "call")
RACES = {
    "none": "nothing waited",
    "wrong-stream": "a stream waited for another stream",
    "host-wrong": "the host waited for another stream",
}
KEPT = ("sync", "late_free")  #: keys of an entry that a resumed run adds to
AXES = EXCHANGE[:5]  #: up to the device: what is classified once

Records = list[dict[str, Any]]  #: of one exchange, as the journal has them


@dataclass(frozen=True)
class Exchange:
    """The cell that is classified, and all measured cells that share its result."""

    entry: Entry
    sharing: list[Entry] = field(default_factory=list)
    #: The trials with values that may crash a library: they have a worker of their own.
    is_hostile: bool = False
    #: What is known of the cell, as the journal has it.
    found: dict[str, Any] = field(default_factory=dict)


def has_queue(entry: Entry, found: Catalogue) -> bool:
    """Can a queue of the producer be filled? An exchange with another device is not classified."""
    if "+" in entry.device:
        return False
    if Device.parse(entry.device).kind in WITH_STREAMS:
        return True
    return any(file.has_busy for file in found.roles(entry.producer).values())


def smallest_exchanges(document: Document) -> list[Exchange]:
    """The measured exchanges of a plain line of words, each at its smallest size."""
    measured = (
        entry
        for entry in document.entries
        if (isinstance(entry, Measured) or is_below(entry)) and entry.protocol not in NO_EXCHANGE
    )
    exchanges = []
    for group in grouped(measured, lambda entry: entry.axes(AXES)).values():
        plain = [
            each
            for each in group
            if (each.phase, each.case, each.clock) == ("exchange", CASE, "call")
        ]
        if plain:
            entry = min(plain, key=lambda each: each.bytes)
            exchanges.append(Exchange(entry, [each for each in group if each is not entry]))
    return exchanges


def start_with_queues(place: Environment, timeout_s: float) -> Worker:
    """A worker whose streams share few hardware queues; values that the user has set are kept."""
    queues = {name: os.environ.get(name, value) for name, value in trials.HARDWARE_QUEUES.items()}
    return Worker(worker_command(place), timeout_s, variables=queues)


class ClassifySynchronization(Pass[Exchange, Records]):
    """The pass over the measured exchanges, each at its smallest size."""

    name = "sync"

    def pending(self, document: Document) -> list[list[Exchange]]:
        # The opposite direction has a worker of its own, because a library may change its process
        # to make its work asynchronous.
        pairs = grouped(self._exchanges(document), _direction)
        #: By direction; filled while the other trials are made.
        self._hostile: dict[tuple[str, ...], list[Exchange]] = {key: [] for key in pairs}
        return [items for key in sorted(pairs) for items in (list(pairs[key]), self._hostile[key])]

    def _exchanges(self, document: Document) -> list[Exchange]:
        exchanges = []
        for one in smallest_exchanges(document):
            entry = one.entry
            if has_queue(entry, self.found[entry.environment]) and not _is_known(entry):
                known = {key: entry.to_json()[key] for key in KEPT if entry.has(key)}
                exchanges.append(replace(one, found=known))
        return exchanges

    def entry(self, item: Exchange) -> Entry:
        return item.entry

    def title(self, item: Exchange) -> str:
        return f"synchronization: {direction_title(item.entry)}"

    def start(self, item: Exchange, folder: Path) -> Worker:
        return start_with_queues(self.catalogue(item).environment, self.timeout_s)

    def cells(self, item: Exchange) -> int:
        return 0 if item.is_hostile else 1

    def send_request(self, worker: Worker, item: Exchange) -> Records:
        """Records each trial when its result is known; returns what is left to record."""

        def keep() -> None:
            self.record(_records(item))

        request = worker_requests.prepare(item.entry, round_ns=1)
        failure = trials.try_each(
            worker, request, item.found, is_hostile=item.is_hostile, keep=keep
        )
        if "sync" not in item.found:
            return []
        is_over = not trials.has_left(item.found) or (failure and trials.is_last(failure))
        if is_over or (item.is_hostile and not failure):
            return _records(item, is_last=True)
        if failure:
            keep()
            with self.started(item, self.folder) as another:
                self.load(another, item)
                return self.send_request(another, item)
        self._hostile[_direction(item)].append(replace(item, is_hostile=True))
        return []

    def fail(self, item: Exchange, failure: RequestFailed) -> Records:
        return _records(item, is_last=True, failure=str(failure))

    def record(self, result: Records) -> None:
        _core.append_sync(str(self.folder), json.dumps(result))


def _direction(item: Exchange) -> tuple[str, ...]:
    return item.entry.environment, *item.entry.pair


def _is_known(entry: Entry) -> bool:
    """Has every trial of an entry a result?"""
    if entry.warns_of(codes.SYNC_FAILED):
        return True
    return bool(entry.sync) and all(one.code != codes.NOT_TRIED for one in entry.sync)


def _records(exchange: Exchange, *, is_last: bool = False, failure: str = "") -> Records:
    """Converts results to the form of the journal. A race applies to all cells of the exchange:
    each size, clock and phase. It is recorded last, because a race has no later results."""
    own = {"cell": exchange.entry.name, **exchange.found}
    own |= {"failure": failure} if failure else {}
    race = _race(exchange) if is_last else ""
    if not race:
        return [own]
    observed = f"{race} (observed at {values.size(exchange.entry.bytes)})"
    shared = [{"cell": each.name, "race": observed} for each in exchange.sharing]
    return [{**own, "race": race}, *shared]


def _race(exchange: Exchange) -> str:
    """Why the exchange is a race; empty if it is not."""
    for row in exchange.found.get("sync", []):
        one = Sync(row)
        if one.is_of_consumer and one.is_unordered:
            producer, consumer = exchange.entry.pair
            early = f"{consumer} read old content before {producer}'s work was done"
            return f"{early}: {RACES[one.waits]}"
    return ""
