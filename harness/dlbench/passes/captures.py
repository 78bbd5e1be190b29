"""`--capture`: makes each measured exchange while the consumer's stream captures a graph, once for
each stream argument and stream of the producer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from dlbench import _core, worker_requests
from dlbench.device import Device
from dlbench.document import Document, Entry
from dlbench.passes.synchronization import smallest_exchanges, start_with_queues
from dlbench.passes.walk import Pass, direction_title
from dlbench.supervisor import RequestFailed, Worker
from dlbench.sync.trials import document_row
from dlbench.text.grouping import grouped

#: The consumer's own argument, then the others, by kind of device. Those that a library must refuse
#: or may not expect are last, because they may end the worker.
STREAMS: dict[str, tuple[int | str | None, ...]] = {
    "cuda": ("consumer", "omitted", None, "own", 1, 2, 0, -1),
    "rocm": ("consumer", "omitted", None, "own", 0, 1, 2, -1),
}
#: Where the producer works: on the capturing stream, or on another one.
PRODUCER_STREAMS = ("same", "other")

Row = dict[str, Any]
Result = tuple[str, list[Row]]  #: the cell, and its row; empty where no such exchange is possible


@dataclass(frozen=True)
class Captured:
    """One exchange during a capture."""

    entry: Entry
    stream: int | str | None
    producer_stream: str

    def row(self) -> Row:
        is_own = self.stream == "consumer"
        return {
            "stream": "unknown" if is_own else self.stream,
            "requested_by": "consumer" if is_own else "dlbench",
            "producer_stream": self.producer_stream,
        }


class CaptureExchanges(Pass[Captured, Result]):
    """The pass over the measured exchanges, each at its smallest size. Each row is a request of its
    own, so that a crash costs one row."""

    name = "capture"

    def pending(self, document: Document) -> list[list[Captured]]:
        exchanges = [one.entry for one in smallest_exchanges(document) if has_graphs(one.entry)]
        rows = [row for entry in exchanges for row in missing_rows(entry)]
        pairs = grouped(rows, lambda row: (row.entry.environment, *row.entry.pair))
        return [of_pair for _, of_pair in sorted(pairs.items())]

    def entry(self, item: Captured) -> Entry:
        return item.entry

    def title(self, item: Captured) -> str:
        return f"capture: {direction_title(item.entry)}"

    def start(self, item: Captured, folder: Path) -> Worker:
        return start_with_queues(self.catalogue(item).environment, self.timeout_s)

    def is_tried_alone(self, item: Captured) -> bool:
        return True

    def send_request(self, worker: Worker, item: Captured) -> Result:
        row = item.row()
        stream = "" if row["stream"] is None else str(row["stream"])
        request = {**worker_requests.prepare(item.entry), **row, "do": "capture", "stream": stream}
        _, answer = worker.request_prepared(item.entry, request)
        if not answer["usable"]:
            worker.end()  # the next row gets a new one
        return item.entry.name, [{**row, **document_row(found)} for found in answer["capture"]]

    def fail(self, item: Captured, failure: RequestFailed) -> Result:
        return item.entry.name, [{**item.row(), "result": "failed", "reason": str(failure)}]

    def record(self, result: Result) -> None:
        name, rows = result
        if rows:
            _core.append_capture(str(self.folder), json.dumps({"cell": name, "capture": rows}))


def has_graphs(entry: Entry) -> bool:
    """Can a stream of the device capture a graph? A pair of devices is not tried."""
    return "+" not in entry.device and Device.parse(entry.device).kind in STREAMS


def missing_rows(entry: Entry) -> list[Captured]:
    """The rows of an exchange that the run does not have."""
    known = {
        ("consumer" if row.is_of_consumer else row.stream, row.producer_stream)
        for row in entry.capture
    }
    rows = product(STREAMS[Device.parse(entry.device).kind], PRODUCER_STREAMS)
    return [Captured(entry, *row) for row in rows if row not in known]
