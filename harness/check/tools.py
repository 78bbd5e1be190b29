"""What scripts have in common. Each script holds a copy of what it uses; nothing imports this."""

# mypy: ignore-errors
# ruff: noqa: F401, T201

import contextlib
import ctypes
import gc
import os
import resource
import sys
import time
import warnings
import weakref
from pathlib import Path
from struct import pack

import numpy as np

point = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def tensor_of(capsule):
    """Where the DLTensor lies: behind a header of 32 bytes in a versioned struct."""
    is_versioned = "versioned" in repr(capsule)
    return point(capsule, b"dltensor" + b"_versioned" * is_versioned) + 32 * is_versioned


def first_element(tensor):
    return sum(ctypes.c_uint64.from_address(tensor + at).value for at in (0, 40))


def consumed(capsule):
    """Renames the capsule; the addresses of its struct and its deleter."""
    is_versioned = "versioned" in repr(capsule)
    name = b"dltensor" + b"_versioned" * is_versioned
    struct = point(capsule, name)
    consumed.name = b"used_" + name  # the capsule does not keep it
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), consumed.name)
    return struct, ctypes.c_void_p.from_address(struct + (16 if is_versioned else 56)).value


def get_buffer(array, flags):
    """A Py_buffer's words: buf, obj, len, itemsize, readonly and ndim, format, shape, strides."""
    view = (ctypes.c_void_p * 10)()
    ctypes.PyDLL(None).PyObject_GetBuffer(ctypes.py_object(array), view, flags)
    return view


def given_by(struct, name):
    """NumPy's array of a struct."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p

    class Exported:
        __dlpack_device__ = lambda self: (1, 0)  # noqa: E731
        __dlpack__ = lambda self, **words: make(struct, name, None)  # noqa: E731

    return np.from_dlpack(Exported())


def array_of(array, **words):
    """What __array__ returns, called as NumPy does: with dtype by position."""
    dtypes = [each and np.dtype(each) for key, each in words.items() if key == "dtype"]
    return array.__array__(*dtypes, **{key: words[key] for key in words if key == "copy"})


def table_export(function, array):
    """The struct that the export of the C exchange API leaves."""
    export = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(function(24))
    struct = ctypes.c_void_p()
    assert export(array, ctypes.byref(struct)) == 0
    return struct.value


def table_allocate(function, code):
    """What the allocator of the C exchange API returns, leaves and complains of."""
    complaints = []
    shape = (ctypes.c_int64 * 2)(3, 5)
    words = 0, 1, 0, 2, code, 32, 1, ctypes.addressof(shape), 0, 0
    prototype = pack("=QiiiBBHQQQ", *words)
    set_error = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    report_error = set_error(lambda context, kind, message: complaints.append((kind, message)))
    allocate = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, set_error
    )(function(16))
    out = ctypes.c_void_p()
    try:
        status = allocate(prototype, ctypes.byref(out), None, report_error)
    except Exception as error:
        print("an exception is set:", repr(error))
        status = -1
    return status, out.value, complaints


def left(call, array):
    """Requires that many calls leave few objects, references and KiB; the first fill caches."""

    def used():
        gc.collect()
        time.sleep(0.5)  # a library may free in threads of its own
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        kib = pages * resource.getpagesize() // 1024
        return np.array([sys.getallocatedblocks(), sys.getrefcount(array), kib])

    for count in (20_000, 50_000):
        before = used()
        for _ in range(count):
            call()
        more = used() - before
    assert (more < (500, 500, 4_000)).all(), f"{count} leave {more}"
