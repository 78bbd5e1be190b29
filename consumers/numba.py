"""Numba imports: NumPy arrays and buffers as arguments of compiled functions, and device arrays."""

import ctypes
import functools

import numba
import numpy as np
from llvmlite import ir
from numba import cuda, types
from numba.core.extending import overload
from numba.np.numpy_support import as_dtype

from dlbench.adapter import call_library, keywords, written_function
from dlbench.call_kernel import record_address, statements

SCRIPT = {
    "call": """
c_body = ctypes.CFUNCTYPE(None, *[ctypes.c_size_t] * [[n]])(body)
@numba.njit
def function([[_]]):
    c_body([[_.ctypes.data]])
""",
    "call cfunc": """
c_body = ctypes.CFUNCTYPE(None, *[ctypes.c_size_t] * [[n]])(body)
@numba.cfunc(types.void([[types.intp]]))
def made([[_]]):
    c_body([[_]])
def function([[_]]):
    made.ctypes([[_.ctypes.data]])
""",
}


def as_array(given):
    """The argument as an array of the compiled code; Numba returns it as a NumPy array."""


def as_array_of_type(given):
    if isinstance(given, types.Array):
        return lambda given: given
    dtype = as_dtype(given.dtype)
    return lambda given: np.frombuffer(given, dtype)


overload(as_array)(as_array_of_type)


@numba.njit
def import_array(given):
    return as_array(given)


def body(arrays, address):
    """A function that passes the `address` of each of so many arguments to C code."""
    library = call_library()
    argument, end = library.dlbench_call_argument, library.dlbench_call_end
    argument.restype = end.restype = None
    argument.argtypes, end.argtypes = [ctypes.c_size_t, ctypes.c_size_t], [ctypes.c_size_t]
    steps = [f"argument({i}, a{i}{address})" for i in range(arrays)]
    text = "; ".join([*steps, f"end({arrays})"])
    return written_function(arrays, text, argument=argument, end=end)


def compiled_for_c(arrays):
    """A C function by `numba.cfunc`; the caller takes the address from each NumPy array."""
    signature = types.void(*[types.intp] * arrays)
    function = numba.cfunc(signature)(body(arrays, "")).ctypes
    return written_function(arrays, "function({_.ctypes.data})", function=function)


def compiled_function(arrays):
    return numba.njit(body(arrays, ".ctypes.data"))


@functools.cache
def pointer():
    """A function of kernels: the words at an address."""
    word = ir.IntType(64).as_pointer()

    def code(context, builder, signature, given):
        return builder.inttoptr(given[0], word)

    def typed(typing_context, given):
        return cuda.types.CPointer(cuda.types.int64)(cuda.types.uint64), code

    return cuda.extending.intrinsic(typed)


def configured_kernel(arrays):
    # Few blocks are what is wanted here.
    numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    text = f"r = pointer({record_address()}); {statements(arrays, '_.ctypes.data')}"
    return cuda.jit(written_function(arrays, text, pointer=pointer()))[1, 1]


PROTOCOLS = {
    "buffer": import_array,
    "cuda_array_interface": cuda.as_cuda_array,
    "convert": import_array,
    "call": compiled_function,
}
LAUNCHES = {"cuda.jit": "cuda"}
CALLS = {
    "cfunc": {"call": compiled_for_c},
    "cuda.jit": {"call": configured_kernel},
    "keywords": {"call": lambda arrays: keywords(compiled_function(arrays), arrays)},
}


def extras(array):
    return {}
