"""How one array is laid out in memory, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

PERIOD = 101


def period(dtype: str) -> np.ndarray[Any, Any]:
    """What the known content repeats: (i * 7 + 3) % 101, small enough to be exact in every dtype.

    Booleans are that number's lowest bit; complex numbers v are v + 1j * (v % 13).
    """
    values = (np.arange(PERIOD) * 7 + 3) % PERIOD
    if dtype == "bool":
        values = values % 2
    elif dtype.startswith("complex"):
        values = values + 1j * (values % 13)
    return values.astype(dtype)


def fill(array: np.ndarray[Any, Any]) -> None:
    """Write the known content into a one-dimensional array.

    In place, by doubling what is there: a second array of the size would cost its page faults.
    """
    done = min(PERIOD, len(array))
    array[:done] = period(array.dtype.name)[:done]
    while done < len(array):
        more = min(done, len(array) - done)
        array[done : done + more] = array[:more]
        done += more


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
        fill(array)
        array.flags.writeable = not self.readonly
        return array
