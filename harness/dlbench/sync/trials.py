"""The trials of one exchange, one request to a worker each, so that a crash costs one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlbench.document import codes
from dlbench.supervisor import RequestFailed, Worker

#: More hardware queues than the defaults (4 on ROCm, 8 on CUDA), because streams that share a queue
#: seem synchronized.
HARDWARE_QUEUES = {"GPU_MAX_HW_QUEUES": "16", "CUDA_DEVICE_MAX_CONNECTIONS": "32"}

Found = dict[str, Any]  #: `sync` and `late_free`, as an entry has them


def try_each(
    worker: Worker,
    prepare: dict[str, Any],
    found: Found,
    *,
    is_hostile: bool,
    keep: Callable[[], None] = lambda: None,
) -> RequestFailed | None:
    """Makes the trials that are left and calls `keep` after each. `prepare` is the request that
    prepares the exchange; `is_hostile` chooses the values that may crash a library, or the others.

    Returns the failure by which a trial ended the worker: its row has the reason. Raises
    RequestFailed for a failure of no trial.
    """
    worker.send_request(prepare)
    plan = worker.send_request({**prepare, "do": "sync"})
    trials = [(document_row(trial["row"]), trial["is_hostile"]) for trial in plan["trials"]]
    if not trials:
        return None
    rows = found.setdefault("sync", [row for row, _ in trials])
    places = {_key(row): place for place, row in enumerate(rows)}
    for number, (row, hostile) in enumerate(trials):
        place = places.get(_key(row))
        if place is None or hostile != is_hostile:
            continue
        try:
            if is_left(rows[place]):
                tried = worker.send_request({"do": "sync_trial", "id": 0, "trial": number})
                rows[place] = document_row(tried)
                keep()
            if number == 0 and plan["has_late_free"] and "late_free" not in found:
                found["late_free"] = "inconclusive"  # if it crashes
                found.update(worker.send_request({"do": "late_free", "id": 0}))
        except RequestFailed as failure:
            if worker.is_alive():
                raise
            if is_left(rows[place]):
                rows[place] |= {"code": codes.WORKER_ENDED, "reason": str(failure)}
            return failure
    worker.send_request({"do": "drop", "id": 0})
    return None


def is_left(row: dict[str, Any]) -> bool:
    return row.get("code") == codes.NOT_TRIED


def has_left(found: Found) -> bool:
    return any(map(is_left, found.get("sync", ())))


def is_last(failure: RequestFailed) -> bool:
    """Is no other trial made after this failure? A library that does not return would cost the
    deadline in each of them."""
    return failure.outcome == "timed-out"


def document_row(found: dict[str, Any]) -> dict[str, Any]:
    """Converts a result to the form of the document: numbers for numbered streams, and no null."""
    stream = found["stream"]
    number = stream.removeprefix("-").isdigit()
    return {**found, "stream": int(stream) if number else stream or None}


def _key(row: dict[str, Any]) -> tuple[Any, str]:
    return row["stream"], row["reads_on"]
