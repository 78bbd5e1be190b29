"""A case's array: where it lies, how it is laid out, and what is in it."""

from __future__ import annotations

import numpy as np
import pytest

from dlbench.case import Case


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


@pytest.mark.parametrize(("offset", "align"), [(0, 256), (4, 256), (12, 64), (0, 4096), (252, 512)])
def test_the_offset_is_behind_the_alignment(offset: int, align: int) -> None:
    for _ in range(5):
        array = Case("x", "float32", 4096, offset=offset, align=align).numpy()
        assert array.ctypes.data % align == offset


def test_every_second_element() -> None:
    case = Case("f32-strided", "float32", 4096, step=2)
    array = case.numpy()
    assert (case.shape, case.strides) == ((1024,), (2,))
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
