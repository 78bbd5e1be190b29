"""Whether the description leads to the array's elements, for each way in which they can lie."""

from __future__ import annotations

from functools import partial
from typing import Any

from dlbench.case import Case
from dlbench.check.reading import CODES, read, told, values
from dlbench.check.rule import HEADER, RULES, Broken, NotApplicable, Shown
from dlbench.check.subject import Subject

rule = partial(RULES.add, role="producer")
TENSOR = f"{HEADER}, DLTensor"
SHAPE = (
    "ndim = ctypes.c_int32.from_address(tensor + 16).value\n"
    "for at in (24, 32):\n"
    "    numbers = ctypes.c_void_p.from_address(tensor + at).value\n"
    "    print(numbers and list((ctypes.c_int64 * ndim).from_address(numbers)))"
)


def shaped(subject: Subject, case: Case) -> Any:
    """An exporter with the shape of the case."""
    array = subject.exporter(case)
    own = getattr(array, "shape", case.shape)
    if isinstance(own, tuple) and own != case.shape:
        raise NotApplicable(f"its array of that kind has shape {own}")
    return array


def compared(subject: Subject, case: Case) -> str:
    """The export of the case has its shape, dtype and elements, or is refused."""
    array = shaped(subject, case)
    try:
        capsule = subject.ask(array)
        facts = read(capsule)
    except Exception as error:
        return f"refused: {told(error)}"
    return agree(facts, case)


def agree(facts: dict[str, Any], case: Case) -> str:
    """Raises Broken where the facts are not the case's; read in the order in which an error makes
    the next one unreadable."""
    if facts.get("shape") != case.shape:
        raise Broken(f"shape is {facts.get('shape')}, not {case.shape}")
    expected = (*CODES[case.dtype], 1)
    if facts["dtype"] != expected:
        raise Broken(f"{case.dtype} is exported as (code, bits, lanes) {facts['dtype']}")
    if values(facts) != case.expected().tobytes():
        raise Broken(f"strides {facts['strides']} do not lead to the array's elements")
    return f"shape {facts['shape']}, strides {facts['strides']}"


def _add(name: str, sentence: str, **changes: Any) -> None:
    source = str(changes.get("layout", name))

    @rule(f"export.{name}", sentence, TENSOR, shown=Shown(SHAPE, source=source))
    def look(subject: Subject) -> str:
        return compared(subject, subject.case(**changes))


_add("grid", "two dimensions in C order are described as they lie", layout="grid")
_add("fortran", "two dimensions in Fortran order are described as they lie", layout="fortran")
_add("strided", "every second element of a line is described as it lies", layout="strided")
_add("reversed", "a line from its end to its start is described as it lies", layout="reversed")
_add("broadcast", "rows that are one and the same are described as they lie", layout="broadcast")
_add("ones", "dimensions of size 1 with odd strides do no harm", layout="ones")
_add("scalar", "an array without dimensions is one element", layout="scalar", bytes=4)
_add("empty", "an array without elements keeps its shape", layout="empty", bytes=0)
_add("offset", "elements behind an odd address are described as they lie", offset=4)


@rule(
    "export.dtypes",
    "each dtype is exported by its code and bits, in one lane",
    f"{HEADER}, DLDataType",
    shown=Shown("print([ctypes.c_uint8.from_address(tensor + at).value for at in (20, 21, 22)])"),
)
def dtypes(subject: Subject) -> str:
    subject.exporter()
    made, seen, wrong = 0, 0, []
    why = "it makes none of them"
    for dtype in CODES:
        case = subject.case(dtype=dtype)
        try:
            array = shaped(subject, case)
        except NotApplicable:
            continue
        made += 1
        try:
            capsule = subject.readable(partial(subject.ask, array))
            agree(read(capsule), case)
        except Broken as broken:
            wrong.append(str(broken))
        except NotApplicable as end:
            why = str(end)
        else:
            seen += 1
    if wrong:
        raise Broken("; ".join(wrong))
    if not seen:
        raise NotApplicable(why)
    return f"{seen} of {made} dtypes"
