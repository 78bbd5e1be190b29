"""What dlbench's adapters call of TensorFlow, on the fake CUDA driver.

Streams as in tensorflow 2.21:
- Work runs on a stream of the device that blocks no default stream and that no public function
  names (BaseGPUDevice::StreamGroupFactory, core/common_runtime/gpu/gpu_device.cc).
- Import: `from_dlpack` accepts a capsule, so no stream is passed, and nothing makes TensorFlow's
  stream wait (TFE_HandleFromDLPack, tensorflow/c/eager/dlpack.cc).
- Export: waits on the host for the whole device (TFE_TensorHandleDevicePointer,
  tensorflow/c/eager/c_api.cc: `device->Sync()`), and refuses a stream that is not None
  (`__dlpack__`, tensorflow/python/framework/ops.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import device_library
import numpy as np

COUNT = device_library.Driver("cuda").number_from("device_count")
LIBRARIES = [device_library.Library("cuda", number=number) for number in range(COUNT)]
for _library in LIBRARIES:
    _library.streams = [_library.driver.made("stream", 1)]
LIBRARIES[0].driver.enter()
_devices = ["CPU:0"]


@contextlib.contextmanager
def device(name: str) -> Iterator[None]:
    _devices.append(name)
    yield
    _devices.pop()


class EagerTensor:
    """`array`: NumPy's on the CPU, a device_library.Array on a GPU."""

    def __init__(self, array: Any) -> None:
        self.array, self.dtype, self.shape = array, array.dtype, array.shape

    def __add__(self, other: int) -> EagerTensor:
        if isinstance(self.array, np.ndarray):
            return EagerTensor(self.array + np.asarray(other, self.dtype))
        assert other == 0
        library = self.array.library
        block = device_library.Block(library, self.array.size)
        made = device_library.Array(library, block.address, self.shape, self.dtype, (block, self))
        library.driver.copy(made.ptr, self.array.ptr, made.size, library.current)
        return EagerTensor(made)

    def __dlpack_device__(self) -> tuple[int, int]:
        where: tuple[int, int] = self.array.__dlpack_device__()
        return where

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Any = None) -> Any:  # fmt: skip
        if stream is not None:
            raise RuntimeError("tf.Tensor does not support DLPack export with a non-None stream")
        return _to_dlpack(self)


def _to_dlpack(tensor: EagerTensor) -> Any:
    if isinstance(tensor.array, np.ndarray):
        return tensor.array.__dlpack__()
    tensor.array.library.driver("wait_device")
    return tensor.array.__dlpack__(stream=-1)


def _from_dlpack(capsule: Any) -> EagerTensor:
    return EagerTensor(LIBRARIES[0].from_capsule(capsule))


class Variable(EagerTensor):
    """Not made here."""


def constant(source: Any) -> EagerTensor:
    kind, _, number = _devices[-1].partition(":")
    content = np.array(source)
    return EagerTensor(content if kind == "CPU" else LIBRARIES[int(number)].from_numpy(content))


convert_to_tensor = constant


def function(**_: Any) -> Callable[[Any], Any]:
    return lambda function: function


test = SimpleNamespace(is_built_with_rocm=lambda: False)
config = SimpleNamespace(list_logical_devices=lambda kind: [f"{kind}:{i}" for i in range(COUNT)])
experimental = SimpleNamespace(
    dlpack=SimpleNamespace(to_dlpack=_to_dlpack, from_dlpack=_from_dlpack)
)
