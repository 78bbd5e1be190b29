"""The buffer protocol: what exporters give."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any

import numpy as np

from dlbench import _check
from dlbench.case import Case
from dlbench.check.reading import Facts, gathered, packed, told
from dlbench.check.rule import PEP3118, RULES, Broken, NotApplicable, Shown
from dlbench.check.subject import Subject, collect

producer = partial(RULES.add, role="producer")
SIMPLE, WRITABLE, FORMAT, ND, STRIDES = 0, 1, 4, 8, 0x18
C_CONTIGUOUS = 0x38
FULL_RO = 0x11C
GET = (
    "get = ctypes.PyDLL(None).PyObject_GetBuffer\n"
    "print(get(ctypes.py_object(array), ctypes.create_string_buffer(256), {}))"
)


def buffered(subject: Subject, case: Case | None = None) -> tuple[Any, Facts]:
    """An array that speaks the protocol, and its facts, which hold the buffer."""
    array = subject.make(case or subject.case())
    try:
        return array, _check.get_buffer(array, FULL_RO)
    except TypeError:
        raise NotApplicable("its arrays have no buffer") from None
    except (BufferError, ValueError) as error:
        raise NotApplicable(f"refused: {told(error)}") from None
    except SystemError as error:
        raise Broken(told(error)) from None


def elements(facts: Facts) -> bytes:
    """In C order."""
    shape = facts["shape"] if facts["shape"] is not None else (facts["len"] // facts["itemsize"],)
    return gathered(facts["buf"], shape, facts["strides"], facts["itemsize"])


def row(facts: Facts) -> bytes:
    """What who asked for contiguous memory reads: `len` bytes, one after another."""
    return gathered(facts["buf"], (facts["len"],), None, 1)


def is_float32(text: str | None) -> bool:
    """Do the words of `struct` read it? NumPy's own names of dtypes are no such words."""
    try:
        return struct.unpack(text or "B", np.float32(1.5).tobytes()) == (1.5,)
    except struct.error:
        return False


@producer(
    "buffer.values",
    "shape, strides and itemsize lead to the array's elements",
    PEP3118,
    shown=Shown("view = memoryview(array)\nprint(view.shape, view.strides, view.tolist()[:4])"),
)
def values(subject: Subject) -> str:
    seen = []
    for layout in ("grid", "strided", "reversed"):
        case = subject.case(layout=layout)
        try:
            _, facts = buffered(subject, case)
        except NotApplicable:
            continue
        if facts["shape"] != case.shape:
            raise Broken(f"{layout}: shape is {facts['shape']}, not {case.shape}")
        if elements(facts) != case.expected().tobytes():
            raise Broken(f"{layout}: strides {facts['strides']} do not lead to the elements")
        seen.append(layout)
    if not seen:
        buffered(subject)
        raise NotApplicable("it makes none of the layouts")
    return ", ".join(seen)


@producer(
    "buffer.format",
    "format names the dtype",
    PEP3118,
    shown=Shown("print(memoryview(array).format)"),
)
def format_(subject: Subject) -> str:
    _, facts = buffered(subject)
    if not is_float32(facts["format"]):
        raise Broken(f"float32 is {facts['format']!r}")
    return repr(facts["format"])


@producer(
    "buffer.length",
    "len is the number of elements times itemsize",
    PEP3118,
    shown=Shown("print(memoryview(array).nbytes)"),
)
def length(subject: Subject) -> str:
    _, facts = buffered(subject)
    if facts["len"] != subject.case().bytes:
        raise Broken(f"{subject.case().bytes} bytes have len {facts['len']}")
    return f"{facts['len']} bytes"


@producer(
    "buffer.read-only",
    "read-only memory says so, and refuses who asks for writable memory",
    PEP3118,
    shown=Shown(f"print(memoryview(array).readonly)\n{GET.format(WRITABLE)}", source="readonly"),
)
def read_only(subject: Subject) -> str:
    array, facts = buffered(subject, subject.case(readonly=True))
    if not facts["readonly"]:
        raise Broken("readonly is 0")
    del facts
    try:
        _check.get_buffer(array, FULL_RO | WRITABLE)
    except BufferError as error:
        return told(error)
    except Exception as error:
        raise Broken(f"refused by {told(error)}") from None
    raise Broken("a writable buffer is given")


@producer(
    "buffer.contiguous",
    "who asks for contiguous memory gets it, or a BufferError",
    PEP3118,
    shown=Shown(GET.format(SIMPLE), source="strided"),
)
def contiguous(subject: Subject) -> str:
    case = subject.case(layout="strided")
    array, facts = buffered(subject, case)
    if packed(facts["shape"] or (), facts["strides"], facts["itemsize"]):
        raise NotApplicable("its array of every second element lies in one piece")
    del facts  # some lend one buffer at a time
    seen = []
    for name, flags in (("PyBUF_SIMPLE", SIMPLE), ("PyBUF_C_CONTIGUOUS", C_CONTIGUOUS)):
        try:
            given = _check.get_buffer(array, flags)
        except BufferError:
            seen.append("BufferError")
            continue
        except Exception as error:
            raise Broken(f"{name}: refused by {told(error)}") from None
        if row(given) != case.expected().tobytes():
            raise Broken(f"{name} is answered with memory that is not contiguous")
        seen.append("a copy in one piece")
    return ", ".join(dict.fromkeys(seen))


@producer(
    "buffer.keeps-memory",
    "a view keeps the memory when the array has gone",
    PEP3118,
    shown=Shown("view = memoryview(array)\ndel array, source\nprint(view.tolist()[:4])"),
)
def keeps_memory(subject: Subject) -> str:
    case = subject.case(bytes=1 << 17)
    array = buffered(subject, case)[0]
    view = memoryview(array)
    del array
    collect()
    used = [bytearray(b"\xee" * case.bytes) for _ in range(16)]
    if np.asarray(view).tobytes() != case.expected().tobytes():
        raise Broken("the values changed when the array was dropped")
    del used
    return "its values stay"
