"""The buffer protocol: exporters."""

from __future__ import annotations

import re
import struct
import sys
from typing import Any

import numpy as np

from dlbench import _check
from dlbench.case import Case
from dlbench.check.reading import (
    Facts,
    describe_error,
    gathered,
    is_content,
    on_error,
    on_refusal,
    packed,
    values_of_numpy,
)
from dlbench.check.rule import PEP3118, producer_rule
from dlbench.check.situation import ARRAYS, DTYPES, LAZY, PROTECTED, case_of
from dlbench.check.subject import Subject, collect
from dlbench.check.verdict import Broken, NotApplicable, Unclear, assume, expect

SIMPLE, WRITABLE, FORMAT, ND, STRIDES = 0, 1, 4, 8, 0x18
C_CONTIGUOUS = 0x38
FULL_RO = 0x11C
NATIVE_ORDER = "<" if sys.byteorder == "little" else ">"


def buffered(subject: Subject, case: Case | None = None) -> tuple[Any, Facts]:
    """An array that speaks the protocol, and its facts, which hold the buffer."""
    array = subject.make(case or subject.case())
    return array, facts_of(array)


def has_dtypes(subject: Subject) -> bool:
    """Does a buffer describe its elements?

    The control is an array of another dtype: an array of bytes has no format.
    """
    for dtype in ("float32", "int16"):
        case = subject.case(dtype=dtype)
        try:
            facts = buffered(subject, case)[1]
        except NotApplicable:
            return True
        is_bytes = (facts["format"] or "B", facts["itemsize"]) == ("B", 1)
        if not is_bytes or (facts["shape"] or (facts["len"],)) != (case.bytes,):
            return True
    return False


def facts_of(array: Any) -> Facts:
    """The facts of a buffer for a caller that accepts any buffer."""
    try:
        with on_error(NotApplicable, "refused: ", (BufferError, ValueError)):
            facts: Facts = _check.get_buffer(array, FULL_RO)
    except TypeError:
        raise NotApplicable("its arrays have no buffer") from None
    except SystemError as error:
        raise Broken(describe_error(error)) from None
    return facts


