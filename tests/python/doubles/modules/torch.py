"""What dlbench's adapters call of PyTorch, on the fake drivers; DLBENCH_DOUBLE_HIP=1: on ROCm.

Streams as in PyTorch 2.13: it exports from its current device alone, and for no stream or the
default one it orders the default stream after the current one, which need not be the same. It
imports by passing 1 for CUDA's default stream, and 0 for ROCm's. ExternalStream(0) is a stream of
its pool, as observed with PyTorch 2.11.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import device_library
import numpy as np

HIP = os.environ.get("DLBENCH_DOUBLE_HIP") == "1"
KIND = "rocm" if HIP else "cuda"
COUNT = device_library.Driver(KIND).number_from("device_count")
LIBRARIES = [device_library.Library(KIND, number=number) for number in range(COUNT)]
LIBRARIES[0].driver.enter()

version = SimpleNamespace(hip="7.0" if HIP else None)
strided = "strided"


def broadcast_to(array: Any, shape: tuple[int, ...]) -> Any:
    raise NotImplementedError("strides of 0")


def _current_device() -> int:
    """The driver's: another library in the thread may set it."""
    return LIBRARIES[0].driver.number_from("current_device")


def _set_device(device: int) -> None:
    LIBRARIES[device].driver.enter()


def _number_of(device: str | int | None) -> int:
    if device is None:
        return _current_device()
    return device if isinstance(device, int) else int(device.partition(":")[2] or 0)


class Stream:
    def __init__(self, device: int, handle: int) -> None:
        self.device, self.cuda_stream = device, handle

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class _StreamContext:
    """A stream, and with it its device, is current inside."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        self.former = _current_device()
        LIBRARIES[self.stream.device].streams.append(self.stream.cuda_stream)
        _set_device(self.stream.device)

    def __exit__(self, *_: object) -> None:
        LIBRARIES[self.stream.device].streams.pop()
        _set_device(self.former)


def _current_stream(device: str | int | None = None) -> Stream:
    number = _number_of(device)
    return Stream(number, LIBRARIES[number].current)


def _external_stream(handle: int, device: int | None = None) -> Stream:
    number = _number_of(device)
    return Stream(number, handle or LIBRARIES[number].driver.made("stream", 1))


cuda = SimpleNamespace(
    device_count=lambda: COUNT,
    is_available=lambda: COUNT > 0,
    set_device=_set_device,
    current_device=_current_device,
    current_stream=_current_stream,
    stream=_StreamContext,
    default_stream=lambda device: Stream(device, 0),
    ExternalStream=_external_stream,
)


class Tensor:
    requires_grad = False
    layout = strided

    def __init__(self, host: Any, array: device_library.Array | None = None) -> None:
        self.host, self.array = host, array

    def to(self, device: str) -> Tensor:
        former = _current_device()
        _set_device(_number_of(device))
        try:
            return Tensor(None, LIBRARIES[_number_of(device)].from_numpy(self.host))
        finally:
            _set_device(former)

    def detach(self) -> Tensor:
        return self

    def data_ptr(self) -> int:
        return int(self.host.ctypes.data) if self.array is None else self.array.ptr

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.array is None else self.array.__dlpack_device__()

    def __dlpack__(
        self, *, stream: int | None = -1, max_version: Any = None, dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:  # fmt: skip
        if self.array is None:
            return self.host.__dlpack__(max_version=max_version)
        assert stream not in ((1, 2) if HIP else (0,)), f"unsupported stream {stream}"
        number = self.array.library.driver.number
        if number != _current_device():
            raise BufferError(
                f"Can't export tensors on a different CUDA device index. Expected: {number}. "
                f"Current device: {_current_device()}."
            )
        if stream == 2 and not HIP:
            raise BufferError("per-thread default stream is not supported.")
        if stream != -1:
            wanted = 0 if stream in (None, 0 if HIP else 1) else stream
            library = self.array.library
            if wanted != library.current:
                library.driver.order(library.current, wanted)
        return self.array.__dlpack__(stream=-1, dl_device=dl_device, max_version=max_version)


def from_numpy(source: Any) -> Tensor:
    return Tensor(source)


def from_dlpack(source: Any, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    kind, number = source.__dlpack_device__()
    if kind == 1:
        return Tensor(np.from_dlpack(source))
    library = LIBRARIES[number]
    return Tensor(None, library.from_dlpack(source, library.named()))


def as_tensor(source: Any, *, device: str | None = None) -> Tensor:
    raise NotImplementedError
