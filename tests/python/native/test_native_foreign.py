"""Descriptions that belong to no array are refused by the native modules."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from dlbench import _native_consumer as consumer
from dlbench import _native_producer as producer
from dlpack_structs import ExchangeApi, Tensor, Versioned, api_address, borrowed_capsule
from native_arrays import Forged, counted

pytestmark = pytest.mark.usefixtures("balanced")

HUGE = 2**62
LIES: list[dict[str, Any]] = [
    {"ndim": -1},
    {"ndim": 65},
    {"ndim": 2**31 - 1},
    {"shape": None},
    {"shape": [-1, 4]},
    {"shape": [HUGE, HUGE]},
    {"shape": [0, HUGE]},
    {"shape": [2**61, 1]},
    {"strides": [HUGE, 1]},
    {"strides": [-HUGE, 1]},
    {"strides": [2**60, 2**60]},
]
REASONS = "dimensions|shape|negative|address space"


def described(lie: dict[str, Any]) -> tuple[Tensor, Any]:
    """Six by four float32 but for the lie, and what keeps it alive."""
    kept = counted()
    reported = {"ndim": 2, "shape": [6, 4], "strides": None} | lie
    tensor = Tensor(kept.ctypes.data, 1, 0, reported["ndim"], 2, 32, 1)
    for name in ("shape", "strides"):
        if reported[name] is not None:
            setattr(tensor, name, (ctypes.c_int64 * 2)(*reported[name]))
    return tensor, kept


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def delete(_: int) -> None:
    pass


@pytest.mark.parametrize("lie", LIES, ids=str)
def test_the_consumer_refuses_to_tell(lie: dict[str, Any]) -> None:
    tensor, _ = described(lie)
    managed = Versioned(1, 3, None, delete, 0, tensor)
    array = consumer.from_dlpack(Forged(borrowed_capsule(managed)))
    for _ in range(2):
        with pytest.raises(BufferError, match=REASONS):
            _ = array.shape
    with pytest.raises(BufferError, match=REASONS):
        memoryview(array)


@pytest.mark.parametrize("lie", [{}, {"ndim": 0, "shape": None}, {"strides": [4, 1]}], ids=str)
def test_an_honest_one_is_reported(lie: dict[str, Any]) -> None:
    tensor, kept = described(lie)
    managed = Versioned(1, 3, None, delete, 0, tensor)
    array = consumer.from_dlpack(Forged(borrowed_capsule(managed)))
    assert array.shape == (() if "ndim" in lie else (6, 4))
    assert np.asarray(array).sum() == kept[: np.asarray(array).size].sum()


def test_the_stride_of_a_single_element_says_nothing() -> None:
    tensor, _ = described({"shape": [1, 24], "strides": [2**63 - 1, 1]})
    managed = Versioned(1, 3, None, delete, 0, tensor)
    assert consumer.from_dlpack(Forged(borrowed_capsule(managed))).shape == (1, 24)


@pytest.mark.parametrize("lie", LIES, ids=str)
def test_the_producer_takes_none_back(lie: dict[str, Any]) -> None:
    api = ExchangeApi.from_address(api_address(producer.Array))
    deleted = []
    tensor, _ = described(lie)
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleted.append)
    managed = Versioned(1, 3, None, deleter, 0, tensor)
    made = ctypes.py_object()
    with pytest.raises(BufferError, match=REASONS):
        api.to_object(ctypes.pointer(managed), ctypes.byref(made))
    assert len(deleted) == 1


@pytest.mark.parametrize("lie", [lie for lie in LIES if "strides" not in lie], ids=str)
def test_the_producer_allocates_none(lie: dict[str, Any]) -> None:
    api = ExchangeApi.from_address(api_address(producer.Array))
    message = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    def set_error(_: int, kind: bytes, text: bytes) -> None:
        message.append((kind, text))

    tensor, _ = described(lie)
    managed = ctypes.POINTER(Versioned)()
    report = ctypes.cast(set_error, ctypes.c_void_p)
    assert api.allocate(ctypes.byref(tensor), ctypes.byref(managed), None, report) == -1
    assert [kind for kind, _ in message] == [b"BufferError"]


@pytest.mark.parametrize("lie", [lie for lie in LIES if lie.get("shape", True)], ids=str)
def test_an_interface_is_refused(lie: dict[str, Any]) -> None:
    kept = counted()
    reported: dict[str, Any] = {"data": (kept.ctypes.data, False), "typestr": "<f4", "version": 3}
    shape = lie.get("shape", [6, 4])
    reported["shape"] = (1,) * abs(lie["ndim"] % 99) if "ndim" in lie else tuple(shape)
    if "strides" in lie:
        reported["strides"] = tuple(lie["strides"])
    if lie.get("ndim", 65) != 65:
        pytest.skip("a dict has no such number")
    with pytest.raises(BufferError, match=REASONS):
        consumer.from_array_interface(type("Liar", (), {"__array_interface__": reported})())


class Struct(ctypes.Structure):
    _fields_ = (
        ("two", ctypes.c_int),
        ("nd", ctypes.c_int),
        ("kind", ctypes.c_char),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
        ("descr", ctypes.c_void_p),
    )


@pytest.mark.parametrize("lie", LIES, ids=str)
def test_a_struct_is_not_reported(lie: dict[str, Any]) -> None:
    tensor, _ = described(lie)
    content = Struct(2, tensor.ndim, b"f", 4, 0x600, tensor.shape, tensor.strides, tensor.data)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new(ctypes.addressof(content), None, None)
    array = consumer.from_array_struct(type("Liar", (), {"__array_struct__": capsule})())
    with pytest.raises(BufferError, match=REASONS):
        _ = array.shape


def test_a_deleter_in_python_does_not_take_the_refusal_along() -> None:
    tensor, _kept = described({})
    given = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def remember(address: int) -> None:
        given.append(str(address))

    managed = Versioned(2, 0, None, remember, 0, tensor)
    exported = Forged(borrowed_capsule(managed))
    with pytest.raises(BufferError, match="major version 1"):
        consumer.from_dlpack(exported)
    assert given == [str(ctypes.addressof(managed))]
