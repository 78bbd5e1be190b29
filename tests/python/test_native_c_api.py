"""The C exchange API of the native modules."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from dlbench import _native_consumer as consumer
from dlbench import _native_producer as producer
from dlpack_structs import ExchangeApi, Tensor, Versioned, api_address
from native_arrays import counted

pytestmark = pytest.mark.usefixtures("balanced")


def test_the_table_is_complete() -> None:
    api = ExchangeApi.from_address(api_address(producer.Array))
    assert (api.major, api.minor, api.prev_api) == (1, 3, None)
    array = producer.Array(counted())
    tensor = Tensor()
    assert api.borrow(array, ctypes.byref(tensor)) == 0
    assert tensor.data == array.address
    stream = ctypes.c_void_p(1)
    assert api.stream(1, 0, ctypes.byref(stream)) == 0
    assert stream.value is None


def test_allocated_memory_becomes_an_array() -> None:
    api = ExchangeApi.from_address(api_address(producer.Array))
    like = Tensor()
    array = producer.Array(counted().reshape(4, 6)[:, ::2])
    assert api.borrow(array, ctypes.byref(like)) == 0
    managed = ctypes.POINTER(Versioned)()
    assert api.allocate(ctypes.byref(like), ctypes.byref(managed), None, None) == 0
    made = ctypes.py_object()
    assert api.to_object(managed, ctypes.byref(made)) == 0
    fresh = made.value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(fresh))
    assert type(fresh) is producer.Array
    assert memoryview(fresh).shape == (4, 3)
    assert memoryview(fresh).c_contiguous
    np.asarray(fresh)[...] = 3
    assert np.asarray(consumer.from_dlpack_c(fresh)).sum() == 36


@pytest.mark.parametrize("name", ["__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"])
@pytest.mark.parametrize("form", ["capsule", "int"])
def test_both_names_and_both_forms_are_found(name: str, form: str) -> None:
    address = api_address(producer.Array)
    capsule = producer.Array.__dlpack_c_exchange_api__
    kind = type("Stranger", (), {name: address if form == "int" else capsule})
    for _ in range(2):
        # The table is reached, and says whose it is.
        with pytest.raises(TypeError, match="not the type that published"):
            consumer.from_dlpack_c(kind())


def test_without_a_table_there_is_no_way() -> None:
    for x in (counted(), 3, type("Wrong", (), {"__dlpack_c_exchange_api__": "text"})()):
        with pytest.raises(TypeError, match="has no C exchange API"):
            consumer.from_dlpack_c(x)
