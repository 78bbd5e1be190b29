"""Whether the exported description leads to the array's elements, for each layout."""

from __future__ import annotations

from functools import partial
from typing import Any

from dlbench.case import Case
from dlbench.check.reading import CODES, describe_error, read, values
from dlbench.check.rule import HEADER, producer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, assume

TENSOR = f"{HEADER}, DLTensor"
#: NumPy is the reader.
READ = "require_equal(allowed(lambda: np.from_dlpack(array)), source)"


def shaped(subject: Subject, case: Case) -> tuple[Any, Any]:
    """An exporter with the shape of the case, and its content."""
    array, expected = subject.laid(case)
    assume(hasattr(array, "__dlpack__"), "its arrays have no __dlpack__")
    own = getattr(array, "shape", expected.shape)
    if isinstance(own, tuple) and own != expected.shape:
        raise NotApplicable(f"its array of that kind has shape {own}")
    return array, expected


def compared(subject: Subject, case: Case) -> str:
    """The export of the case has its shape, dtype and elements, or is refused."""
    array, expected = shaped(subject, case)
    try:
        capsule = subject.request_export(array)
        facts = read(capsule)
    except Exception as error:
        # A library without any export needs no layout.
        subject.export(subject.exporter())
        return f"refused: {describe_error(error)}"
    return agree(facts, case, expected)


def agree(facts: dict[str, Any], case: Case, content: Any = None) -> str:
    """Raises Broken where the facts are not the case's, nor of that content of its dtype; read in
    the order in which an error makes the next one unreadable."""
    content = case.expected() if content is None else content
    if facts.get("shape") != content.shape:
        raise Broken(f"shape is {facts.get('shape')}, not {content.shape}")
    expected = (*CODES[case.dtype], 1)
    if facts["dtype"] != expected:
        raise Broken(f"{case.dtype} is exported as (code, bits, lanes) {facts['dtype']}")
    if values(facts) != content.tobytes():
        raise Broken(f"strides {facts['strides']} do not lead to the array's elements")
    return f"shape {facts['shape']}, strides {facts['strides']}"


def _add(name: str, sentence: str, **changes: Any) -> None:
    source = str(changes.get("layout", name))

    @producer_rule(f"export.{name}", TENSOR, f"{sentence}\n\n{READ}", source=source)
    def check_rule(subject: Subject) -> str:
        return compared(subject, subject.case(**changes))


_add("grid", "two dimensions in C order are exported with their shape and strides", layout="grid")
_add(
    "fortran",
    "two dimensions in Fortran order are exported with their shape and strides",
    layout="fortran",
)
_add(
    "strided", "every second element of one dimension is exported with its stride", layout="strided"
)
_add("reversed", "a reversed dimension is exported with its negative stride", layout="reversed")
_add("broadcast", "a broadcast dimension is exported with a stride of zero", layout="broadcast")
_add("ones", "dimensions of size 1 are exported correctly, whatever their strides", layout="ones")
_add("scalar", "an array without dimensions is exported as one element", layout="scalar", bytes=4)
_add("empty", "an array without elements keeps its shape", layout="empty", bytes=0)
_add("offset", "an array at an unaligned address is exported with that address", offset=4)


@producer_rule("export.dtypes", f"{HEADER}, DLDataType")
def dtypes(subject: Subject) -> str:
    """each dtype is exported by its code and bits, in one lane

    require_equal(allowed(lambda: np.from_dlpack(array)), source)
    """
    subject.exporter()
    made, observed, wrong, at_fault = 0, 0, [], ""
    why = "it makes none of them"
    for dtype in CODES:
        case = subject.case(dtype=dtype)
        try:
            array, content = shaped(subject, case)
        except NotApplicable:
            continue
        made += 1
        try:
            capsule = subject.readable(partial(subject.request_export, array))
            agree(read(capsule), case, content)
        except Broken as broken:
            wrong.append(str(broken))
            at_fault = at_fault or subject.source
        except NotApplicable as end:
            why = str(end)
        else:
            observed += 1
    if wrong:
        # The script shows the first of them.
        subject.source = at_fault
        raise Broken("; ".join(wrong))
    assume(observed, why)
    return f"{observed} of {made} dtypes"
