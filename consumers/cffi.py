"""C functions by cffi's ABI mode: the caller takes a buffer from each array."""

import cffi

from dlbench.adapter import call_library, written_function

DEFAULT = False

ffi = cffi.FFI()


def function(arrays):
    """The C function of so many pointers, called with the buffer of each array."""
    kind = f"void (*)({', '.join(['void *'] * arrays) or 'void'})"
    made = ffi.cast(kind, call_library().dlbench_call_function(arrays))
    return written_function(arrays, "function({buffer(_)})", function=made, buffer=ffi.from_buffer)


PROTOCOLS = {"call": function}


def extras(array):
    return {}
