"""The streams that `__dlpack__` must accept, and those that it must refuse."""

from __future__ import annotations

from typing import Any

from dlbench.check.reading import describe_error, on_error
from dlbench.check.rule import METHOD, producer_rule
from dlbench.check.rules.export_call import device_of
from dlbench.check.situation import COPY, HOST, NO_COPY, STRUCTS, Variant, combined
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, Unclear, assume
from dlbench.device import DLPACK_TYPES

STREAM = f"{METHOD}, stream"
REFUSED = "array.__dlpack__({call})"


def with_streams(*streams: int) -> tuple[Variant, ...]:
    """Each stream alone, and beside each other keyword."""
    words = [{"stream": stream} for stream in streams]
    return combined(combined(STRUCTS, {}, COPY, NO_COPY, HOST), *words)


def refused(subject: Subject, word: str, kind: str, stream: int, **keywords: Any) -> str:
    """The error by which the stream is refused; Broken where it is accepted. The control is the
    same call without a stream."""
    array, _ = subject.exporter_of(word, [*keywords, "stream"])
    device = device_of(array)
    assume(device[0] == DLPACK_TYPES[kind], f"the array is not on {kind}")
    with on_error(NotApplicable, "without a stream: "):
        array.__dlpack__(**keywords)
    try:
        array.__dlpack__(**keywords, stream=stream)
    except Exception as error:
        return f"refused: {describe_error(error)}"
    raise Broken("it is accepted")


@producer_rule(
    "export.stream-host",
    STREAM,
    f"for CPU memory, only the stream None is accepted\n\n{REFUSED}",
    arrays=("line", "strided", "empty"),
    variants=with_streams(1, 2),
    raises="Exception",
)
def stream_host(subject: Subject, word: str, **keywords: Any) -> str:
    return refused(subject, word, "cpu", **keywords)


@producer_rule(
    "export.stream-host-minus-one",
    STREAM,
    f"stream=-1 for memory of the CPU\n\n{REFUSED}",
    verdict="unclear",
    variants=with_streams(-1),
    raises="Exception",
)
def stream_minus_one(subject: Subject, word: str, **keywords: Any) -> str:
    try:
        return refused(subject, word, "cpu", **keywords)
    except Broken:
        raise Unclear(
            "it is accepted: a consumer may send -1 for 'do not synchronize', yet on the CPU only "
            "None is accepted"
        ) from None


@producer_rule(
    "export.stream-cuda-zero",
    STREAM,
    f"on CUDA, stream=0 is refused, because it is ambiguous\n\n{REFUSED}",
    variants=combined(STRUCTS, {"stream": 0}),
    raises="Exception",
)
def stream_cuda_zero(subject: Subject, word: str, **keywords: Any) -> str:
    return refused(subject, word, "cuda", **keywords)


@producer_rule(
    "export.stream-rocm-one",
    STREAM,
    f"on ROCm, the streams 1 and 2 are refused\n\n{REFUSED}",
    variants=combined(STRUCTS, {"stream": 1}, {"stream": 2}),
    raises="Exception",
)
def stream_rocm_one(subject: Subject, word: str, **keywords: Any) -> str:
    return refused(subject, word, "rocm", **keywords)
