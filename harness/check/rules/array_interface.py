"""`__array_interface__` and `__array_struct__`, both sides."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dlbench import _check
from dlbench.case import Case
from dlbench.check.reading import Facts, gathered, is_content, on_error, packed
from dlbench.check.rule import INTERFACE, producer_rule
from dlbench.check.rules.buffers import NATIVE_ORDER
from dlbench.check.situation import ARRAYS, EACH, PROTECTED, case_of
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, Unclear, assume, expect

STRUCT = f"{INTERFACE}, __array_struct__"
WRITEABLE, NOT_SWAPPED, C_ORDER = 0x400, 0x200, 0x1


def interface_of(array: Any) -> dict[str, Any]:
    """Its dict."""
    found: dict[str, Any] | None = getattr(array, "__array_interface__", None)
    if found is None:
        raise NotApplicable("its arrays have no __array_interface__")
    return found


def struct(subject: Subject, case: Case | None = None) -> tuple[Any, Facts, Any]:
    """An array, the facts of its struct with their capsule, and its content."""
    array, expected = subject.laid(case or subject.case())
    capsule = getattr(array, "__array_struct__", None)
    if capsule is None:
        raise NotApplicable("its arrays have no __array_struct__")
    try:
        return array, {**_check.read_struct(capsule), "capsule": capsule}, expected
    except ValueError as error:
        raise Broken(str(error)) from None


@producer_rule("interface.keys", INTERFACE, arrays=ARRAYS)
def keys(subject: Subject, word: str) -> str:
    """shape is a tuple of ints, typestr a str, version the int 3, an address in data an int

    found = array.__array_interface__
    assert isinstance(found, dict), type(found)
    assert isinstance(found['shape'], tuple), found['shape']
    assert all(isinstance(size, int) for size in found['shape']), found['shape']
    assert isinstance(found['typestr'], str) and found['version'] == 3, found
    data = found.get('data')
    assert not isinstance(data, tuple) or (len(data) == 2 and isinstance(data[0], int)), data
    """
    array, _ = subject.laid(case_of(word))
    found = interface_of(array)
    expect(isinstance(found, dict), f"it is a {type(found).__name__}, not a dict")
    shape, typestr = found.get("shape"), found.get("typestr")
    if not isinstance(shape, tuple) or not all(isinstance(size, int) for size in shape):
        raise Broken(f"shape is {shape!r}")
    expect(isinstance(typestr, str), f"typestr is {typestr!r}")
    expect(found.get("version") == 3, f"version is {found.get('version')!r}")
    data: Any = found.get("data")
    is_address = isinstance(data, tuple)
    expect(not is_address or (len(data) == 2 and isinstance(data[0], int)), f"data is {data!r}")
    return f"{typestr}, version 3"


def elements(array: Any, found: dict[str, Any]) -> bytes:
    """The elements in C order, from an address or from an object with a buffer."""
    data = found.get("data")
    item = int(found["typestr"][2:])
    shape = found["shape"]
    if 0 in shape:
        return b""
    if isinstance(data, tuple):
        return gathered(data[0], shape, found.get("strides"), item)
    with on_error(NotApplicable, f"data is a {type(data).__name__}: "):
        raw = np.frombuffer(array if data is None else data, np.uint8)
    first = raw.ctypes.data + found.get("offset", 0)
    return gathered(first, shape, found.get("strides"), item)


def own_shape(array: Any, shape: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that an array must have: its own `shape`, if it has that attribute.

    Without one it may be a column of a line: dimensions of size 1 are then its own.
    """
    own = getattr(array, "shape", None)
    if isinstance(own, tuple):
        return tuple(own)
    many = tuple(size for size in wanted if size != 1)
    return shape if tuple(size for size in shape if size != 1) == many else wanted


def is_named(kind: str, size: int, dtype: np.dtype[Any], is_foreign: bool) -> bool:
    """Does a letter with a size name the dtype? A dtype without a letter may be
    opaque bytes, and one of a byte a float: NumPy has no other float of that size."""
    kinds = ("V", "f")[: 1 + (dtype.itemsize == 1)] if is_foreign else (dtype.kind,)
    if is_foreign and (kind, size) == ("u", dtype.itemsize):
        raise Unclear("no letter names its dtype; its bits are exported as integers")
    return kind in kinds and size == dtype.itemsize


