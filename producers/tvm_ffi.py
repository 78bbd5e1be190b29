"""TVM FFI tensors: views of others' memory, since its Python side allocates none.

NumPy's on the CPU, the native producer's on a device.
"""

import tvm_ffi

from dlbench import _native_producer
from dlbench.adapter import require

DISTRIBUTION = "apache-tvm-ffi"
DEVICES = ("cpu", "cuda", "rocm")
SPECIAL = ("pinned", "managed")


def make(case, device):
    require(not case.readonly, "TVM FFI has no read-only tensors")
    if device == "cpu":
        require(not case.special, f"{case.special} memory belongs to a device: --devices cuda:0")
        return tvm_ffi.from_dlpack(case.numpy())
    require(not case.foreign, "the native producer has the dtypes of the buffer protocol")
    memory = case.special or "device"
    return tvm_ffi.from_dlpack(_native_producer.DeviceArray(case.numpy(), device, memory=memory))


def address(array):
    return array.data_ptr()
