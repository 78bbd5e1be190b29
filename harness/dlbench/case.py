"""How one array is laid out in memory, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

PERIOD = 101


def pattern(dtype: str, elements: int) -> np.ndarray[Any, Any]:
    """The known content: element i is (i * 7 + 3) % 101, small enough to be exact in every dtype.

    Booleans are that number's lowest bit; complex numbers v are v + 1j * (v % 13).
    """
    values = (np.arange(PERIOD) * 7 + 3) % PERIOD
    if dtype == "bool":
        values = values % 2
    elif dtype.startswith("complex"):
        values = values + 1j * (values % 13)
    return np.resize(values.astype(dtype), elements)


@dataclass(frozen=True)
class Case:
    """One dimension of `bytes` bytes of `dtype`; `step` elements between neighbours.

    `offset` is in bytes, behind an address that is a multiple of `align`, a power of two.
    """

    name: str
    dtype: str
    bytes: int
    offset: int = 0
    align: int = 256
    step: int = 1
    readonly: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements in each dimension."""
        return (self.bytes // np.dtype(self.dtype).itemsize,)

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Elements between neighbours, or None for C order."""
        return None if self.step == 1 else (self.step,)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The expected content as a fresh NumPy array that is laid out exactly so."""
        room = self.bytes * self.step
        raw = np.empty(room + self.align + self.offset, np.uint8)
        begin = -raw.ctypes.data % self.align + self.offset
        array = raw[begin : begin + room].view(self.dtype)[:: self.step]
        array[...] = pattern(self.dtype, self.shape[0])
        array.flags.writeable = not self.readonly
        return array
