"""`--sync`: classifies how each measured exchange synchronizes, by a worker for each producer and
consumer."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlbench import _core, values, worker_requests
from dlbench.device import Device
from dlbench.document import EXCHANGE, Document, Entry, Measured, codes
from dlbench.environments.environment import Environment, where
from dlbench.libraries.discover import Catalogue
from dlbench.passes.walk import Pass, has_result
from dlbench.supervisor import RequestFailed, Worker, worker_command
from dlbench.text.grouping import grouped

#: Devices whose queues dlbench fills itself; elsewhere the producer's `busy` does.
WITH_STREAMS = ("cuda", "rocm", "sim")
#: A plain line of four-byte words: the exchange is classified, not the kind of array.
CASE = "f32"
#: NumPy's functions on the array itself: nothing is transferred.
NO_EXCHANGE = ("array_ufunc", "array_function")
#: More hardware queues than the defaults (4 on ROCm, 8 on CUDA), because streams that share a queue
#: seem synchronized.
HARDWARE_QUEUES = {"GPU_MAX_HW_QUEUES": "16", "CUDA_DEVICE_MAX_CONNECTIONS": "32"}
AXES = EXCHANGE[:5]  #: up to the device: what is classified once

Records = list[dict[str, Any]]  #: of one exchange, as the journal has them


@dataclass(frozen=True)
class Exchange:
    """The cell that is classified, and all measured cells that share its result."""

    entry: Entry
    sharing: list[Entry] = field(default_factory=list)


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
        if (isinstance(entry, Measured) or values.is_below(entry))
        and entry.protocol not in NO_EXCHANGE
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
    queues = {name: os.environ.get(name, value) for name, value in HARDWARE_QUEUES.items()}
    return Worker(worker_command(place), timeout_s, variables=queues)


class ClassifySynchronization(Pass[Exchange, Records]):
    """The pass over the measured exchanges, each at its smallest size."""

    name = "sync"

    def pending(self, document: Document) -> list[list[Exchange]]:
        # The opposite direction has a worker of its own, because a library may change its process
        # to make its work asynchronous.
        def key(exchange: Exchange) -> tuple[str, str, str]:
            return exchange.entry.environment, *exchange.entry.pair

        pairs = grouped(self._exchanges(document), key)
        return [of_pair for _, of_pair in sorted(pairs.items())]

    def _exchanges(self, document: Document) -> list[Exchange]:
        return [
            one
            for one in smallest_exchanges(document)
            if not has_result(one.entry, "sync", codes.SYNC_FAILED)
            and has_queue(one.entry, self.found[one.entry.environment])
        ]

    def entry(self, item: Exchange) -> Entry:
        return item.entry

    def title(self, items: Sequence[Exchange]) -> str:
        entry = items[0].entry
        names = f"{entry.producer} -> {entry.consumer}"
        return f"synchronization: {names}{where(entry.environment)}"

    def start(self, item: Exchange, folder: Path) -> Worker:
        return start_with_queues(self.catalogue(item).environment, self.timeout_s)

    def send_request(self, worker: Worker, item: Exchange) -> Records:
        request = {**worker_requests.prepare(item.entry), "do": "sync"}
        _, found = worker.request_prepared(item.entry, request)
        return _records(item, {**found, "sync": [_synchronization(one) for one in found["sync"]]})

    def fail(self, item: Exchange, failure: RequestFailed) -> Records:
        return _records(item, {"failure": str(failure)})

    def record(self, result: Records) -> None:
        _core.append_sync(str(self.folder), json.dumps(result))


def _synchronization(found: dict[str, Any]) -> dict[str, Any]:
    """Converts a result to the form of the document: numbers for numbered streams, and no null."""
    stream = found.pop("stream")
    number = stream.removeprefix("-").isdigit()
    return {"stream": int(stream) if number else stream or None, **found}


def _records(exchange: Exchange, found: dict[str, Any]) -> Records:
    """Converts results to the form of the journal. A race applies to all cells of the exchange:
    each size, clock and phase."""
    if not found.get("sync") and "failure" not in found:
        return []
    own = {"cell": exchange.entry.name, **found}
    race = found.get("race", "")
    observed = f"{race} (observed at {values.size(exchange.entry.bytes)})"
    shared = [{"cell": each.name, "race": observed} for each in exchange.sharing]
    return [own, *shared] if race else [own]
