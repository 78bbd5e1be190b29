"""The layout of one array in memory, and its content."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlbench.adapter import Unsupported

Array = np.ndarray[Any, Any]

PERIOD = 101
#: Shape and strides of each layout.
LAYOUTS = {
    "line": "one dimension",
    "grid": "two dimensions in C order",
    "fortran": "two dimensions in Fortran order",
    "strided": "one dimension, every second element",
    "reversed": "one dimension in reverse order",
    "broadcast": "two dimensions, each row the same memory",
    "ones": "one dimension between two of size 1 with odd strides",
    "scalar": "one element without dimensions",
    "empty": "one dimension without elements",
}
#: Dtypes of ml_dtypes, and the integers that hold their bits.
FOREIGN = {
    "bfloat16": "uint16",
    "float8_e4m3fn": "uint8",
    "float8_e5m2": "uint8",
}


def dtype_of(name: str) -> np.dtype[Any]:
    """The dtype of that name, from NumPy or ml_dtypes."""
    if name not in FOREIGN:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise Unsupported(f"NumPy has {name} only with ml_dtypes: pip install ml_dtypes") from None
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return found


def period(dtype: np.dtype[Any]) -> Array:
    """The repeated content, (i * 7 + 3) % 101: small enough to be exact in every dtype.

    Booleans are that number's lowest bit, eight-bit floats its lowest three; complex numbers v are
    v + 1j * (v % 13).
    """
    values = (np.arange(PERIOD) * 7 + 3) % PERIOD
    if dtype.kind == "b":
        values = values % 2
    elif dtype.name.startswith("float8"):
        values = values % 8
    elif dtype.kind == "c":
        values = values + 1j * (values % 13)
    return values.astype(dtype)


def fill(line: Array) -> None:
    """Write the known content into a one-dimensional array.

    Works in place by doubling, because a second array of that size would cost its page faults.
    """
    done = min(PERIOD, len(line))
    line[:done] = period(line.dtype)[:done]
    while done < len(line):
        more = min(done, len(line) - done)
        line[done : done + more] = line[:more]
        done += more


@dataclass(frozen=True)
class Case:
    """`bytes` bytes of `dtype` in one of LAYOUTS, `offset` bytes behind a multiple of `align`.

    `special` is a property that only some libraries support: "swapped" bytes, "grad", "pinned" or
    "managed" memory, "nulls" (one element in PERIOD, where the content is NaN).
    """

    name: str
    dtype: str
    bytes: int
    layout: str = "line"
    offset: int = 0
    align: int = 256
    readonly: bool = False
    special: str = ""

    @property
    def foreign(self) -> bool:
        """NumPy has the dtype only through ml_dtypes."""
        return self.dtype in FOREIGN

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return np.dtype(FOREIGN.get(self.dtype, self.dtype)).itemsize

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements in each dimension."""
        count = self.bytes // self.itemsize
        if self.layout == "scalar":
            return ()
        if self.layout == "ones":
            return (1, count, 1)
        if self.layout in ("grid", "fortran", "broadcast"):
            rows = math.gcd(count, 4)
            return (rows, count // rows)
        return (count,)

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Elements between neighbors, or None for C order."""
        shape = self.shape
        return {
            "fortran": (1, shape[0] if shape else 1),
            "strided": (2,),
            "reversed": (-1,),
            "broadcast": (0, 1),
            "ones": (3, 1, 5),
        }.get(self.layout)

    @property
    def _span(self) -> int:
        return math.prod(self.shape) * self.itemsize * (2 if self.layout == "strided" else 1)

    @property
    def room(self) -> int:
        """Bytes of memory that the array of `numpy` needs."""
        return self._span + self.align + self.offset

    def numpy(self) -> Array:
        """The content as a new NumPy array with exactly this layout."""
        dtype = dtype_of(self.dtype)
        if self.special == "swapped":
            dtype = dtype.newbyteorder("S")
        return self._laid_out(dtype)

    def bits(self) -> Array:
        """The same for libraries with the dtype but without ml_dtypes: unsigned integers of its
        width.
        """
        array = self.numpy()
        return array.view(FOREIGN[self.dtype]) if self.foreign else array

    def expected(self) -> Array:
        """The expected values, as `bits`, in the machine's byte order."""
        array = self._laid_out(dtype_of(self.dtype))
        return array.view(FOREIGN[self.dtype]) if self.foreign else array

    def stored(self) -> Array:
        """The bytes of `numpy`, as numbers of the machine's own byte order, or as `bits`."""
        array = self.bits()
        return array.view(array.dtype.newbyteorder("="))

    def unsliced(self, content: Array) -> Array:
        """For a library that allocates its arrays: the content in C order from which `sliced` cuts
        the layout and the offset. `content` is `numpy` or `bits`."""
        if self.offset:
            content = np.pad(content, (self.offset // self.itemsize, 0))
        if self.layout == "fortran":
            return np.asarray(content.T)
        if self.layout == "strided":
            return np.repeat(content, 2)
        if self.layout == "broadcast":
            return content[:1]
        return content[::-1] if self.layout == "reversed" else content

    def sliced(self, array: Any, broadcast_to: Callable[..., Any]) -> Any:
        """The layout as the library's own slice of an array with the content `unsliced`;
        `broadcast_to` is the library's. A worker finds out whether the slice has the layout."""
        if self.offset:
            array = array[self.offset // self.itemsize :]
        if self.layout == "fortran":
            return array.T
        if self.layout == "strided":
            return array[::2]
        if self.layout == "broadcast":
            return broadcast_to(array[0], self.shape)
        return array[::-1] if self.layout == "reversed" else array

    def _laid_out(self, dtype: np.dtype[Any]) -> Array:
        shape = self.shape
        span = self._span
        raw = np.empty(self.room, np.uint8)
        begin = -raw.ctypes.data % self.align + self.offset
        # An empty slice of NumPy's begins at the first byte of its base, which is not aligned.
        line = np.ndarray(span // dtype.itemsize, dtype, raw, begin)
        if self.layout == "strided":
            line = line[::2]
        elif self.layout == "reversed":
            line = line[::-1]
        elif self.layout == "broadcast":
            line = line[: shape[1]]
        fill(line)
        if self.special == "nulls":
            line[1::PERIOD] = np.nan
        array = _arranged(line, self.layout, shape)
        if self.readonly:
            array.flags.writeable = False
        return array


def _arranged(line: Array, layout: str, shape: tuple[int, ...]) -> Array:
    strided = np.lib.stride_tricks.as_strided
    item = line.itemsize
    if layout == "fortran":
        # The content is written in memory order, so no layout needs a second array.
        return np.asarray(line.reshape(shape[::-1]).T)
    if layout == "broadcast":
        return np.asarray(strided(line, shape, (0, item)))
    if layout == "ones":
        return np.asarray(strided(line, shape, (3 * item, item, 5 * item)))
    return line if layout in ("strided", "reversed") else line.reshape(shape)
