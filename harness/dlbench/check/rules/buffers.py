"""The buffer protocol, both sides."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dlbench import _check
from dlbench.case import Case
from dlbench.check.lender import Array, content
from dlbench.check.reading import Facts, told
from dlbench.check.rule import PEP3118, RULES, Broken, NotApplicable, Shown
from dlbench.check.subject import Subject, collect

producer = partial(RULES.add, role="producer")
consumer = partial(RULES.add, role="consumer")
SIMPLE, WRITABLE, FORMAT, ND, STRIDES = 0, 1, 4, 8, 0x18
C_CONTIGUOUS = 0x38
FULL_RO = 0x11C
GET = (
    "get = ctypes.PyDLL(None).PyObject_GetBuffer\n"
    "print(get(ctypes.py_object(array), ctypes.create_string_buffer(256), {}))"
)


def buffered(subject: Subject, case: Case | None = None) -> tuple[Any, Facts]:
    """An array that speaks the protocol, and its facts."""
    array = subject.make(case or subject.case())
    try:
        return array, _check.get_buffer(array, FULL_RO)
    except TypeError:
        raise NotApplicable("its arrays have no buffer") from None
    except (BufferError, ValueError) as error:
        raise NotApplicable(f"refused: {told(error)}") from None


def elements(facts: Facts) -> bytes:
    """In C order."""
    shape = facts["shape"] if facts["shape"] is not None else (facts["len"] // facts["itemsize"],)
    if 0 in shape:
        return b""
    return _check.gather(facts["buf"], shape, facts["strides"], facts["itemsize"])


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
    if facts["format"] is None or np.dtype(facts["format"]) != np.dtype("float32"):
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
    array, _ = buffered(subject, subject.case(layout="strided"))
    for name, flags in (("PyBUF_SIMPLE", SIMPLE), ("PyBUF_C_CONTIGUOUS", C_CONTIGUOUS)):
        try:
            _check.get_buffer(array, flags)
        except BufferError:
            continue
        except Exception as error:
            raise Broken(f"{name}: refused by {told(error)}") from None
        raise Broken(f"{name} is answered with memory that is not contiguous")
    return "BufferError"


@producer(
    "buffer.keeps-memory",
    "a view keeps the memory when the array has gone",
    PEP3118,
    shown=Shown("view = memoryview(array)\ndel array, source\nprint(view.tolist()[:4])"),
)
def keeps_memory(subject: Subject) -> str:
    case = subject.case(bytes=1 << 17)
    array, _ = buffered(subject, case)
    view = memoryview(array)
    del array
    collect()
    used = [bytearray(b"\xee" * case.bytes) for _ in range(16)]
    if np.asarray(view).tobytes() != case.expected().tobytes():
        raise Broken("the values changed when the array was dropped")
    del used
    return "its values stay"


class Source(_check.Buffered):
    """The known producer of buffers: counts who holds one."""

    def __init__(self, array: Array, **changes: Any) -> None:
        self.array = array
        self.changes = changes
        self.given = self.released = 0

    def _buffer(self, flags: int) -> tuple[object, int, dict[str, Any]]:
        inner = (self.array, flags, self.changes)
        self.given += 1
        return inner

    def _released(self) -> None:
        self.released += 1


def imported(subject: Subject, source: Source) -> Facts:
    """What it makes of a buffer; its elements are the source's, though perhaps as bytes."""
    subject.entry("buffer")
    try:
        result = subject.import_(source, "buffer")
    except Exception as error:
        raise NotApplicable(f"refused: {told(error)}") from None
    if result is source:
        raise NotApplicable("it returned what it was given")
    return {**subject.look(result), "result": result}


@consumer(
    "import-buffer.values",
    "what it makes of a buffer has the buffer's elements",
    PEP3118,
    shown=Shown(struct="memoryview", source="line"),
)
def import_values(subject: Subject) -> str:
    array = content()
    seen = imported(subject, Source(array))
    if seen["values"] != array.tobytes():
        raise Broken("its values are not the buffer's")
    return f"{len(seen['values'])} bytes"


@consumer(
    "import-buffer.held",
    "a buffer is held while its memory is used, and given back once",
    PEP3118,
    shown=Shown(struct="memoryview", source="line"),
)
def import_held(subject: Subject) -> str:
    array = content()
    source = Source(array)
    seen = imported(subject, source)
    shares = seen["address"] == array.ctypes.data
    # Who looked has let go; what is left is the consumer's.
    collect()
    if shares and source.given == source.released:
        raise Broken("it was given back while its memory is used")
    seen.clear()
    collect()
    if source.given != source.released:
        raise Broken(f"of {source.given} buffers {source.released} were given back")
    return "held" if shares else "copied"


@consumer(
    "import-buffer.read-only",
    "what it makes of a read-only buffer cannot be written to, or is a copy",
    PEP3118,
    shown=Shown(struct="memoryview", source="readonly"),
)
def import_read_only(subject: Subject) -> str:
    array = content()
    array.flags.writeable = False
    seen = imported(subject, Source(array))
    if seen["address"] != array.ctypes.data:
        return "a copy"
    if seen["readonly"] is None:
        raise NotApplicable("what it returns does not tell whether it may be written to")
    if not seen["readonly"]:
        raise Broken("it may be written to")
    return "read-only"
