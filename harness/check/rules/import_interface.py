"""`__array_interface__` and `__array_struct__`: consumers."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dlbench import _check
from dlbench.check.imports import require_elements
from dlbench.check.known_producer import LAYOUTS, Array, content
from dlbench.check.reading import Facts, on_error
from dlbench.check.rule import INTERFACE, consumer_rule
from dlbench.check.rules.array_interface import C_ORDER, NOT_SWAPPED, STRUCT, WRITEABLE
from dlbench.check.situation import EMPTY, IMPORTED
from dlbench.check.subject import Subject, collect
from dlbench.check.verdict import Broken, NotApplicable, Unclear

KEEPS = """\
alive = weakref.ref(array); del array; gc.collect()
assert alive() or not np.shares_memory({values}, source), 'it is deleted'
del result; gc.collect()
assert alive() is None, 'it is kept'"""


class Interface:
    """The known producer of both interfaces."""

    def __init__(self, array: Array, kind: str, *, is_null: bool = False) -> None:
        self.array = array
        self.data = 0 if is_null else array.ctypes.data
        self.kind = kind
        self.word = "line"

    def __getattr__(self, name: str) -> Any:
        if name == self.kind == "__array_interface__":
            facts = self.array.__array_interface__
            kept = {key: facts[key] for key in ("shape", "typestr", "strides", "version")}
            return {**kept, "data": (self.data, False)}
        if name == self.kind == "__array_struct__":
            array = self.array
            flags = NOT_SWAPPED | WRITEABLE | 0x100 | (C_ORDER if array.flags.c_contiguous else 0)
            return _check.make_struct(
                2, array.dtype.kind, array.itemsize, flags, array.shape, array.strides,
                self.data, self,
            )  # fmt: skip
        raise AttributeError(name)


@contextmanager
def on_null(is_null: bool) -> Iterator[None]:
    """What becomes of an empty array's NULL is unclear: no text excludes or demands that
    address."""
    try:
        yield
    except (Broken, NotApplicable) as end:
        raise (Unclear(f"at the address NULL: {end}") if is_null else end) from None


def brought(subject: Subject, given: Interface, protocol: str) -> tuple[Any, Facts]:
    subject.entry(protocol)
    with on_error(NotApplicable, "refused: "):
        result = subject.import_(given, protocol)
    return result, subject.read_facts(result, given.array)


def _add(protocol: str, attribute: str, section: str) -> None:
    group = f"import-{attribute.strip('_').removeprefix('array_')}"

    words = {"struct": attribute, "refusal": "Exception"}
    elements = f"the result has the elements of {attribute}, whatever the strides"

    @consumer_rule(
        f"{group}.values",
        section,
        f"{elements}\n\n{{same}}",
        arrays=IMPORTED,
        **words,
    )
    def check_rule(subject: Subject, word: str) -> str:
        for is_null in (False, True)[: 1 + (word in EMPTY)]:
            source = Interface(LAYOUTS[word](), attribute, is_null=is_null)
            source.word = word
            with on_null(is_null):
                result, observed = brought(subject, source, protocol)
                require_elements(subject, result, observed, source.array)
        return "its elements"

    lives = f"the object with {attribute} lives as long as its memory is used"

    @consumer_rule(f"{group}.keeps-exporter", section, f"{lives}\n\n{KEEPS}", **words)
    def keeps(subject: Subject) -> str:
        given = Interface(content(), attribute)
        alive = weakref.ref(given)
        first = given.array.ctypes.data
        result, observed = brought(subject, given, protocol)
        shares = observed["address"] == first
        if not shares:
            return "a copy"
        # The memory stays in any case: it is the object that is watched.
        memory = given.array
        del given
        collect()
        if alive() is None:
            raise Broken("it was released while its memory is used")
        del result, memory
        collect()
        if alive() is not None:
            raise Broken("it is kept after the result is deleted")
        return "it is held"


_add("array_interface", "__array_interface__", INTERFACE)
_add("array_struct", "__array_struct__", STRUCT)