@producer_rule("interface.values", INTERFACE, arrays=EACH)
def values(subject: Subject, word: str) -> str:
    """data, shape, strides and typestr lead to the array's elements

    class View:
        __array_interface__ = property(lambda self: array.__array_interface__)
    given = np.asarray(View())
    assert given.dtype == source.dtype and given.shape == source.shape, given
    assert given.tobytes() == source.tobytes(), given
    """
    case = case_of(word)
    array, expected = subject.laid(case)
    found = interface_of(array)
    order, kind, size = re.fullmatch("(.?)(.?)(.*)", str(found.get("typestr"))).groups()  # type: ignore[union-attr]
    dtype = expected.dtype
    is_right = size.isdecimal() and is_named(kind, int(size), dtype, case.foreign)
    is_native = order == NATIVE_ORDER or dtype.itemsize == 1 or (order == "|" and kind == "V")
    expect(is_right and is_native, f"{case.dtype} is {found.get('typestr')!r}")
    wanted = own_shape(array, tuple(found["shape"]), expected.shape)
    if tuple(found["shape"]) != wanted or not is_content(elements(array, found), expected):
        raise Broken(f"{found['shape']}, strides {found.get('strides')}")
    return "its elements"


@producer_rule("interface.read-only", INTERFACE, arrays=PROTECTED)
def read_only(subject: Subject, word: str) -> str:
    """read-only memory is marked read-only

    found = array.__array_interface__
    assert found['data'][1] is True, found['data']
    """
    array, _ = subject.laid(case_of(word))
    found = interface_of(array)
    data: Any = found.get("data")
    assume(isinstance(data, tuple), "data is no address")
    expect(data[1], f"data is {data}")
    return "data[1] is True"


@producer_rule("struct.two", STRUCT)
def two(subject: Subject) -> str:
    """the struct begins with 2, its check value

    held = array.__array_struct__
    at = point(held, None)
    first = ctypes.c_int.from_address(at).value
    assert first == 2, first
    """
    _, facts, _ = struct(subject)
    expect(facts["two"] == 2, f"it begins with {facts['two']}")
    return "2"


@producer_rule("struct.values", STRUCT, arrays=EACH)
def struct_values(subject: Subject, word: str) -> str:
    """the struct leads to the array's elements

    class View:
        __array_struct__ = property(lambda self: array.__array_struct__)
    given = np.asarray(View())
    assert given.dtype == source.dtype and given.shape == source.shape, given
    assert given.tobytes() == source.tobytes(), given
    """
    case = case_of(word)
    _array, facts, expected = struct(subject, case)
    kind, size = facts["kind"], facts["itemsize"]
    is_right = is_named(kind, size, expected.dtype, case.foreign)
    expect(is_right, f"{case.dtype} is kind {kind} of {size} bytes")
    shape = facts["shape"] or ()
    found = gathered(facts["data"], shape, facts["strides"], size)
    if shape != expected.shape or not is_content(found, expected):
        raise Broken(f"{shape}, strides {facts['strides']}")
    return "its elements"


@producer_rule("struct.flags", STRUCT, source="strided")
def struct_flags(subject: Subject) -> str:
    """the flags mark memory that may be written, and contiguous memory

    held = array.__array_struct__
    at = point(held, None)
    flags = ctypes.c_int.from_address(at + 16).value
    assert bool(flags & 0x1) == source.flags.c_contiguous, hex(flags)
    assert bool(flags & 0x400) == source.flags.writeable, hex(flags)
    assert flags & 0x200, hex(flags)
    """
    observed = []
    for words, flag, wanted in (
        ({}, WRITEABLE, True),
        ({"readonly": True}, WRITEABLE, False),
        ({}, C_ORDER, None),
        ({"layout": "strided"}, C_ORDER, None),
        ({}, NOT_SWAPPED, True),
    ):
        try:
            _, facts, _ = struct(subject, subject.case(**words))
        except NotApplicable:
            continue
        if wanted is None:
            wanted = packed(facts["shape"] or (), facts["strides"], facts["itemsize"])
        if bool(facts["flags"] & flag) != wanted:
            subject.source = subject.source or ("readonly" if words else "line")
            raise Broken(f"flags are {facts['flags']:#x} of an array with {words or 'no property'}")
        observed.append(f"{facts['flags']:#x}")
    if not observed:
        struct(subject)
    return ", ".join(dict.fromkeys(observed))
