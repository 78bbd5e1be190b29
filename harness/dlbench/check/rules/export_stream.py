"""The streams that `__dlpack__` must accept, and those that it must refuse."""

from __future__ import annotations

from dlbench.check.reading import describe_error, on_error
from dlbench.check.rule import METHOD, producer_rule
from dlbench.check.rules.export_call import device_of
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, Unclear, assume
from dlbench.device import DLPACK_TYPES


@producer_rule("export.stream-host", f"{METHOD}, stream")
def stream_host(subject: Subject) -> str:
    """for CPU memory, only the stream None is accepted

    given = refused(lambda: array.__dlpack__(stream=1))
    """
    array = subject.exporter()
    assume(subject.device == "cpu", f"the array is on {subject.device}")
    with on_error(Holds, "stream=1 is refused: "):
        array.__dlpack__(stream=1)
    raise Broken("stream=1 is accepted")


@producer_rule("export.stream-host-minus-one", f"{METHOD}, stream", verdict="unclear")
def stream_minus_one(subject: Subject) -> str:
    """stream=-1 for memory of the CPU

    given = refused(lambda: array.__dlpack__(stream=-1))
    """
    array = subject.exporter()
    assume(subject.device == "cpu", f"the array is on {subject.device}")
    with on_error(Holds, "it is refused: "):
        array.__dlpack__(stream=-1)
    raise Unclear(
        "it is accepted: a consumer may send -1 for 'do not synchronize', yet on the CPU only None "
        "is accepted"
    )


def refused_streams(subject: Subject, kind: str, *streams: int) -> str:
    """Each stream is refused by arrays on a device of that kind."""
    array = subject.exporter()
    device = device_of(array)
    assume(device[0] == DLPACK_TYPES[kind], f"the array is not on {kind}")
    observed = []
    for stream in streams:
        try:
            array.__dlpack__(stream=stream)
        except Exception as error:
            observed.append(f"stream={stream} is refused: {describe_error(error)}")
        else:
            raise Broken(f"stream={stream} is accepted")
    return "; ".join(observed)


@producer_rule("export.stream-cuda-zero", f"{METHOD}, stream")
def stream_cuda_zero(subject: Subject) -> str:
    """on CUDA, stream=0 is refused, because it is ambiguous

    given = refused(lambda: array.__dlpack__(stream=0))
    """
    return refused_streams(subject, "cuda", 0)


@producer_rule("export.stream-rocm-one", f"{METHOD}, stream")
def stream_rocm_one(subject: Subject) -> str:
    """on ROCm, the streams 1 and 2 are refused

    given = refused(lambda: array.__dlpack__(stream=1))
    given = refused(lambda: array.__dlpack__(stream=2))
    """
    return refused_streams(subject, "rocm", 1, 2)
