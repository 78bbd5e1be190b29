"""Runs the trials of `--sync` for the rules about order; needs dlbench's own environment."""

from __future__ import annotations

import os
import sys
from typing import Any

from dlbench import _core, worker_requests
from dlbench.check.subject import Subject
from dlbench.document import Sync
from dlbench.environments.environment import DEFAULT
from dlbench.libraries import discover
from dlbench.supervisor import RequestFailed, Worker, worker_arguments
from dlbench.sync import trials

CONSUMER = "native"


def rows(subject: Subject, protocol: str) -> tuple[list[Sync], str]:
    """The trials of its exchange with the native consumer, and why there are none."""
    try:
        found = [Sync(row) for row in _tried(subject, protocol)]
    except RequestFailed as failure:
        return [], str(failure)
    return found, "dlbench cannot keep its queue busy"


def _tried(subject: Subject, protocol: str) -> list[dict[str, Any]]:
    native = discover.PACKAGE / "consumers" / f"{CONSUMER}.py"
    loads = [
        worker_requests.load("producer", subject.name, str(subject.producer.__file__)),  # type: ignore[union-attr]
        worker_requests.load("consumer", CONSUMER, str(native)),
    ]
    exchange = {
        **{"environment": DEFAULT, "producer": subject.name, "consumer": CONSUMER},
        **{"protocol": protocol, "device": subject.device, "case": "f32", "bytes": 4096},
    }
    request = worker_requests.prepare_exchange(exchange, "call", _core.case("f32"), 1)
    command = [sys.executable, *worker_arguments()]
    found: trials.Found = {}
    for is_hostile in (False, True):
        failure: RequestFailed | None = None
        is_begun = False
        while not is_begun or (failure is not None and not trials.is_last(failure)):
            is_begun = True
            queues = {**trials.HARDWARE_QUEUES, **os.environ}
            with Worker(command, subject.timeout_s, variables=queues) as worker:
                for load in loads:
                    worker.send_request(load)
                failure = trials.try_each(worker, request, found, is_hostile=is_hostile)
    return list(found.get("sync", ()))
