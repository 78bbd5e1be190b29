"""A case's array: its place, its layout and its content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.array_utils import byte_bounds

import samples
from dlbench import _core
from dlbench.adapter import Unsupported
from dlbench.case import NUMPYS, Case


@pytest.mark.parametrize("size", [24, 1616, 4096, 1 << 20])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
def test_element_i_is_known(dtype: str, size: int) -> None:
    array = Case("x", dtype, size).numpy()
    assert array.dtype == dtype
    assert array.nbytes == size
    assert [int(array[i]) for i in (0, 1, 2)] == [3, 10, 17]
    np.testing.assert_array_equal(array, (np.arange(len(array)) * 7 + 3) % 101)


def test_booleans_and_complex_numbers_come_from_the_same_pattern() -> None:
    numbers = (np.arange(512) * 7 + 3) % 101
    np.testing.assert_array_equal(Case("bool", "bool", 512).numpy(), numbers % 2 == 1)
    c64 = Case("c64", "complex64", 4096).numpy()
    np.testing.assert_array_equal(c64.real, numbers)
    np.testing.assert_array_equal(c64.imag, numbers % 13)


@pytest.mark.parametrize(("offset", "align"), [(0, 256), (4, 256), (12, 64), (252, 512)])
def test_the_offset_is_behind_the_alignment(offset: int, align: int) -> None:
    for _ in range(5):
        array = Case("x", "float32", 4096, offset=offset, align=align).numpy()
        empty = Case("x", "float32", 0, dims="empty", offset=offset, align=align).numpy()
        assert array.ctypes.data % align == empty.ctypes.data % align == (offset or NUMPYS)


def test_every_second_element() -> None:
    case = Case("f32-strided", "float32", 4096, layout="strided")
    array = case.numpy()
    assert (case.shape, case.strides) == ((1024,), (8,))
    assert (array.shape, array.strides) == ((1024,), (8,))
    np.testing.assert_array_equal(array, Case("f32", "float32", 4096).numpy())


def test_c_order_has_no_strides() -> None:
    assert Case("f32", "float32", 4096).strides is None


def test_read_only_is_read_only() -> None:
    array = Case("f32-readonly", "float32", 4096, readonly=True).numpy()
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_each_array_is_fresh() -> None:
    case = Case("f32", "float32", 4096)
    case.numpy()[:] = 0
    assert case.numpy()[0] == 3


ALL = [Case(**_core.case(name), bytes=samples.own_size(name)) for name in _core.case_names()]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_the_array_is_laid_out_as_the_case_says(case: Case) -> None:
    array = case.numpy()
    assert array.shape == case.shape
    assert array.itemsize == case.itemsize
    # NumPy lets nobody write into rows that lie in the same memory.
    assert array.flags.writeable != (case.readonly or (case.own and case.layout == "broadcast"))
    if case.strides is None or array.size == 0:
        assert array.flags.c_contiguous
    else:
        assert array.strides == case.strides
    if array.size and not case.own:
        assert byte_bounds(array)[0] % case.align == (case.offset or NUMPYS)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_what_is_expected_is_what_the_array_holds(case: Case) -> None:
    array, bits, expected = case.numpy(), case.bits(), case.expected()
    if case.foreign:
        assert bits.dtype.kind == "u"
        array = array.view(bits.dtype)
    np.testing.assert_array_equal(array, expected)
    np.testing.assert_array_equal(bits, expected)
    assert (expected.shape, expected.strides) == (array.shape, array.strides)
    assert expected.dtype.isnative


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_slice_of_an_allocated_array_has_the_layout(case: Case) -> None:
    source, whole = case.numpy(), case.unsliced(case.numpy())
    array = case.sliced(whole.copy(), np.broadcast_to)
    np.testing.assert_array_equal(array, source)
    if case.dims != "ones" and case.layout not in ("windows", "odd") and array.size:
        assert array.strides == source.strides


class Kept(np.ndarray):
    pass


def test_a_built_array_keeps_its_type_and_its_protection() -> None:
    def built(name: str, *broadcast_to: Callable[..., Any]) -> Any:
        case = Case(**_core.case(name), bytes=4096)
        return case.build(lambda content: content.view(Kept), Kept.copy, *broadcast_to)

    for name in ("f32-broadcast-own", "f32-readonly-own", "f32-readonly-view"):
        assert (type(built(name)), built(name).flags.writeable) == (Kept, False)
    assert built("f32-own").flags.writeable
    with pytest.raises(Unsupported, match=r"of test_case.Kept in this layout is numpy.ndarray"):
        built("f32-broadcast-own", np.broadcast_to)


def test_foreign_dtypes_hold_their_numbers_exactly() -> None:
    for name, most in (("bfloat16", 101), ("float8_e4m3fn", 8), ("float8_e5m2", 8)):
        held = Case("x", name, 4096).numpy().astype("float64")
        np.testing.assert_array_equal(held, (np.arange(held.size) * 7 + 3) % 101 % most)
