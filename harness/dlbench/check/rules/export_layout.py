"""Whether the exported description leads to the array's elements, for each layout."""

from __future__ import annotations

from typing import Any

from dlbench.case import Case
from dlbench.check.reading import CODES, describe_error, read, values
from dlbench.check.rule import HEADER, producer_rule
from dlbench.check.situation import EXPORTS, STRUCTS, case_of
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken

TENSOR = f"{HEADER}, DLTensor"
#: NumPy is the reader.
READ = """
class Exported:
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **keywords):
        return array.__dlpack__({call})
require_equal(allowed(lambda: np.from_dlpack(Exported())), source)"""


def compared(subject: Subject, word: str, **keywords: Any) -> str:
    """The export has the array's shape, dtype and elements, or is refused."""
    array, expected = subject.exporter_of(word, keywords)
    try:
        capsule = array.__dlpack__(**keywords)
        facts = read(capsule)
    except Exception as error:
        # A library without any export needs no layout.
        subject.export(subject.exporter())
        return f"refused: {describe_error(error)}"
    agree(facts, case_of(word), expected)
    return "its elements"


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


def _add(name: str, sentence: str) -> None:
    @producer_rule(
        f"export.{name}", TENSOR, f"{sentence}\n{READ}", arrays=(name,), variants=EXPORTS
    )
    def check_rule(subject: Subject, word: str, **keywords: Any) -> str:
        return compared(subject, word, **keywords)


_add("grid", "two dimensions in C order are exported with their shape and strides")
_add("fortran", "two dimensions in Fortran order are exported with their shape and strides")
_add("strided", "every second element of one dimension is exported with its stride")
_add("reversed", "a reversed dimension is exported with its negative stride")
_add("broadcast", "a broadcast dimension is exported with a stride of zero")
_add("ones", "dimensions of size 1 are exported correctly, whatever their strides")
_add("scalar", "an array without dimensions is exported as one element")
_add("empty", "an array without elements keeps its shape")
_add("offset", "an array at an unaligned address is exported with that address")


@producer_rule(
    "export.dtypes",
    f"{HEADER}, DLDataType",
    arrays=tuple(f"dtype-{name}" for name in CODES),
    variants=STRUCTS,
)
def dtypes(subject: Subject, word: str, **keywords: Any) -> str:
    """each dtype is exported by its code and bits, in one lane

    require_equal(allowed(lambda: np.from_dlpack(array)), source)
    """
    array, content = subject.exporter_of(word, keywords)
    capsule = subject.readable(lambda: array.__dlpack__(**keywords))
    agree(read(capsule), case_of(word), content)
    return "exported by code and bits"
