"""What dlbench's adapters call of JAX, on the fake CUDA driver.

Streams as in jax 0.10 and openxla/xla:
- Work runs on a stream of the runtime's own, which no public function names. An array has an event
  that is recorded after the work (xla/pjrt/local_device_state.cc; BufferSequencingEvent).
- Import: `from_dlpack` (jax/_src/dlpack.py) passes what `get_stream_for_external_ready_events`
  returns, which is another one of four streams in each call
  (LocalDeviceState::GetExternalReadyEventStream, xla/pjrt/local_device_state.cc). The event of the
  result is recorded there; later work waits for it.
- Export: `__dlpack__(stream=None)` waits on the host. Any other number, 1, 2 and -1 too, is used as
  a stream's handle, which waits for the event (BufferToDLPackManagedTensor, jaxlib/dlpack.cc;
  TrackedDeviceBuffer::WaitUntilBufferReadyOnStream, xla/pjrt/tracked_device_buffer.h).
- A loop whose condition is on the device blocks the host in each turn (WhileThunk,
  xla/backends/gpu/runtime/while_thunk.cc): `jit` here runs it on the host, at 8 us for each turn.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import device_library
import numpy as np

READY_STREAMS = 4
TURN_S = 8e-6


class Device:
    def __init__(self, kind: str, number: int) -> None:
        self.platform, self.id = kind, number
        if kind == "cpu":
            return
        self.library = device_library.Library(kind, number=number)
        driver = self.library.driver
        self.compute = driver.made("stream", 1)
        self.library.streams = [self.compute]
        self._ready_streams = itertools.cycle(
            driver.made("stream", 1) for _ in range(READY_STREAMS)
        )

    def get_stream_for_external_ready_events(self) -> int:
        return next(self._ready_streams)

    def recorded(self, stream: int) -> int:
        """A new event behind the present work of the stream."""
        driver = self.library.driver
        event = driver.made("event", 2)
        driver("record", event, stream)
        return event


GPUS = [
    Device("cuda", number)
    for number in range(device_library.Driver("cuda").number_from("device_count"))
]
CPUS = [Device("cpu", 0)]
GPUS[0].library.driver.enter()
_default = [CPUS[0]]


def devices(kind: str) -> list[Device]:
    if kind == "rocm":
        raise RuntimeError("Unknown backend rocm")
    return CPUS if kind == "cpu" else GPUS


@contextlib.contextmanager
def default_device(device: Device) -> Iterator[None]:
    _default.append(device)
    yield
    _default.pop()


class Array:
    """`array`: NumPy's on the CPU, a device_library.Array on a GPU with the event of its work."""

    def __init__(self, device: Device, array: Any, event: int = 0) -> None:
        self.device, self.array, self.event = device, array, event
        self.dtype = array.dtype

    def unsafe_buffer_pointer(self) -> int:
        on_cpu = self.device.platform == "cpu"
        return int(self.array.ctypes.data if on_cpu else self.array.ptr)

    def block_until_ready(self) -> Array:
        if self.event:
            self.device.library.driver("wait_event", self.event)
        return self

    def __add__(self, other: int) -> Array:
        if not self.event:
            return Array(self.device, self.array + np.asarray(other, self.dtype))
        assert other == 0
        library = self.device.library
        library.driver("order", self.device.compute, self.event, 0)
        block = device_library.Block(library, self.array.size)
        made = device_library.Array(
            library, block.address, self.array.shape, self.dtype, (block, self)
        )
        library.driver.copy(made.ptr, self.array.ptr, made.size, self.device.compute)
        return Array(self.device, made, self.device.recorded(self.device.compute))

    def __dlpack_device__(self) -> tuple[int, int]:
        where: tuple[int, int] = self.array.__dlpack_device__()
        return where

    def __dlpack__(self, *, stream: int | None = None, max_version: Any = None,
                   dl_device: Any = None, copy: bool | None = None) -> Any:  # fmt: skip
        if not self.event:
            return self.array.__dlpack__()
        if stream is None:
            self.block_until_ready()
        else:
            self.device.library.driver("order", stream, self.event, 0)
        return self.array.__dlpack__(stream=-1)


def block_until_ready(arrays: Any) -> Any:
    for array in arrays if isinstance(arrays, tuple) else (arrays,):
        array.block_until_ready()
    return arrays


def _from_dlpack(source: Any, device: Device | None = None, copy: bool | None = None) -> Array:
    kind, number = source.__dlpack_device__()
    if kind == 1:
        return Array(CPUS[0], np.from_dlpack(source))
    found = GPUS[number]
    stream = found.get_stream_for_external_ready_events()
    library = found.library
    array = library.from_capsule(source.__dlpack__(stream=stream))
    return Array(found, array, found.recorded(stream))


def _array(source: Any, dtype: Any = None, device: Device | None = None) -> Array:
    place = device or _default[-1]
    content = np.array(source, dtype)
    if place.platform == "cpu":
        return Array(place, content)
    return Array(place, place.library.from_numpy(content), place.recorded(place.compute))


def jit(function: Callable[..., Any], **_: Any) -> Callable[..., Any]:
    """Of the adapter's loop: the host makes each turn."""

    def called(zeros: Array, content: Array, turns: Array) -> Array:
        time.sleep(TURN_S * turns.device.library.to_numpy(turns.array).item())
        return content + 0

    return called


dlpack = SimpleNamespace(from_dlpack=_from_dlpack)
lax = SimpleNamespace()
numpy = SimpleNamespace(
    array=_array,
    asarray=_array,
    ones=lambda count, device=None: _array(np.ones(count, "f4"), device=device),
    zeros_like=lambda array: _array(np.zeros(array.array.shape, array.dtype), device=array.device),
    int32="i4",
    uint32="u4",
)
sys.modules["jax.numpy"] = numpy  # type: ignore[assignment]
