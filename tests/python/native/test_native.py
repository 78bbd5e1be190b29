"""The native modules: each protocol preserves the layout, the dtype and the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlbench import _native_consumer as consumer
from dlbench import _native_producer as producer
from native_arrays import DTYPES, WAYS, counted

pytestmark = pytest.mark.usefixtures("balanced")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_protocol_knows_each_dtype(dtype: str, way: str) -> None:
    source = counted(dtype)
    taken = getattr(consumer, way)(producer.Array(source))
    assert taken.dtype == dtype
    assert np.asarray(taken).dtype == source.dtype
    np.testing.assert_array_equal(np.asarray(taken), source)


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=4),
    st.lists(st.sampled_from([-3, -2, -1, 1, 2, 3]), min_size=4, max_size=4),
    st.randoms(use_true_random=False),
)
def test_any_slicing_crosses_as_numpy_says(shape: list[int], steps: list[int], order: Any) -> None:
    axes = list(range(len(shape)))
    order.shuffle(axes)
    whole = np.arange(int(np.prod(shape)), dtype="int64").reshape(shape).transpose(axes)
    source = whole[tuple(slice(None, None, step) for step in steps[: len(shape)])]
    array = producer.Array(source)
    for way in WAYS:
        np.testing.assert_array_equal(np.asarray(getattr(consumer, way)(array)), source)
    np.testing.assert_array_equal(np.from_dlpack(array), source)
    view = memoryview(array)
    assert view.c_contiguous == source.flags.c_contiguous
    assert view.f_contiguous == source.flags.f_contiguous


def test_the_array_is_a_copy_of_its_own() -> None:
    source = counted()
    array = producer.Array(source)
    source[:] = -1
    assert np.asarray(array)[5] == 5
    np.asarray(array)[5] = 50
    assert np.from_dlpack(array)[5] == 50


@pytest.mark.parametrize(
    "source", [counted().astype(">f4"), np.zeros(3, "S5"), np.zeros(2, "i4,f4")]
)
def test_what_no_protocol_can_say_is_refused(source: Any) -> None:
    with pytest.raises(BufferError, match="does not support format"):
        producer.Array(source)


@pytest.mark.parametrize(
    "interface",
    [
        {},
        {"shape": (3,), "typestr": "<f4"},
        {"shape": [3], "typestr": "<f4", "data": (0, False)},
        {"shape": (3,), "typestr": ">f4", "data": (0, False)},
        {"shape": (3,), "typestr": "<f", "data": (0, False)},
        {"shape": (3,), "typestr": "<f4", "data": (0, False), "strides": (4, 4)},
    ],
)
def test_a_broken_array_interface_is_refused(interface: dict[str, Any]) -> None:
    class Broken:
        __array_interface__ = interface

    with pytest.raises(BufferError):
        consumer.from_array_interface(Broken())


def test_each_request_has_an_array_interface_of_his_own() -> None:
    array = producer.Array(counted())
    array.__array_interface__["shape"] = (1,)
    assert array.__array_interface__["shape"] == (24,)


def test_the_log_is_off_at_first() -> None:
    consumer.from_dlpack(producer.Array(counted()))
    assert producer.log() == []


@pytest.mark.usefixtures("native_log")
def test_the_log_says_what_was_requested() -> None:
    array = producer.Array(counted())
    for way in WAYS:
        getattr(consumer, way)(array)
    np.from_dlpack(array)
    with pytest.raises(ValueError, match="stream"):
        array.__dlpack__(stream=2)
    assert array.__dlpack_device__() == (1, 0)
    assert producer.log() == [
        "__dlpack__(max_version=(1,3))",
        "managed_tensor_from_py_object_no_sync()",
        "buffer",
        "__array_interface__",
        "__array_struct__",
        "__dlpack__(dl_device=None,copy=None,max_version=(1,0))",
        "__dlpack__(stream=2)",
        "__dlpack_device__()",
    ]
    producer.clear_log()
    assert producer.log() == []


def test_a_buffer_without_strides_is_compact() -> None:
    # ctypes leaves them out though they are asked for.
    import ctypes

    given = (ctypes.c_float * 2 * 3)((1, 2), (3, 4), (5, 6))
    for observed in (consumer.from_buffer(given), producer.Array(given)):
        assert np.asarray(observed).tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("kind", ["f4", "u4", "i8"])
def test_a_buffer_keeps_its_byte_order(kind: str) -> None:
    for order in "<>":
        for array in (np.array([3, 4], order + kind), np.array(3, order + kind)):
            observed = np.asarray(consumer.from_buffer(array))
            assert observed.tolist() == array.tolist()
            assert observed.dtype == array.dtype


def test_interface_data_in_a_buffer_is_refused_in_a_line() -> None:
    class Image:
        __array_interface__ = counted().__array_interface__ | {"data": bytes(96)}

    with pytest.raises(BufferError, match="supports only an address"):
        consumer.from_array_interface(Image())
