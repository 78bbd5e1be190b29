"""CuPy arrays, which exist only on GPUs."""

import contextlib

import cupy

from dlbench.adapter import split_device

SCRIPT = {
    "make cuda": ("cupy.cuda.Device({number}).use()\narray = cupy.asarray({unsliced}){slice}"),
}

DISTRIBUTION = ("cupy-cuda13x", "cupy-cuda12x", "cupy-rocm-7-0", "cupy")
DEVICES = ("cuda", "rocm")
SPECIAL = ("managed",)

values = cupy.asnumpy


def devices():
    kind = "rocm" if cupy.cuda.runtime.is_hip else "cuda"
    return [f"{kind}:{number}" for number in range(cupy.cuda.runtime.getDeviceCount())]


def make(case, device):
    cupy.cuda.Device(split_device(device)[1]).use()
    if case.special == "managed":
        with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
            return cupy.asarray(case.numpy())
    return case.sliced(cupy.asarray(case.unsliced(case.numpy())), cupy.broadcast_to)


def stream(device):
    with cupy.cuda.Device(split_device(device)[1]):
        return cupy.cuda.get_current_stream().ptr


@contextlib.contextmanager
def on_stream(device, handle):
    number = split_device(device)[1]
    with cupy.cuda.Device(number), cupy.cuda.ExternalStream(handle, number):
        yield


def address(array):
    return array.data.ptr
