"""C functions by ctypes: the caller takes the address from each array."""

import ctypes

import numpy as np

from dlbench.adapter import call_library, written_function

DISTRIBUTION = None
DEFAULT = False

SCRIPT = {
    "call |data_ptr": """
c_body = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * [[n]])(body)
def function([[_]]):
    c_body([[_.[[ctypes.data|data_ptr()]]]])
""",
    "call ndpointer": """
c_body = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * [[n]])(body)
function = ctypes.CFUNCTYPE(None)(ctypes.cast(c_body, ctypes.c_void_p).value)
kind = np.ctypeslib.ndpointer(np.float32, ndim=1, flags="C_CONTIGUOUS")
function.argtypes = [kind] * [[n]]
""",
}


def function(arrays, kind=ctypes.c_void_p):
    """The C function of so many pointers."""
    made = ctypes.CFUNCTYPE(None, *[kind] * arrays)
    return made(call_library().dlbench_call_function(arrays))


def checked(arrays):
    kind = np.ctypeslib.ndpointer(np.float32, ndim=1, flags="C_CONTIGUOUS")
    made = ctypes.CFUNCTYPE(None)(call_library().dlbench_call_function(arrays))
    made.argtypes = [kind] * arrays
    return made


PROTOCOLS = {
    "call": lambda n: written_function(n, "function({_.ctypes.data})", function=function(n)),
}
CALLS = {
    "data_ptr": {
        "call": lambda n: written_function(n, "function({_.data_ptr()})", function=function(n))
    },
    "ndpointer": {"call": checked},
}


def extras(array):
    return {}
