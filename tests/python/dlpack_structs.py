"""DLPack's structs by ctypes, to read capsules and to forge them."""

from __future__ import annotations

import ctypes
from typing import Any

_python = ctypes.PyDLL(None)
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

_python.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_point_of_dying = ctypes.PyDLL(None).PyCapsule_GetPointer
_point_of_dying.restype = ctypes.c_void_p
_point_of_dying.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

NAME = ctypes.c_char_p(b"dltensor_versioned")
USED = ctypes.c_char_p(b"used_dltensor_versioned")
USED_LEGACY = ctypes.c_char_p(b"used_dltensor")


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        # Called as a C function that lets go of the GIL.
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


class Managed(ctypes.Structure):
    """Before version 1.0."""

    _fields_ = (
        ("tensor", Tensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    )


class ExchangeApi(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("prev_api", ctypes.c_void_p),
        (
            "allocate",
            ctypes.PYFUNCTYPE(
                ctypes.c_int,
                ctypes.POINTER(Tensor),
                ctypes.POINTER(ctypes.POINTER(Versioned)),
                ctypes.c_void_p,
                ctypes.c_void_p,
            ),
        ),
        (
            "from_object",
            ctypes.PYFUNCTYPE(
                ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Versioned))
            ),
        ),
        (
            "to_object",
            ctypes.PYFUNCTYPE(
                ctypes.c_int, ctypes.POINTER(Versioned), ctypes.POINTER(ctypes.py_object)
            ),
        ),
        (
            "borrow",
            ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor)),
        ),
        (
            "stream",
            ctypes.PYFUNCTYPE(
                ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
            ),
        ),
    )


def versioned(capsule: Any) -> Versioned:
    """What is in a capsule; alive as long as that is."""
    return Versioned.from_address(_python.PyCapsule_GetPointer(capsule, b"dltensor_versioned"))


def take(capsule: Any) -> Versioned | Managed:
    """As a consumer takes it: the caller owes it a call of the deleter."""
    if _python.PyCapsule_IsValid(id(capsule), b"dltensor"):
        managed = Managed.from_address(_python.PyCapsule_GetPointer(capsule, b"dltensor"))
        _python.PyCapsule_SetName(capsule, USED_LEGACY)
        return managed
    found = versioned(capsule)
    _python.PyCapsule_SetName(capsule, USED)
    return found


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop(capsule: int) -> None:
    # No new reference to a capsule that is being freed: it is handled by its address.
    if _python.PyCapsule_IsValid(capsule, NAME):
        address = _point_of_dying(capsule, NAME)
        Versioned.from_address(address).deleter(address)


def borrowed_capsule(managed: Versioned) -> Any:
    """A capsule that calls the deleter unless a consumer has renamed it."""
    address = ctypes.addressof(managed)
    return _python.PyCapsule_New(address, NAME, ctypes.cast(_drop, ctypes.c_void_p))


def api_address(kind: type) -> int:
    """Of the table that a type publishes."""
    capsule = kind.__dlpack_c_exchange_api__  # type: ignore[attr-defined]
    return int(_python.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api"))
