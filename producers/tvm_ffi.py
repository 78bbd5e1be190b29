"""TVM FFI tensors, which allocate no memory from Python: views of NumPy's memory on the CPU, of the
native producer's on a device.
"""

import ctypes

import tvm_ffi

from dlbench import _native_producer
from dlbench.adapter import capsule_pointer, require

SCRIPT = {"make": "array = tvm_ffi.from_dlpack(source)", "make foreign": ""}

DISTRIBUTION = "apache-tvm-ffi"
DEVICES = ("cpu", "cuda", "rocm")
SPECIAL = ("pinned", "managed")


# Offset in bytes of DLTensor's dtype, after `data`, `device` and `ndim`: its code, then its bits.
DTYPE = 20


class Retyped:
    """Exports unsigned integers as another dtype, which NumPy does not have."""

    def __init__(self, bits, dtype):
        self.bits, self.dtype = bits, tvm_ffi.dtype(dtype)

    def __dlpack_device__(self):
        return self.bits.__dlpack_device__()

    def __dlpack__(self, **_):
        capsule = self.bits.__dlpack__()
        tensor = capsule_pointer(capsule, b"dltensor")
        stated = (ctypes.c_uint8 * 2).from_address(tensor + DTYPE)
        stated[:] = self.dtype.type_code, self.dtype.bits
        return capsule


def make(case, device):
    if device == "cpu":
        require(not case.special, f"{case.special} memory needs a device: --devices cuda:0")
        if case.foreign:
            return tvm_ffi.from_dlpack(Retyped(case.bits(), case.dtype))
        return tvm_ffi.from_dlpack(case.numpy())
    memory = case.special or "device"
    return tvm_ffi.from_dlpack(_native_producer.DeviceArray(case.numpy(0), device, memory=memory))


def address(array):
    return array.data_ptr()


def stream(device):
    return tvm_ffi.get_raw_stream(tvm_ffi.device(device))


def on_stream(device, handle):
    return tvm_ffi.use_raw_stream(tvm_ffi.device(device), handle)
