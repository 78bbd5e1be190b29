"""What dlbench's adapters call of Paddle, on the fake drivers; DLBENCH_DOUBLE_HIP=1: on ROCm.

Streams as in paddle 3.3:
- Export: the stream that the argument names waits for the current one. None names the legacy
  default stream, as 1 does on CUDA and 0 on ROCm; 0 and 2 are refused on CUDA, 1 and 2 on ROCm
  (Tensor.__dlpack__, python/paddle/base/dygraph/tensor_patch_methods.py).
- Import: passes the current stream, 1 for CUDA's default one, and none to an array on ROCm
  (from_dlpack, python/paddle/utils/dlpack.py: only kDLCUDA is looked for).
- A scope sets the current stream and orders nothing (stream_guard, python/paddle/device).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import device_library
import numpy as np

HIP = os.environ.get("DLBENCH_DOUBLE_HIP") == "1"
LIBRARY = device_library.Library("rocm" if HIP else "cuda")
REFUSED = (1, 2) if HIP else (0, 2)
CUDA = 2  # of DLDeviceType


class Tensor(device_library.Array):
    stop_gradient = True

    def __dlpack__(self, *, stream: int | None = None, **words: Any) -> Any:
        if stream in REFUSED:
            raise ValueError(f"stream={stream} is not supported")
        return super().__dlpack__(stream=stream, **words)

    def detach(self) -> Tensor:
        return self

    def data_ptr(self) -> int:
        return self.ptr

    def numpy(self) -> Any:
        return LIBRARY.to_numpy(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.numpy()


def _typed(array: Any) -> Tensor:
    array.__class__ = Tensor
    return array  # type: ignore[no-any-return]


def is_compiled_with_rocm() -> bool:
    return HIP


def CUDAPlace(number: int) -> int:  # noqa: N802
    return number


def to_tensor(source: Any, place: int = 0) -> Tensor:
    return source if isinstance(source, Tensor) else _typed(LIBRARY.from_numpy(np.asarray(source)))


def from_dlpack(source: Any) -> Tensor:
    passed = {"stream": LIBRARY.named()} if source.__dlpack_device__()[0] == CUDA else {}
    return _typed(LIBRARY.from_capsule(source.__dlpack__(max_version=(1, 2), **passed)))


class Stream:
    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def _get_stream_from_external(handle: int, device: str) -> Stream:
    return Stream(handle)


@contextlib.contextmanager
def _stream_guard(stream: Stream) -> Iterator[None]:
    with LIBRARY.on_stream(stream.handle):
        yield


device = SimpleNamespace(
    cuda=SimpleNamespace(device_count=lambda: 1),
    current_stream=lambda place: Stream(LIBRARY.current),
    get_stream_from_external=_get_stream_from_external,
    stream_guard=_stream_guard,
)
