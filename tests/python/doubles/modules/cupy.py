"""What dlbench's adapter calls of CuPy, on the fake drivers; DLBENCH_DOUBLE_HIP=1: on ROCm."""

from __future__ import annotations

import contextlib
import os
from types import SimpleNamespace
from typing import Any

import device_library

HIP = os.environ.get("DLBENCH_DOUBLE_HIP") == "1"
LIBRARY = device_library.Library("rocm" if HIP else "cuda")

asnumpy = LIBRARY.to_numpy


class Device:
    def __init__(self, number: int) -> None:
        self.number = number

    def use(self) -> None:
        pass

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def synchronize(self) -> None:
        LIBRARY.driver("wait_device")


class ndarray(device_library.Array):  # noqa: N801
    device = Device(0)

    def __dlpack__(self, *, stream: int | None = None, **words: Any) -> Any:
        if HIP and stream in (1, 2):
            raise ValueError(f"stream {stream} is not supported on ROCm")
        return super().__dlpack__(stream=stream, **words)

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ptr)


def _typed(array: device_library.Array) -> Any:
    array.__class__ = ndarray
    return array


def asarray(source: Any) -> Any:
    return source if isinstance(source, ndarray) else _typed(LIBRARY.from_numpy(source))


def broadcast_to(array: Any, shape: tuple[int, ...]) -> Any:
    raise NotImplementedError("strides of 0")


def from_dlpack(source: Any) -> Any:
    return _typed(LIBRARY.from_dlpack(source))


def _external_stream(handle: int, device: int) -> contextlib.AbstractContextManager[None]:
    return LIBRARY.on_stream(handle)


cuda = SimpleNamespace(
    runtime=SimpleNamespace(is_hip=HIP, getDeviceCount=lambda: 1),
    Device=Device,
    get_current_stream=lambda: SimpleNamespace(ptr=LIBRARY.current),
    ExternalStream=_external_stream,
)
