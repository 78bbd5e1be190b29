"""Reads facts: where elements lie and which values they have; and formats errors."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dlbench import _check
from dlbench.check.verdict import Broken, Ended, Holds, NotApplicable

Facts = dict[str, Any]
#: dtype's name -> DLPack's code and bits
CODES = {
    "bool": (6, 8),
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits) for bits in (16, 32, 64)},
    "bfloat16": (4, 16),
    "complex64": (5, 64),
    "complex128": (5, 128),
    "float8_e4m3fn": (10, 8),
    "float8_e5m2": (12, 8),
}
NEWEST = (1, 3)
CPU = (1, 0)
#: Device types with memory that the CPU can read: its own, and memory pinned by CUDA and ROCm.
HOST_KINDS = (1, 3, 11)


def itemsize(facts: Mapping[str, Any]) -> int:
    """Bytes of an element."""
    _, bits, lanes = facts["dtype"]
    return int(bits * lanes + 7) // 8


def address(facts: Mapping[str, Any]) -> int:
    """The address of the first element."""
    return int(facts["data"] + facts["byte_offset"])


def values(facts: Mapping[str, Any]) -> bytes:
    """The elements in C order. Raises Broken where the description cannot be read, NotApplicable
    where the memory cannot."""
    if facts["device"][0] not in HOST_KINDS:
        raise NotApplicable(f"its memory is on {facts['device']}")
    shape, strides, item = facts["shape"], facts["strides"], itemsize(facts)
    if shape is None:
        raise Broken(f"ndim is {facts['ndim']}, and shape cannot be read")
    steps = None if strides is None else [step * item for step in strides]
    return gathered(address(facts), shape, steps, item)


def gathered(place: Any, shape: Any, strides: Any, item: int) -> bytes:
    """The elements in C order; strides are bytes. Raises Broken for what no memory can hold."""
    try:
        return b"" if 0 in shape else _check.gather(place, shape, strides, item)
    except (TypeError, ValueError, OverflowError) as error:
        raise Broken(f"shape {shape}, strides {strides} at {place}: {error}") from None


def values_of_numpy(array: Any) -> bytes:
    """The elements of an array of NumPy's in C order, however many another library describes."""
    return gathered(array.ctypes.data, array.shape, array.strides, array.itemsize)


def is_content(given: bytes, expected: Any) -> bool:
    """Are these the elements of a NumPy array, in C order? No text says which byte is true."""
    read = bytes(map(bool, given)) if expected.dtype == bool else given
    return bool(read == expected.tobytes())


def read(capsule: Any) -> Facts:
    """The facts of a capsule. NotApplicable where it holds none: `export.capsule` reports why."""
    try:
        return _check.read(capsule)
    except ValueError as error:
        raise NotApplicable(f"nothing that could be read: {error}") from None


def name_address(capsule: Any) -> int:
    """Where the name of a capsule lies."""
    name = ctypes.PyDLL(None).PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_void_p, (ctypes.py_object,)
    return name(capsule) or 0


def values_of(capsule: Any) -> bytes:
    """The elements of a capsule: they are valid only while it exists."""
    return values(read(capsule))


def packed(shape: Sequence[int], strides: Sequence[int] | None, item: int) -> bool:
    """Do the elements lie in C order, one after another? Strides are bytes."""
    if strides is None:
        return True
    step = item
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


@contextmanager
def on_error(
    end: type[Ended],
    words: str = "",
    errors: type[Exception] | tuple[type[Exception], ...] = Exception,
) -> Iterator[None]:
    """Ends the rule with this verdict if the library raises one of the errors; the text is `words`
    and the error's message."""
    try:
        yield
    except errors as error:
        raise end(f"{words}{describe_error(error)}") from None


@contextmanager
def on_refusal(
    errors: type[Exception] | tuple[type[Exception], ...], words: str = ""
) -> Iterator[None]:
    """Ends the rule if the library raises: one of the errors keeps it, any other breaks it."""
    allowed = errors if isinstance(errors, tuple) else (errors,)
    names = " or ".join(error.__name__ for error in allowed)
    other = f"{words}not by {names}, but by " if allowed else words
    with on_error(Broken, other), on_error(Holds, words, errors):
        yield


def describe_error(error: BaseException) -> str:
    """ "ValueError: text", in one line."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0].strip()[:160]}" if text else type(error).__name__
