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


# Offset in bytes of DLTensor's type code, after `data`, `device` and `ndim`.
TYPE_CODE = 20


class Retyped:
    """Exports unsigned integers as another dtype of their width, which NumPy does not have."""

    def __init__(self, bits, dtype):
        self.bits, self.code = bits, tvm_ffi.dtype(dtype).type_code

    def __dlpack_device__(self):
        return self.bits.__dlpack_device__()

    def __dlpack__(self, **_):
        capsule = self.bits.__dlpack__()
        tensor = capsule_pointer(capsule, b"dltensor")
        ctypes.c_uint8.from_address(tensor + TYPE_CODE).value = self.code
        return capsule


def make(case, device):
    if device == "cpu":
        require(not case.special, f"{case.special} memory needs a device: --devices cuda:0")
        if case.foreign:
            is_whole = tvm_ffi.dtype(case.dtype).bits >= 8
            require(is_whole, f"DLPack's legacy struct has no padded {case.dtype}")
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
