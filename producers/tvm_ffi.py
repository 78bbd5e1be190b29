"""TVM FFI tensors: views of NumPy memory, since its Python side allocates none."""

import tvm_ffi

from dlbench.adapter import require

DISTRIBUTION = "apache-tvm-ffi"


def make(case, device):
    require(not case.readonly, "TVM FFI has no read-only tensors")
    return tvm_ffi.from_dlpack(case.numpy())


def address(array):
    return array.data_ptr()
