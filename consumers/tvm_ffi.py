"""TVM FFI imports: one call, which uses the C exchange API if the type has one."""

import functools

import tvm_ffi

from dlbench.adapter import compiled, function_of

SCRIPT = {
    "call view|owned": """
library = built('''
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
using Tensor = tvm::ffi::[[TensorView|Tensor]];
static void *place(const Tensor &one) {
  return static_cast<char *>(one.data_ptr()) + one.byte_offset();
}
static void run([[Tensor _]]) { body({[[place(_)]]}); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call, run)
''', f"-I{folder_of('tvm_ffi')}/include", is_module=False)
function = tvm_ffi.load_module(library._name).call
""",
}

BUILDS = {"view": "call/tvm_ffi.cc", "owned": "call/tvm_ffi.cc"}


@functools.cache
def module():
    return tvm_ffi.load_module(compiled(__file__, BUILDS["view"]))


PROTOCOLS = {
    "dlpack": tvm_ffi.from_dlpack,
    "dlpack_c": tvm_ffi.from_dlpack,
    "convert": tvm_ffi.convert,
}
CALLS = {
    "view": {"call": function_of(module, "view")},
    "owned": {"call": function_of(module, "owned")},
}


def extras(array):
    return {}
