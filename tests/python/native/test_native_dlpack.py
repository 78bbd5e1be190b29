"""DLPack of the native modules, beyond what the rules of `check` test (test_check_proved)."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from dlbench import _native_consumer as consumer
from dlbench import _native_producer as producer
from dlpack_structs import api_address, versioned
from native_arrays import NEWEST, WAYS, Forged, counted

pytestmark = pytest.mark.usefixtures("balanced")


def test_equal_requests_in_other_words_are_understood() -> None:
    array = producer.Array(counted())
    for major in (1, 0, 1, 2, 0):
        # Built anew each time: no pointer is the one of before.
        word = "".join(["max_", "version"])
        capsule = array.__dlpack__(**{word: tuple(int(part) for part in f"{major} 0".split())})
        assert ("versioned" in repr(capsule)) == (major > 0)


def test_strides_between_elements_are_refused() -> None:
    pairs = np.zeros(5, [("a", "u1"), ("b", "<f4")])
    pairs["b"] = np.arange(5)
    array = producer.Array(pairs["b"])
    assert array.__array_interface__["strides"] == (5,)
    with pytest.raises(BufferError, match="multiples"):
        consumer.from_dlpack(array)
    with pytest.raises(BufferError, match="multiples"):
        consumer.from_dlpack_c(array)
    np.testing.assert_array_equal(np.from_dlpack(array, copy=True), np.arange(5))
    np.testing.assert_array_equal(np.asarray(array), np.arange(5))


def test_memory_that_the_host_can_read_is_taken() -> None:
    capsule = producer.Array(counted()).__dlpack__(**NEWEST)
    versioned(capsule).tensor.device_type = 3
    np.testing.assert_array_equal(np.asarray(consumer.from_dlpack(Forged(capsule))), counted())


def test_a_dtype_without_a_buffer_format_reads_as_unsigned_numbers() -> None:
    capsule = producer.Array(counted("uint16")).__dlpack__(**NEWEST)
    versioned(capsule).tensor.code = 4
    taken = consumer.from_dlpack(Forged(capsule))
    assert taken.dtype == "dlpack(4,16,1)"
    assert memoryview(taken).format == "H"


def test_a_method_that_changes_is_looked_up_again() -> None:
    class Fixed:
        __slots__ = ("name",)

        def __dlpack__(self, **_: Any) -> Any:
            return producer.Array(np.ones(3, "f4")).__dlpack__(**NEWEST)

    class Free(Fixed):
        pass

    def twos(self: Any, **_: Any) -> Any:
        return producer.Array(np.full(3, 2, "f4")).__dlpack__(**NEWEST)

    fixed, free = Fixed(), Free()
    for x in (fixed, fixed, free, free):
        assert np.asarray(consumer.from_dlpack(x))[0] == 1
    free.__dlpack__ = lambda **_: twos(None)
    assert np.asarray(consumer.from_dlpack(free))[0] == 2
    for x in (fixed, fixed):
        assert np.asarray(consumer.from_dlpack(x))[0] == 1
    Fixed.__dlpack__ = twos  # type: ignore[method-assign]
    for x in (fixed, fixed, Free()):
        assert np.asarray(consumer.from_dlpack(x))[0] == 2


@pytest.mark.parametrize("way", WAYS)
def test_no_reference_is_left_behind(way: str) -> None:
    array = producer.Array(counted())
    function = getattr(consumer, way)
    function(array)
    watched = (array, type(array), consumer.Array, None, True)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(1000):
        np.asarray(function(array))
    after = [sys.getrefcount(each) for each in watched]
    assert all(abs(b - a) < 100 for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("name", ["__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"])
@pytest.mark.parametrize("form", ["capsule", "int"])
def test_both_names_and_both_forms_are_found(name: str, form: str) -> None:
    address = api_address(producer.Array)
    capsule = producer.Array.__dlpack_c_exchange_api__
    kind = type("Stranger", (), {name: address if form == "int" else capsule})
    for _ in range(2):
        # The table is reached, and says whose it is.
        with pytest.raises(TypeError, match="this table does not belong to the type"):
            consumer.from_dlpack_c(kind())


def test_without_a_table_there_is_no_way() -> None:
    for x in (counted(), 3, type("Wrong", (), {"__dlpack_c_exchange_api__": "text"})()):
        with pytest.raises(TypeError, match="has no C exchange API"):
            consumer.from_dlpack_c(x)
