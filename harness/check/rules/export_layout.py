"""Whether the exported description leads to the array's elements, for each layout."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from dlbench.case import Case
from dlbench.check.reading import (
    CODES,
    describe_error,
    is_content,
    on_error,
    on_refusal,
    packed,
    read,
    values,
)
from dlbench.check.rule import HEADER, METHOD, producer_rule
from dlbench.check.situation import DTYPES, EMPTY, EXPORTS, LAZY, STRUCTS, case_of
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, expect

TENSOR = f"{HEADER}, DLTensor"
#: NumPy is the reader.
READ = """
class Exported:
    __dlpack_device__ = lambda self: (1, 0)
    __dlpack__ = lambda self, **keywords: array.__dlpack__({call})
given = np.from_dlpack(Exported())
assert given.dtype == source.dtype and np.array_equal(given, source), given"""


def compared(subject: Subject, word: str, **keywords: Any) -> str:
    """The export has the array's shape, dtype and elements, or is refused."""
    array, expected = subject.exporter_of(word, keywords)
    require_layout(array, expected)
    try:
        capsule = array.__dlpack__(**keywords)
        facts = read(capsule)
    except Exception as error:
        # A library without any export needs no layout.
        subject.export(subject.exporter())
        return f"refused: {describe_error(error)}"
    agree(facts, case_of(word), expected)
    return "its elements"


def require_layout(array: Any, expected: Any) -> None:
    """Raises NotApplicable where the library keeps no such layout: its array lies in C order."""
    if not expected.size or packed(expected.shape, expected.strides, expected.itemsize):
        return
    with suppress(Exception):
        facts = read(capsule := array.__dlpack__())
        is_right = values(facts) == expected.tobytes()
        del capsule
        if is_right and packed(facts["shape"], facts["strides"], 1):
            raise NotApplicable("it lays such an array out in C order")


def agree(facts: dict[str, Any], case: Case, content: Any = None) -> str:
    """Raises Broken where the facts are not the case's, nor of that content of its dtype; read in
    the order in which an error makes the next one unreadable."""
    content = case.expected() if content is None else content
    if facts.get("shape") != content.shape:
        raise Broken(f"shape is {facts.get('shape')}, not {content.shape}")
    expected = (*CODES[case.dtype], 1)
    if facts["dtype"] != expected:
        raise Broken(f"{case.dtype} is exported as (code, bits, lanes) {facts['dtype']}")
    if not is_content(values(facts), content):
        raise Broken(f"strides {facts['strides']} do not lead to the array's elements")
    return f"shape {facts['shape']}, strides {facts['strides']}"


def _add(name: str, sentence: str, *arrays: str) -> None:
    @producer_rule(
        f"export.{name}",
        TENSOR,
        f"{sentence}\n{READ}",
        arrays=arrays or (name,),
        variants=EXPORTS,
        refusal="Exception",
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
_add("empty", "an array without elements keeps its shape", *EMPTY)
_add("offset", "an array at an unaligned address is exported with that address")
_add("views", "a slice of an array is exported where it begins", "slice", "window", "slice-strided")
_add("lazy", "conjugates and negatives that are not computed yet are computed, or refused", *LAZY)


@producer_rule(
    "export.dtypes",
    f"{HEADER}, DLDataType",
    arrays=DTYPES,
    variants=STRUCTS,
    refusal="Exception",
)
def dtypes(subject: Subject, word: str, **keywords: Any) -> str:
    """each dtype is exported by its code and bits, in one lane

    given = np.from_dlpack(array)
    assert given.dtype == source.dtype and np.array_equal(given, source), given
    """
    array, content = subject.exporter_of(word, keywords)
    capsule = subject.readable(lambda: array.__dlpack__(**keywords))
    agree(read(capsule), case_of(word), content)
    return "exported by code and bits"


#: The library's own dtypes with less than eight bits, and their code and bits.
SMALL = {
    **{f"int{bits}": (0, bits) for bits in (2, 4)},
    **{f"uint{bits}": (1, bits) for bits in (2, 4)},
    "float4_e2m1fn": (17, 4),
}


def own_array(array: Any, dtype: str) -> Any:
    """An array of a dtype that the library itself names, as the array API makes it."""
    if hasattr(array, "__array_namespace__"):
        names = array.__array_namespace__()
    else:
        names = sys.modules.get(type(array).__module__.partition(".")[0])
    with on_error(NotApplicable, f"it makes no {dtype}: "):
        return names.empty((8,), dtype=getattr(names, dtype))


#: Statements of a script that make an array of such a dtype.
OWN = """
if hasattr(array, '__array_namespace__'):
    names = array.__array_namespace__()
else:
    names = sys.modules[type(array).__module__.partition('.')[0]]
small = names.empty((8,), dtype=names.{dtype})
"""
SMALL_DTYPES = tuple({"dtype": name} for name in SMALL)


@producer_rule(
    "export.sub-byte",
    f"{HEADER}, DLDataType.bits",
    "elements of 2 and 4 bits are exported with their bits, or refused\n"
    f"{OWN}given = small.__dlpack__(max_version=(1, 3))\n"
    "at = tensor_of(given) + 20\n"
    "kind = [ctypes.c_uint8.from_address(at + i).value for i in range(2)]\n"
    "assert kind[1] < 8, kind",
    variants=SMALL_DTYPES,
    refusal="Exception",
)
def sub_byte(subject: Subject, word: str, dtype: str) -> str:
    array = own_array(subject.exporter(), dtype)
    with on_error(Holds, "refused: "):
        capsule = subject.request_export(array)
        facts = read(capsule)
    expected = (*SMALL[dtype], 1)
    expect(facts["dtype"] == expected, f"exported as (code, bits, lanes) {facts['dtype']}")
    return f"{expected}"


@producer_rule(
    "export.sub-byte-refusal",
    f"{METHOD}, Raises",
    "an array of elements of 2 and 4 bits that cannot be exported raises BufferError\n"
    f"{OWN}print('exported:', small.__dlpack__(max_version=(1, 3)))",
    level="should",
    variants=SMALL_DTYPES,
    refusal="BufferError",
)
def sub_byte_refusal(subject: Subject, word: str, dtype: str) -> str:
    array = own_array(subject.exporter(), dtype)
    with on_refusal(BufferError):
        subject.request_export(array)
    raise NotApplicable("it is exported")
