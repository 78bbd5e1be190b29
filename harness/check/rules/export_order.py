"""The order that the argument `stream` makes, and the stream that the C exchange API names: the
trials of `--sync`, read as rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dlbench.check.rule import EXCHANGE_API, METHOD, producer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, assume
from dlbench.device import Device

if TYPE_CHECKING:
    from dlbench.document import Sync

STREAM = f"{METHOD}, stream"
#: The number of the legacy default stream; the simulated device follows CUDA.
LEGACY = {"cuda": 1, "sim": 1, "rocm": 0}
WAITS = {"host": "the host waits", "stream": "the stream waits", "none": "nothing waits"}


def rows(subject: Subject, protocol: str = "dlpack") -> list[Sync]:
    """The trials of its exchange with the native consumer, made once for a protocol."""
    assume(_kind(subject) in LEGACY, f"the array is on {subject.device}")
    assume(subject.producer is not None, "it has no adapter that makes arrays")
    if protocol not in subject.trials:
        try:
            from dlbench.check import order_trials
        except ImportError as error:
            raise NotApplicable(f"dlbench is not installed in this environment: {error}") from None
        found = order_trials.rows(subject, protocol)
        subject.trials[protocol], subject.why_no_trials[protocol] = found
    assume(subject.trials[protocol], subject.why_no_trials[protocol])
    return subject.trials[protocol]


def _kind(subject: Subject) -> str:
    return Device.parse(subject.device).kind


def observe(
    subject: Subject, stream: int | str | None, reads_on: str, protocol: str = "dlpack"
) -> str:
    """What waits in a trial; Broken where the text demands something else."""
    tried = rows(subject, protocol)
    row = next((one for one in tried if (one.stream, one.reads_on) == (stream, reads_on)), None)
    assume(row is not None, "there is no such trial on this device")
    assert row is not None
    from dlbench.document import codes

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
