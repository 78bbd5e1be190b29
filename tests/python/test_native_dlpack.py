"""DLPack of the native modules: requests, exports, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dlbench import _native_consumer as consumer
from dlbench import _native_producer as producer
from dlpack_structs import versioned
from native_arrays import NEWEST, Forged, counted

pytestmark = pytest.mark.usefixtures("balanced")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({}, "dltensor"),
        ({"max_version": None}, "dltensor"),
        ({"max_version": (0, 8)}, "dltensor"),
        ({"max_version": (1, 0)}, "dltensor_versioned"),
        ({"max_version": (1, 3)}, "dltensor_versioned"),
        ({"max_version": (2, 0), "stream": None, "copy": False}, "dltensor_versioned"),
        ({"dl_device": (1, 0), "copy": None, **NEWEST}, "dltensor_versioned"),
    ],
)
def test_the_struct_that_was_requested(arguments: dict[str, Any], name: str) -> None:
    array = producer.Array(counted())
    for _ in range(2):
        assert f'"{name}"' in repr(array.__dlpack__(**arguments))


def test_equal_requests_in_other_words_are_understood() -> None:
    array = producer.Array(counted())
    for major in (1, 0, 1, 2, 0):
        # Built anew each time: no pointer is the one of before.
        word = "".join(["max_", "version"])
        capsule = array.__dlpack__(**{word: tuple(int(part) for part in f"{major} 0".split())})
        assert ("versioned" in repr(capsule)) == (major > 0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"stream": 1}, ValueError),
        ({"dl_device": (2, 0)}, BufferError),
        ({"dl_device": (1, 1)}, BufferError),
        ({"dl_device": 1}, TypeError),
        ({"max_version": 1}, TypeError),
        ({"max_version": ("1", "0")}, TypeError),
        ({"color": "red"}, TypeError),
    ],
)
def test_a_request_that_cannot_be_met(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        producer.Array(counted()).__dlpack__(**(NEWEST | arguments))


def test_it_takes_no_positional_argument() -> None:
    with pytest.raises(TypeError, match="keyword"):
        producer.Array(counted()).__dlpack__(None)


def test_what_the_versioned_struct_says() -> None:
    array = producer.Array(counted()[::2])
    capsule = array.__dlpack__(**NEWEST)
    managed = versioned(capsule)
    tensor = managed.tensor
    assert (managed.major, managed.minor, managed.flags) == (1, 3, 0)
    assert (tensor.data, tensor.byte_offset) == (array.address, 0)
    assert (tensor.device_type, tensor.device_id) == array.__dlpack_device__() == (1, 0)
    assert (tensor.code, tensor.bits, tensor.lanes) == (2, 32, 1)
    assert (tensor.ndim, tensor.shape[0], tensor.strides[0]) == (1, 12, 2)


def test_read_only_memory_is_flagged_or_refused() -> None:
    source = counted()
    source.flags.writeable = False
    array = producer.Array(source)
    capsule = array.__dlpack__(**NEWEST)
    assert versioned(capsule).flags == 1
    assert consumer.from_dlpack(array).readonly
    assert consumer.from_dlpack_c(array).readonly
    assert memoryview(array).readonly
    assert array.__array_interface__["data"] == (array.address, True)
    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__()
    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__(max_version=(0, 8))


def test_copy_is_a_copy_in_c_order_and_says_so() -> None:
    source = np.asfortranarray(counted().reshape(4, 6))[:, ::2]
    source.flags.writeable = False
    array = producer.Array(source)
    capsule = array.__dlpack__(copy=True, **NEWEST)
    managed = versioned(capsule)
    assert managed.flags == 2
    assert managed.tensor.data != array.address
    assert list(managed.tensor.strides[:2]) == [3, 1]
    taken = np.from_dlpack(array, copy=True)
    np.testing.assert_array_equal(taken, source)
    assert taken.flags.writeable
    assert '"dltensor"' in repr(array.__dlpack__(copy=True))


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


def test_a_capsule_is_consumed_once() -> None:
    capsule = producer.Array(counted()).__dlpack__(**NEWEST)
    consumer.from_dlpack(Forged(capsule))
    assert '"used_dltensor_versioned"' in repr(capsule)
    with pytest.raises(BufferError, match="not a DLPack capsule"):
        consumer.from_dlpack(Forged(capsule))


@pytest.mark.parametrize("answer", [None, 3, "dltensor"])
def test_something_else_than_a_capsule_is_refused(answer: Any) -> None:
    with pytest.raises(BufferError, match="not a DLPack capsule"):
        consumer.from_dlpack(Forged(answer))


@pytest.mark.parametrize(("field", "value"), [("major", 2), ("major", 0), ("device", 2)])
def test_what_cannot_be_read_is_given_back(field: str, value: int) -> None:
    capsule = producer.Array(counted()).__dlpack__(**NEWEST)
    managed = versioned(capsule)
    if field == "major":
        managed.major = value
    else:
        managed.tensor.device_type = value
    deleted = producer.deleted()
    with pytest.raises(BufferError):
        consumer.from_dlpack(Forged(capsule))
    assert producer.deleted() == deleted + 1


def test_memory_that_the_host_can_read_is_taken() -> None:
    capsule = producer.Array(counted()).__dlpack__(**NEWEST)
    versioned(capsule).tensor.device_type = 3
    np.testing.assert_array_equal(np.asarray(consumer.from_dlpack(Forged(capsule))), counted())


def test_an_offset_counts() -> None:
    capsule = producer.Array(counted()).__dlpack__(**NEWEST)
    tensor = versioned(capsule).tensor
    tensor.byte_offset = 8
    tensor.shape[0] = 22
    np.testing.assert_array_equal(np.asarray(consumer.from_dlpack(Forged(capsule))), counted()[2:])


def test_null_strides_mean_c_order() -> None:
    capsule = producer.Array(counted().reshape(4, 6)).__dlpack__(**NEWEST)
    versioned(capsule).tensor.strides = None
    assert consumer.from_dlpack(Forged(capsule)).strides == (24, 4)


def test_a_dtype_without_a_buffer_format_reads_as_unsigned_numbers() -> None:
    capsule = producer.Array(counted("uint16")).__dlpack__(**NEWEST)
    versioned(capsule).tensor.code = 4
    taken = consumer.from_dlpack(Forged(capsule))
    assert taken.dtype == "dlpack(4,16,1)"
    assert memoryview(taken).format == "H"


def test_a_producer_from_before_1_0_is_requested_again() -> None:
    class Old:
        requested = 0

        def __dlpack__(self, stream: Any = None) -> Any:
            self.requested += 1
            return producer.Array(counted()).__dlpack__()

    old = Old()
    assert consumer.from_dlpack(old).via == "dltensor"
    assert old.requested == 1


def test_other_errors_are_the_producers_own() -> None:
    class Angry:
        def __dlpack__(self, **_: Any) -> Any:
            raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        consumer.from_dlpack(Angry())
    with pytest.raises(AttributeError, match="__dlpack__"):
        consumer.from_dlpack(object())


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
