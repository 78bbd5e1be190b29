"""Types with any buffer that a test describes: Python before 3.12 has no `__buffer__`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any


class Buffer(ctypes.Structure):
    """CPython's Py_buffer."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


GET = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Buffer), ctypes.c_int)
#: Of `tp_as_buffer` in a PyTypeObject: 3 words of the head, then those before it.
SLOT = 20 * ctypes.sizeof(ctypes.c_void_p)


def buffer_type(fill: Callable[[Buffer, int], int]) -> type:
    """A class whose buffers `fill` describes; it returns what the slot does, 0 or -1."""

    def get(x: int, view: Any, _flags: int) -> int:
        view[0] = Buffer()
        status = fill(view[0], x)
        if status == 0:
            view[0].obj = x
            ctypes.pythonapi.Py_IncRef(ctypes.c_void_p(x))
        return status

    made = type("Forged", (), {"kept": GET(get)})
    slots = ctypes.c_void_p.from_address(id(made) + SLOT).value
    assert slots is not None
    ctypes.c_void_p.from_address(slots).value = ctypes.cast(made.kept, ctypes.c_void_p).value  # type: ignore[attr-defined]
    return made
