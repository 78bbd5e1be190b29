"""The layout of one array in memory, and its content."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dlbench.adapter import Unsupported

Array = np.ndarray[Any, Any]

PERIOD = 101
#: Bytes above a multiple of 64 where `np.empty` places arrays of more than 128 KiB; smaller ones
#: may lie at any multiple of 16.
NUMPYS = 16
#: The integer of a missing element, larger than the content; a missing float is NaN.
NULL = 127
#: Elements before a view into a library's own array, in each dimension.
BEFORE = 3
#: Dtypes of ml_dtypes, and the integers that hold their bits.
FOREIGN = {
    "bfloat16": "uint16",
    "complex32": "uint32",
    **dict.fromkeys(
        (
            *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
            *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
            *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int4", "uint4"),
        ),
        "uint8",
    ),
}
#: NumPy's variable strings, as they print themselves, and the bytes of an element.
VARIABLE, VARIABLE_BYTES = "StringDType()", 16
#: NumPy's, for its subclasses too.
BROADCAST_TO = partial(np.broadcast_to, subok=True)
#: Elements at each end of the shape `huge` that are not zero.
ENDS = 8192
#: Sizes of the dimensions around the elements, by the word of the axis `shape`.
DIMS = {
    "2d": (4, -1),
    "0d": (),
    "9d": (1, 2, 1, 2, 1, 1, 1, 2, -1),
    "33d": (*(1,) * 15, 2, *(1,) * 15, 2, -1),
    "64d": (*(1,) * 30, 2, *(1,) * 31, 2, -1),
    "ones": (1, -1, 1),
    "empty": (0,),
    "0xn": (0, 8),
    "nx0": (8, 0),
    "1x8x0x128": (1, 8, 0, 128),
}


def dtype_of(name: str) -> np.dtype[Any]:
    """The dtype of that name, from NumPy or ml_dtypes."""
    if name == VARIABLE:
        if not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"):
            raise Unsupported(f"NumPy {np.__version__} has no StringDType")
        strings: np.dtype[Any] = np.dtypes.StringDType()
        return strings
    if name not in FOREIGN:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise Unsupported(f"NumPy has {name} only with ml_dtypes: pip install ml_dtypes") from None
    if not hasattr(ml_dtypes, name):
        raise Unsupported(f"ml_dtypes {ml_dtypes.__version__} has no {name}")
    found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return found


def period(dtype: np.dtype[Any]) -> Array:
    """The repeated content, (i * 7 + 3) % 101: small enough to be exact in nearly every dtype.

    Booleans are that number's lowest bit, floats of at most eight bits and integers of four its
    lowest three, float8_e8m0fnu those plus 1; complex numbers v are v + 1j * (v % 13).
    """
    values = (np.arange(PERIOD) * 7 + 3) % PERIOD
    if dtype.kind == "b":
        values = values % 2
    elif dtype.name == "float8_e8m0fnu":  # which has no zero
        values = 1 + values % 8
    elif dtype.name.startswith(("float8", "float6_", "float4_", "int4", "uint4")):
        values = values % 8
    elif dtype.name.startswith("complex"):
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
    """`bytes` bytes of `dtype`: a word of each axis of `_core.case_axes` (`dims` is the axis
    `shape`), at `offset` bytes behind a multiple of `align`; an offset of 0 is any address.

    `special` is a property that only some libraries support: "swapped" bytes, "grad", "pinned" or
    "managed" memory, "nulls" (one element in PERIOD, see `nulls`), "conj" and "neg"
    (the memory holds the conjugates or the negatives of the content).
    """

    name: str
    dtype: str
    bytes: int
    dims: str = "1d"
    layout: str = "c"
    storage: str = "usual"
    offset: int = 0
    align: int = 256
    readonly: bool = False
    special: str = ""
    #: NumPy's arrays that an adapter got for `own` and `view`, and the library's arrays that it
    #: sliced: the worker compares their addresses with that of the adapter's array.
    given: list[Array] = field(default_factory=list, init=False, repr=False, compare=False)
    bases: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def foreign(self) -> bool:
        """NumPy has the dtype only through ml_dtypes."""
        return self.dtype in FOREIGN

    @property
    def own(self) -> bool:
        """The library allocates the memory itself, and cuts a view from it."""
        return self.storage in ("own", "view")

    @property
    def is_usual(self) -> bool:
        """The library allocates the memory itself if its users' arrays are made so."""
        is_plain = self.layout == "c" and self.dims not in ("ones", "huge") and not self.offset
        return self.storage == "usual" and is_plain

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        if self.dtype == VARIABLE:
            return VARIABLE_BYTES  # of every NumPy, for those without it too
        return np.dtype(FOREIGN.get(self.dtype, self.dtype)).itemsize

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements in each dimension."""
        left, found = self.bytes // self.itemsize, []
        for size in DIMS.get(self.dims, (-1,)):
            found.append(left if size < 0 else math.gcd(left, size) or size)
            left //= found[-1] or 1
        return tuple(found)

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Bytes between neighbors in each dimension, or None for C order."""
        shape, item = self.shape, self.itemsize
        if self.dims == "ones":
            return (3 * item, item, 5 * item)
        steps = [item] * len(shape)
        before = BEFORE if self.storage == "view" else 0
        for axis in range(len(shape) - 1, 0, -1):
            is_wide = self.layout == "strided" and axis == len(shape) - 1
            width = shape[axis] * (2 if is_wide else 1) + before
            steps[axis - 1] = steps[axis] * width
        if self.layout == "fortran":
            return (item, item * (shape[0] + before))
        if self.layout == "strided":
            return (*steps[:-1], 2 * item)
        if self.layout == "reversed":
            return tuple(-step for step in steps)
        rows = {"broadcast": (0, item), "windows": (item, item), "odd": (item + 1,)}
        return rows.get(self.layout, tuple(steps) if before and len(shape) > 1 else None)

    @property
    def room(self) -> int:
        """Bytes of memory that the array of `numpy` needs."""
        return self.reach[1] - self.reach[0] + self.align + (self.offset or NUMPYS)

    @property
    def steps(self) -> tuple[int, ...]:
        """`strides`, or NumPy's of a new array: 0 where it has no elements."""
        return self.strides or np.empty(self.shape, f"V{self.itemsize}").strides

    @property
    def reach(self) -> tuple[int, int]:
        """The lowest and highest byte, relative to the first element."""
        if 0 in self.shape:
            return 0, 0
        ends = [(n - 1) * step for n, step in zip(self.shape, self.steps, strict=True)]
        low, high = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
        return low, high + self.itemsize

    def numpy(self, place: int = NUMPYS) -> Array:
        """The content as a new NumPy array with exactly this layout, `place` bytes above a multiple
        of `align` unless the case has an offset."""
        dtype = dtype_of(self.dtype)
        if self.special == "swapped":
            dtype = dtype.newbyteorder("S")
        array = self._laid_out(dtype, self.offset or place)
        if self.own:
            array = self._cut(np.array(self._uncut(array), order="C"), np.broadcast_to)
        if self.readonly:
            array.flags.writeable = False
        return self._give(array)

    def bits(self) -> Array:
        """The same for libraries with the dtype but without ml_dtypes: unsigned integers of its
        width.
        """
        array = self.numpy()
        return self._give(array.view(FOREIGN[self.dtype])) if self.foreign else array

    def build(
        self,
        wrap: Callable[[Array], Any],
        copy: Callable[[Any], Any],
        broadcast_to: Callable[..., Any] = BROADCAST_TO,
        usual: bool = False,
    ) -> Any:
        """For a library that wraps NumPy's memory: `wrap(content)`, or for `own` and `view` a slice
        of the library's own copy of such an array. With `usual`, its users' arrays are such copies.

        The default of `broadcast_to`, the library's, is for subclasses of NumPy's arrays.
        """
        content = self.numpy()
        if not (self.own or (usual and self.is_usual)):
            return wrap(content)
        return self.sliced(copy(wrap(self.unsliced(content))), broadcast_to)

    def nulls(self, content: Array) -> Array | None:
        """Which elements of a content of this case are missing; None if the case has none."""
        return ~(content < NULL) if self.special == "nulls" else None

    def expected(self) -> Array:
        """The expected values, as `bits`, in the machine's byte order, at an aligned address unless
        the case sets another."""
        array = self._laid_out(dtype_of(self.dtype), self.offset)
        array.flags.writeable = not self.readonly
        return array.view(FOREIGN[self.dtype]) if self.foreign else array

    def stored(self) -> Array:
        """The bytes of `numpy`, as numbers of the machine's own byte order, or as `bits`."""
        if self.special != "swapped":
            return self.expected()
        dtype = np.dtype(self.dtype)
        return self._laid_out(dtype.newbyteorder("S"), self.offset).view(dtype)

    def unsliced(self, content: Array) -> Array:
        """For a library that allocates its arrays: the content in C order from which `sliced` cuts
        the layout, the view and the offset. `content` is `numpy` or `bits`."""
        return self._give(self._uncut(content))

    def _give(self, array: Array) -> Array:
        if self.own:
            self.given.append(array)
        return array

    def _uncut(self, content: Array) -> Array:
        if self.layout == "fortran":
            content = np.asarray(content.T)
        elif self.layout == "strided":
            content = np.repeat(content, 2, axis=-1)
        elif self.layout == "broadcast":
            content = content[:1]
        elif self.layout == "reversed":
            content = np.flip(content)
        if self.before and not content.ndim:
            content = content.reshape(1)
        return np.pad(content, (self.before, 0)) if self.before else content

    def sliced(self, array: Any, broadcast_to: Callable[..., Any]) -> Any:
        """The layout as the library's own slice of an array with the content `unsliced`;
        `broadcast_to` is the library's. A worker finds out whether the slice has the layout and
        lies in `array`."""
        self.bases.append(array)
        cut = self._cut(array, broadcast_to)
        if type(cut) is not type(array):
            kinds = [f"{type(a).__module__}.{type(a).__name__}" for a in (array, cut)]
            raise Unsupported(f"a slice of {kinds[0]} in this layout is {kinds[1]}")
        flags: Any = getattr(cut, "flags", None)
        if self.readonly and hasattr(flags, "writeable"):
            flags.writeable = False
        return cut

    def _cut(self, array: Any, broadcast_to: Callable[..., Any]) -> Any:
        axes = len(self.shape)
        # A library of one dimension takes no tuple.
        first, back = (
            (part,) * axes if axes > 1 else part
            for part in (slice(self.before, None), slice(None, None, -1))
        )
        if self.before:
            array = array[first] if axes else array[self.before, ...]
        if self.layout == "fortran":
            return array.T
        if self.layout == "strided":
            return array[..., ::2] if axes > 1 else array[::2]
        if self.layout == "broadcast":
            return broadcast_to(array, self.shape)
        if self.layout == "reversed":
            return array[back]
        return array

    @property
    def before(self) -> int:
        """Elements before the array in each dimension of the library's own array."""
        if self.storage == "view":
            return BEFORE
        return self.offset // self.itemsize if self.dims == "1d" else 0

    def _laid_out(self, dtype: np.dtype[Any], place: int) -> Array:
        shape, low = self.shape, self.reach[0]
        is_huge = self.dims == "huge"
        if self.dtype == VARIABLE:  # which NumPy places in its own memory only
            line = np.empty(self.room // self.itemsize, dtype)
            line = line[(-line.ctypes.data % self.align + place) // self.itemsize :]
            if 0 in shape:
                return np.empty(shape, dtype)
            fill(line := line[: math.prod(shape)])
            return line.reshape(shape)
        # Zeros that were never written take no memory. NumPy reads a null pointer as None.
        is_zero = is_huge or dtype.hasobject
        raw = (np.zeros if is_zero else np.empty)(self.room, np.uint8)
        begin = -raw.ctypes.data % self.align + place
        array: Array = np.ndarray(shape, dtype, raw, begin - low, self.steps)
        if array.size == 0:
            return array
        count = array.size
        if self.layout == "windows":
            count = shape[0] + shape[1] - 1
        elif self.layout == "broadcast":
            count = shape[1]
        is_dense = self.strides is None or self.layout in ("fortran", "windows", "broadcast")
        if is_huge:
            fill(array[:ENDS])
            fill(array[-ENDS:])
        elif is_dense and self.storage != "view":
            # The content is written in memory order, so it needs no second array. An empty slice of
            # NumPy's begins at the first byte of its base, which is not aligned.
            fill(np.ndarray(count, dtype, raw, begin))
        elif array.ndim == 1:
            fill(array)
        else:
            content = np.empty(count, dtype)
            fill(content)
            is_turned = self.layout == "fortran"
            array[...] = content.reshape(shape[::-1]).T if is_turned else content.reshape(shape)
        if self.special == "nulls":
            array[np.unravel_index(np.arange(1, array.size, PERIOD), shape)] = (
                np.nan if dtype.kind == "f" else NULL
            )
        return array
