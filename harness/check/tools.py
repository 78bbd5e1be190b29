"""What scripts have in common. Each script holds a copy of what it uses; nothing imports this."""

# mypy: ignore-errors
# ruff: noqa: F401, F821, PT018, T201

import ctypes
import gc
import os
import resource
import sys
import weakref
from struct import pack

import numpy as np

#: As rules call it: AS_NUMPY of dlbench.scripts.side, or an expression of the adapter's.
values = as_numpy


point = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def described(capsule):
    """Is the struct versioned? Its name, where it lies, its tensor, and its deleter's offset."""
    versioned = "versioned" in repr(capsule)
    name = b"dltensor_versioned" if versioned else b"dltensor"
    struct = point(capsule, name)
    return versioned, name, struct, struct + 32 * versioned, 16 if versioned else 56


def first_element(tensor):
    data, offset = (ctypes.c_uint64.from_address(tensor + at).value for at in (0, 40))
    return data + offset


def exported_address(capsule):
    return first_element(described(capsule)[3])


def requested(array):
    try:
        return array.__dlpack__(max_version=(1, 0))
    except TypeError:
        return array.__dlpack__()


def refused(call, errors=Exception):
    """The call must raise one of the errors."""
    try:
        given = call()
    except errors as error:
        print("refused, as required:", repr(error))
    else:
        raise AssertionError(f"not refused: {given!r}")


def allowed(call, errors=Exception, end=sys.exit):
    """The result; the script may as well end with one of the errors."""
    try:
        return call()
    except errors as error:
        print("refused, which is allowed:", repr(error))
        end()


def tried(call):
    """The result, or nothing where it is refused."""
    try:
        return call()
    except Exception as error:
        print("refused, which is allowed:", repr(error))


def require_equal(given, source):
    assert given.dtype == source.dtype and given.shape == source.shape, (given.dtype, given.shape)
    assert given.tobytes() == source.tobytes(), given


def require_same(result, source):
    given = values(result)
    if given.dtype == np.uint8 and given.nbytes == source.nbytes:  # bytes without a dtype
        given = given.reshape(-1).view(source.dtype).reshape(source.shape)
    require_equal(given, source)


def require_still(at, expected):
    """The memory is as it was, also when much else was written."""
    _other = [bytearray(b"\xee" * len(expected)) for _ in range(64)]
    assert ctypes.string_at(at, len(expected)) == expected, "its values changed"


def require_major(capsule, most):
    if "versioned" in repr(capsule):
        major = ctypes.c_uint32.from_address(point(capsule, b"dltensor_versioned")).value
        assert major <= most, major


def consumed(prototype, capsule):
    """Renames the capsule; its deleter as a function of that prototype of ctypes."""
    _, name, struct, _, deleter_at = described(capsule)
    rename = ctypes.PyDLL(None).PyCapsule_SetName
    rename.argtypes = (ctypes.py_object, ctypes.c_char_p)
    consumed.name = b"used_" + name  # the capsule does not keep it
    rename(capsule, consumed.name)
    return prototype(None, ctypes.c_void_p)(ctypes.c_void_p.from_address(struct + deleter_at).value)


def get_buffer(array, flags):
    """A Py_buffer's words: buf, obj, len, itemsize, readonly and ndim, format, shape, strides."""
    view = (ctypes.c_void_p * 10)()
    ctypes.PyDLL(None).PyObject_GetBuffer(ctypes.py_object(array), view, flags)
    return view


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


def leave():
    """A callback of ctypes does not outlive the interpreter, and a deleter may be called late."""
    sys.stdout.flush()
    os._exit(0)


def left(call, array):
    """What many calls leave, in objects, references and KiB; the first ones fill caches."""

    def used():
        gc.collect()
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return sys.getallocatedblocks(), sys.getrefcount(array), most

    for count in (20_000, 50_000):
        before = used()
        for _ in range(count):
            call()
        objects, references, kib = (now - then for then, now in zip(before, used(), strict=True))
        print(count, "leave", objects, "objects", references, "references", kib, "KiB")
    assert objects < 500 and references < 500 and kib < 4_000
