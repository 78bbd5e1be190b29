"""The order that the argument `stream` makes, and the stream that the C exchange API names: the
trials of `--sync`, read as rules."""

from __future__ import annotations

import os
import sys
from typing import Any

from dlbench import _core, worker_requests
from dlbench.check.rule import EXCHANGE_API, METHOD, producer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, assume
from dlbench.device import Device
from dlbench.document import Sync, codes
from dlbench.environments.environment import DEFAULT
from dlbench.libraries import discover
from dlbench.supervisor import RequestFailed, Worker, worker_arguments
from dlbench.sync import trials

STREAM = f"{METHOD}, stream"
#: The number of the legacy default stream; the simulated device follows CUDA.
LEGACY = {"cuda": 1, "sim": 1, "rocm": 0}
CONSUMER = "native"
WAITS = {"host": "the host waits", "stream": "the stream waits", "none": "nothing waits"}


def rows(subject: Subject, protocol: str = "dlpack") -> list[Sync]:
    """The trials of its exchange with the native consumer, made once for a protocol."""
    assume(_kind(subject) in LEGACY, f"the array is on {subject.device}")
    assume(subject.producer is not None, "it has no adapter that makes arrays")
    if protocol not in subject.trials:
        try:
            subject.trials[protocol] = [Sync(row) for row in _tried(subject, protocol)]
        except RequestFailed as failure:
            subject.trials[protocol], subject.why_no_trials[protocol] = [], str(failure)
    why = subject.why_no_trials.get(protocol, "dlbench cannot keep its queue busy")
    assume(subject.trials[protocol], why)
    return subject.trials[protocol]


def _kind(subject: Subject) -> str:
    return Device.parse(subject.device).kind


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


def observe(
    subject: Subject, stream: int | str | None, reads_on: str, protocol: str = "dlpack"
) -> str:
    """What waits in a trial; Broken where the text demands something else."""
    tried = rows(subject, protocol)
    row = next((one for one in tried if (one.stream, one.reads_on) == (stream, reads_on)), None)
    assume(row is not None, "there is no such trial on this device")
    assert row is not None
    if row.code == codes.WORKER_ENDED:
        raise Broken(row.reason)
    if row.waits not in WAITS and not row.is_against_text:
        raise NotApplicable(row.reason or row.waits)
    if row.is_against_text:
        seen = f", and {row.content} content is read" if row.content else ""
        raise Broken(f"{WAITS.get(row.waits, row.waits)}{seen}")
    return WAITS[row.waits]


def _add(name: str, sentence: str, stream: int | str | None, reads_on: str) -> None:
    # The trials begin again in a new worker after each value that ends one.
    @producer_rule(f"export.order-{name}", STREAM, sentence, workers=4)
    def order(subject: Subject) -> str:
        named = LEGACY.get(_kind(subject)) if stream == "legacy" else stream
        return observe(subject, named, reads_on)


_add(
    "omitted",
    "without the argument, work on the legacy default stream comes after the producer's",
    "omitted",
    "legacy",
)
_add(
    "none",
    "with None, work on the legacy default stream comes after the producer's",
    None,
    "legacy",
)
_add(
    "legacy",
    "with 1 on CUDA, 0 on ROCm, work on the legacy default stream comes after the producer's",
    "legacy",
    "legacy",
)
_add(
    "per-thread",
    "with 2 on CUDA, work on the per-thread default stream comes after the producer's",
    2,
    "per-thread",
)
_add(
    "handle",
    "with the number of a stream, work on that stream comes after the producer's",
    "own",
    "own",
)
_add(
    "minus-one",
    "with -1, the producer does not synchronize",
    -1,
    "own",
)
_add(
    "host",
    "an export with `dl_device` CPU is complete when it returns",
    "omitted",
    "host",
)


@producer_rule("c-api.work-stream", f"{EXCHANGE_API}.current_work_stream", workers=4)
def work_stream(subject: Subject) -> str:
    """work on the stream that current_work_stream names comes after the producer's"""
    subject.api("current_work_stream")
    return observe(subject, "omitted", "work", "dlpack_c")
