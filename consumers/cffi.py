"""C functions by cffi: the caller takes a buffer from each array."""

import functools

import cffi

from dlbench.adapter import call_library, compiled_module, function_of, written_function

DEFAULT = False

SCRIPT = {
    "call": """
import ctypes
c_body = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * [[n]])(body)
maker = cffi.FFI()
c_function = maker.cast("void (*)([[void *]])", ctypes.cast(c_body, ctypes.c_void_p).value)
def function([[_]]):
    c_function([[maker.from_buffer(_)]])
""",
    "call api": """
maker = cffi.FFI()
maker.cdef("void call([[void *]]);")
source = "static void call([[void *_]]) { body({[[_]]}); }"
maker.set_source("binding", source, source_extension=".cpp")
made = f"{FOLDER.name}/cffi.cpp"
maker.emit_c_code(made)
c_function = built(open(made).read()).lib.call
def function([[_]]):
    c_function([[maker.from_buffer(_)]])
""",
}

ffi = cffi.FFI()


BUILDS = {"api": "call/cffi_api.py"}


def with_buffers(function, arrays):
    """The C function of so many pointers, called with the buffer of each array."""
    body = "function({buffer(_)})"
    return written_function(arrays, body, function=function, buffer=ffi.from_buffer)


def by_abi(arrays):
    kind = f"void (*)({', '.join(['void *'] * arrays) or 'void'})"
    return with_buffers(ffi.cast(kind, call_library().dlbench_call_function(arrays)), arrays)


@functools.cache
def library():
    return compiled_module(__file__, BUILDS["api"]).lib


def by_api(arrays):
    return with_buffers(function_of(library, "call")(arrays), arrays)


PROTOCOLS = {"call": by_abi}
CALLS = {"api": {"call": by_api}}


def extras(array):
    return {}