def elements(facts: Facts) -> bytes:
    """The elements in C order."""
    shape = facts["shape"] if facts["shape"] is not None else (facts["len"] // facts["itemsize"],)
    return gathered(facts["buf"], shape, facts["strides"], facts["itemsize"])


def row(facts: Facts) -> bytes:
    """The `len` bytes that a caller for contiguous memory reads."""
    return gathered(facts["buf"], (facts["len"],), None, 1)


#: The letters of `struct` and of PEP 3118 for each kind of dtype.
LETTERS = {"b": "?", "i": "bhilqn", "u": "BHILQN", "f": "efdg", "c": ("Zf", "Zd", "F", "D")}
#: Bytes of the complex letters; `struct` knows F and D since Python 3.14.
COMPLEX = {"Zf": 8, "Zd": 16, "F": 8, "D": 16}


def is_format(text: str | None, dtype: np.dtype[Any], is_foreign: bool) -> bool:
    """Does the format name the dtype? NumPy's own names of dtypes are not formats. A dtype that
    has no letter may be opaque bytes."""
    order, form = re.fullmatch("([@=<>!^]?)(.*)", text or "B").groups()  # type: ignore[union-attr]
    form = form.removeprefix("1")
    is_native = dtype.itemsize == 1 or order in ("", "@", "=", "^", NATIVE_ORDER)
    count = "" if dtype.itemsize == 1 else str(dtype.itemsize)
    if is_foreign and form in (f"{count}{letter}" for letter in "sx"):
        return True
    if not is_native or form not in (*LETTERS["u" if is_foreign else dtype.kind],):
        return False
    try:
        size = COMPLEX.get(form) or struct.calcsize(order.replace("^", "=") + form)
    except struct.error:
        return False  # some letters have no size in the other byte order
    if is_foreign and size == dtype.itemsize:
        raise Unclear("no letter names its dtype; its bits are exported as integers")
    return size == dtype.itemsize


def laid(subject: Subject, word: str) -> tuple[Any, Facts, Any]:
    """An array in a situation, the facts of its buffer, and its content."""
    array, expected = subject.laid(case_of(word, subject.case().bytes))
    return array, facts_of(array), expected


@producer_rule("buffer.values", PEP3118, arrays=(*ARRAYS, *LAZY))
def values(subject: Subject, word: str) -> str:
    """shape, strides and itemsize lead to the array's elements

    given = np.asarray(memoryview(array))
    assert given.shape == source.shape and given.tobytes() == source.tobytes(), given
    """
    _array, facts, expected = laid(subject, word)
    shape = expected.shape if has_dtypes(subject) else (expected.nbytes,)
    # A buffer without dimensions has no shape.
    own = facts["shape"] if facts["shape"] is not None or facts["ndim"] else ()
    expect(own == shape, f"shape is {own}, not {shape}")
    if expected.size and not is_content(elements(facts), expected):
        raise Broken(f"strides {facts['strides']} do not lead to the elements")
    return "its elements"


@producer_rule("buffer.format", PEP3118, arrays=DTYPES)
def format_(subject: Subject, word: str) -> str:
    """format names the dtype, and itemsize is its size

    given = np.asarray(memoryview(array))
    assert given.dtype == source.dtype, memoryview(array).format
    """
    _array, facts, expected = laid(subject, word)
    assume(has_dtypes(subject), "its buffers are bytes, which have no dtype")
    dtype, case = expected.dtype, case_of(word)
    if not is_format(facts["format"], dtype, case.foreign) or facts["itemsize"] != dtype.itemsize:
        raise Broken(f"{case.dtype} is {facts['format']!r} of {facts['itemsize']} bytes")
    return "its dtype"


@producer_rule("buffer.length", PEP3118, arrays=ARRAYS)
def length(subject: Subject, word: str) -> str:
    """len is the number of elements times itemsize

    assert get_buffer(array, 0x11C)[2] == source.nbytes, get_buffer(array, 0x11C)[2]
    """
    _array, facts, expected = laid(subject, word)
    if facts["len"] != expected.nbytes:
        raise Broken(f"{expected.nbytes} bytes have len {facts['len']}")
    return "the bytes of its elements"


@producer_rule("buffer.read-only", PEP3118, arrays=PROTECTED, raises="BufferError")
def read_only(subject: Subject, word: str) -> str:
    """read-only memory is marked read-only, and a request for writable memory is a BufferError

    assert memoryview(array).readonly
    get_buffer(array, 0x11D)
    """
    array, facts, _ = laid(subject, word)
    expect(facts["readonly"], "readonly is 0")
    del facts
    with on_refusal(BufferError, "refused: "):
        _check.get_buffer(array, FULL_RO | WRITABLE)
    raise Broken("a writable buffer is exported")


#: Each requests memory in C order; a caller of plain bytes may get them in another order.
CONTIGUOUS = (
    ("PyBUF_SIMPLE", SIMPLE, "CF"),
    ("PyBUF_ND", ND, "C"),
    ("PyBUF_C_CONTIGUOUS", C_CONTIGUOUS, "C"),
)


@producer_rule("buffer.contiguous", PEP3118, arrays=("strided", "fortran", "reversed", "broadcast"))
def contiguous(subject: Subject, word: str) -> str:
    """a request for contiguous memory returns it, or raises BufferError

    for flags, orders in ((0, 'CF'), (0x8, 'C'), (0x38, 'C')):
        try:
            view = get_buffer(array, flags)
        except BufferError as error:
            print(hex(flags), 'is refused:', error)
            continue
        given = ctypes.string_at(view[0], view[2])
        assert given in [source.tobytes(order) for order in orders], hex(flags)
    """
    array, facts, expected = laid(subject, word)
    is_packed = packed(facts["shape"] or (), facts["strides"], facts["itemsize"])
    assume(not is_packed, "its arrays lie in one piece, however they are made")
    del facts  # some export one buffer at a time
    return contiguous_of(array, expected)


def contiguous_of(array: Any, expected: Any) -> str:
    """The result of each request to an array that is not contiguous."""
    observed = []
    for name, flags, orders in CONTIGUOUS:
        try:
            given = _check.get_buffer(array, flags)
        except BufferError:
            observed.append("BufferError")
            continue
        except Exception as error:
            raise Broken(f"{name}: refused by {describe_error(error)}") from None
        if row(given) not in [expected.tobytes(order) for order in orders]:
            raise Broken(f"{name} returns memory that is not contiguous")
        observed.append("a copy in one piece")
    return ", ".join(dict.fromkeys(observed))


@producer_rule("buffer.fields", PEP3118, source="grid")
def fields(subject: Subject) -> str:
    """PyBUF_ND fills the shape, PyBUF_STRIDES the strides too; without PyBUF_FORMAT format is NULL

    assert get_buffer(array, 0x8)[6], 'PyBUF_ND fills no shape'
    assert get_buffer(array, 0x18)[7], 'PyBUF_STRIDES fills no strides'
    assert not get_buffer(array, 0x8)[5], 'PyBUF_ND fills a format'
    """
    case = subject.case(dims="2d")
    array, facts = buffered(subject, case)
    shape = facts["shape"]
    del facts
    for name, flags, wanted in (("PyBUF_ND", ND, "shape"), ("PyBUF_STRIDES", STRIDES, "strides")):
        words = f"{name} is refused: "
        with on_error(Broken, words), on_error(NotApplicable, words, BufferError):
            given = _check.get_buffer(array, flags)
        if given[wanted] is None:
            raise Broken(f"{name} fills no {wanted}")
        expect(given["shape"] == shape, f"{name} fills shape {given['shape']}, not {shape}")
        if given["format"] is not None:
            raise Broken(f"{name} fills format {given['format']!r}, which was not requested")
        del given
    return f"shape {shape}"


@producer_rule("buffer.keeps-memory", PEP3118, source="large")
def keeps_memory(subject: Subject) -> str:
    r"""a view keeps the memory after the array is deleted

    view, expected = memoryview(array), source.tobytes()
    del array, source; gc.collect()
    other = [bytearray(b'\xee' * len(expected)) for _ in range(64)]
    assert np.asarray(view).tobytes() == expected
    """
    case = subject.case(bytes=1 << 17)
    array = buffered(subject, case)[0]
    view = memoryview(array)
    del array
    collect()
    used = [bytearray(b"\xee" * case.bytes) for _ in range(16)]
    if values_of_numpy(np.asarray(view)) != case.expected().tobytes():
        raise Broken("the values changed when the array was dropped")
    del used
    return "its values stay"
