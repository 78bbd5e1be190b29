"""tinygrad tensors, without an attribute of a protocol; `Tensor.data()` returns a memoryview."""

import functools
import os

from dlbench.adapter import clang

os.environ.setdefault("CC", clang())

from tinygrad import Device, Tensor

SCRIPT = {
    "before": "os.environ.setdefault('CC', clang())",
    "make": "array = Tensor(source, device='CPU').realize()",
    "memory": "np.asarray({array}.data())",
    "ready": "{array}.realize()",
}

DEVICES = ("cpu", "cuda", "rocm")
EXPORTS = {"buffer": Tensor.data}
KINDS = {"CPU": "cpu", "CUDA": "cuda:0", "NV": "cuda:0", "AMD": "rocm:0"}


@functools.cache
def _available():
    names = [name for name in Device.get_available_devices() if name in KINDS]
    if not names:
        Device["CPU"]  # raises if the device does not work
    return {KINDS[name]: name for name in names}


def devices():
    return list(_available())


def make(case, device):
    return Tensor(case.numpy(), device=_available()[device]).realize()


def ready(tensor):
    tensor.realize()
    Device[tensor.device].synchronize()


def values(tensor):
    # A view of no elements has one dimension.
    return tensor.data() if tensor.numel() else tensor.numpy()
