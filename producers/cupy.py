"""CuPy arrays, which lie on GPUs alone."""

import cupy

from dlbench.adapter import require_own_layout

DISTRIBUTION = ("cupy-cuda13x", "cupy-cuda12x", "cupy-rocm-7-0", "cupy")
DEVICES = ("cuda:0", "rocm:0")

values = cupy.asnumpy


def devices():
    kind = "rocm" if cupy.cuda.runtime.is_hip else "cuda"
    return [f"{kind}:{number}" for number in range(cupy.cuda.runtime.getDeviceCount())]


def make(case, device):
    require_own_layout(case, "CuPy")
    cupy.cuda.Device(int(device.partition(":")[2])).use()
    return cupy.asarray(case.numpy())


def ready(array):
    array.device.synchronize()


def address(array):
    return array.data.ptr
