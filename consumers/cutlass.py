"""Kernels in CuTe DSL, CUTLASS's language in Python, which are launched on the default stream."""

import cutlass
from cutlass import cute
from cutlass.cute.runtime import from_dlpack, make_fake_tensor

from dlbench.adapter import written_function
from dlbench.call_kernel import LAST, record_address, statements

DISTRIBUTION = "nvidia-cutlass-dsl"
DEVICES = ("cuda",)
DEFAULT = False
LAUNCHES = {"": "cuda", "tvm_ffi": "cuda"}


def compiled_kernel(arrays, **options):
    """The function that launches a kernel with so many CuTe tensors."""
    names = {"cute": cute, "Int64": cutlass.Int64, "Tensor": cute.Tensor}
    record = f"cute.make_ptr(Int64, {record_address()}, cute.AddressSpace.gmem)"
    text = f"r = cute.make_tensor({record}, cute.make_layout({LAST + max(arrays, 1)})); "
    text += statements(arrays, "_.iterator.toint()")
    kernel = cute.kernel(written_function(arrays, text, "_: Tensor", **names))
    text = "kernel({_}).launch(grid=(1, 1, 1), block=(1, 1, 1))"
    launch = cute.jit(written_function(arrays, text, "_: Tensor", kernel=kernel, **names))
    each = [make_fake_tensor(cutlass.Float32, (cute.sym_int(),), (1,)) for _ in range(arrays)]
    return cute.compile(launch, *each, **options)


def taking_dlpack(arrays):
    names = {"function": compiled_kernel(arrays), "from_dlpack": from_dlpack}
    return written_function(arrays, "function({from_dlpack(_).mark_layout_dynamic()})", **names)


PROTOCOLS = {"call": taking_dlpack}
CALLS = {"tvm_ffi": {"call": lambda n: compiled_kernel(n, options="--enable-tvm-ffi")}}


def extras(array):
    return {}
