"""TVM FFI imports: one call, which uses the C exchange API if the type has one."""

import functools

import tvm_ffi

from dlbench.adapter import compiled, function_of

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
