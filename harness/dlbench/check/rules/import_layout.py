"""Whether a consumer finds the elements in any layout; where it cannot, it must raise."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlbench.check.known_producer import KnownProducer, content
from dlbench.check.reading import on_error
from dlbench.check.rule import HEADER, Broken, NotApplicable, Unclear, consumer_rule
from dlbench.check.showing import ONCE, SAME
from dlbench.check.subject import Subject
from dlbench.check.taking import brought, imported, require_import, same

TENSOR = f"{HEADER}, DLTensor"
strided = np.lib.stride_tricks.as_strided


@consumer_rule(
    "import.byte-offset",
    "the first element is data + byte_offset",
    f"{TENSOR}.byte_offset",
    patch="ctypes.c_uint64.from_address(tensor + 40).value = 16  # bytes: four elements\n"
    "ctypes.c_int64.from_address("
    "ctypes.c_void_p.from_address(tensor + 24).value).value -= 4",
    refusal="Exception",
    lines="given = values(result)\nassert given.tobytes() == source[4:].tobytes(), given",
)
def byte_offset(subject: Subject) -> str:
    whole = content(count=72)
    producer = KnownProducer(subject, whole[8:])
    producer.memory = type(producer.memory)(whole)
    producer.first = producer.memory.address
    producer.describes["byte_offset"] = 32
    return imported(subject, producer)


def _add(name: str, sentence: str, source: str, risky: bool = False) -> None:
    @consumer_rule(f"import.{name}", sentence, f"{TENSOR}.strides", risky=risky,
                   source=source, refusal="Exception", lines=SAME)  # fmt: skip
    def look(subject: Subject) -> str:
        return imported(subject, KnownProducer(subject, LAYOUTS[name]()))


def _rows() -> Any:
    return strided(content(count=16), (4, 16), (0, 4))


LAYOUTS: dict[str, Any] = {
    "strided": lambda: content(count=128)[::2],
    "reversed": lambda: content()[::-1],
    "broadcast": _rows,
    "fortran": lambda: content().reshape(8, 8).T,
}
_add("strided", "steps between elements are kept, or the import is refused", "strided")
_add("reversed", "negative strides are followed, or the import is refused", "reversed", risky=True)
_add("broadcast", "strides of zero are followed, or the import is refused", "broadcast")
_add("fortran", "the first dimension may run fastest, or the import is refused", "fortran")


@consumer_rule(
    "import.ones",
    "what the stride of a dimension of size 1 is does not matter",
    f"{TENSOR}.strides",
    verdict="broken",
    source="ones",
    refusal="Exception",
    lines=SAME,
)
def ones(subject: Subject) -> str:
    require_import(subject)
    producer = KnownProducer(subject, strided(content(), (1, 64, 1), (12, 4, 20)))
    with on_error(Unclear, "refused, though the elements are one behind the other: "):
        result = subject.import_(producer)
    return same(subject, producer, result)


@consumer_rule(
    "import.null-strides",
    "strides that are NULL mean row-major (legacy struct, and before 1.2)",
    f"{TENSOR}.strides",
    risky=True,
    source="grid",
    patch="ctypes.c_void_p.from_address(tensor + 32).value = None",
    lines=SAME,
)
def null_strides(subject: Subject) -> str:
    require_import(subject)
    producer = KnownProducer(subject, content().reshape(8, 8), strides=None, version=(1, 1))
    result = brought(subject, producer, Broken, "refused")
    return same(subject, producer, result)


@consumer_rule(
    "import.scalar",
    "a tensor without dimensions, shape and strides NULL, is one element",
    f"{TENSOR}.ndim",
    risky=True,
    source="scalar",
    refusal="Exception",
    lines=SAME,
)
def scalar(subject: Subject) -> str:
    return imported(subject, KnownProducer(subject, content(count=1).reshape(())))


@consumer_rule(
    "import.empty-null",
    "a tensor without elements may have data NULL",
    f"{TENSOR}.data",
    risky=True,
    source="empty",
    patch="ctypes.c_void_p.from_address(tensor).value = None",
    lines=SAME,
)
def empty_null(subject: Subject) -> str:
    require_import(subject)
    producer = KnownProducer(subject, content(count=0), data=None)
    result = brought(subject, producer, Broken, "refused")
    return same(subject, producer, result)


@consumer_rule(
    "import.empty-deleted",
    "a tensor without elements is deleted like any other",
    f"{HEADER}, DLManagedTensorVersioned.deleter",
    source="empty",
    patch="{count}",
    refusal="Exception",
    lines=f"del result; {ONCE}",
)
def empty_deleted(subject: Subject) -> str:
    producer = KnownProducer(subject, content(count=0), data=None)
    result = brought(subject, producer, NotApplicable, "refused")
    del result
    return producer.require_deleted()


@consumer_rule(
    "import.misaligned",
    "elements behind an odd address arrive, or the import is refused",
    f"{TENSOR}.data (consumers must not rely on its alignment)",
    source="odd",
    refusal="Exception",
    lines=SAME,
)
def misaligned(subject: Subject) -> str:
    return imported(subject, KnownProducer(subject, offset=2))
