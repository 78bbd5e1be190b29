"""Whether a consumer reads the elements in any layout, or else raises."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlbench.check.imports import brought, imported, imported_as, require_import, same
from dlbench.check.known_producer import LEGACY, KnownProducer, content
from dlbench.check.reading import on_error
from dlbench.check.rule import HEADER, consumer_rule
from dlbench.check.situation import EMPTY, Variant
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, Unclear, assume, expect

TENSOR = f"{HEADER}, DLTensor"
#: The struct that is requested, and the legacy one.
EITHER: tuple[Variant, ...] = ({}, LEGACY)


@consumer_rule(
    "import.byte-offset",
    f"{TENSOR}.byte_offset",
    patch="ctypes.c_uint64.from_address(tensor + 40).value = 16  # bytes: four elements\n"
    "ctypes.c_int64.from_address("
    "ctypes.c_void_p.from_address(tensor + 24).value).value -= 4",
    refusal="Exception",
    variants=EITHER,
)
def byte_offset(subject: Subject, word: str, **struct: Any) -> str:
    """the first element is data + byte_offset

    given = {values}
    assert given.tobytes() == source[4:].tobytes(), given
    """
    whole = content(count=72)
    producer = KnownProducer(subject, whole[8:], **struct)
    producer.memory = type(producer.memory)(whole)
    producer.first = producer.memory.address
    producer.describes["byte_offset"] = 32
    return imported(subject, producer)


def _add(name: str, sentence: str, risky: bool = False) -> None:
    doc = f"{sentence}\n\n{{same}}"
    words: dict[str, Any] = {"risky": risky, "arrays": (name,), "variants": EITHER}

    @consumer_rule(f"import.{name}", f"{TENSOR}.strides", doc, refusal="Exception", **words)
    def check_rule(subject: Subject, word: str, **struct: Any) -> str:
        return imported_as(subject, word, **struct)


_add("strided", "strides of several elements are followed, or the import is refused")
_add("reversed", "negative strides are followed, or the import is refused", risky=True)
_add("broadcast", "strides of zero are followed, or the import is refused")
_add("fortran", "the first dimension may run fastest, or the import is refused")


@consumer_rule(
    "import.ones",
    f"{TENSOR}.strides",
    verdict="broken",
    arrays=("ones",),
    variants=EITHER,
    refusal="Exception",
)
def ones(subject: Subject, word: str, **struct: Any) -> str:
    """the stride of a dimension of size 1 is ignored

    {same}
    """
    require_import(subject)
    producer = KnownProducer.of(subject, word, **struct)
    with on_error(NotApplicable, "so it is with other strides: refused: "):
        subject.import_(KnownProducer(subject, np.array(producer.array, order="C"), **struct))
    with on_error(Unclear, "refused, though the elements are one behind the other: "):
        result = subject.import_(producer)
    return same(subject, producer, result)


@consumer_rule(
    "import.null-strides",
    f"{TENSOR}.strides",
    risky=True,
    source="grid",
    patch="ctypes.c_void_p.from_address(tensor + 32).value = None",
)
def null_strides(subject: Subject) -> str:
    """strides that are NULL mean row-major (legacy struct, and before 1.2)

    {same}
    """
    require_import(subject)
    array = content().reshape(8, 8)
    brought(subject, KnownProducer(subject, array), NotApplicable, "so it is with strides: refused")
    producer = KnownProducer(subject, array, strides=None, version=(1, 1))
    result = brought(subject, producer, Broken, "refused")
    return same(subject, producer, result)


@consumer_rule(
    "import.scalar",
    f"{TENSOR}.ndim",
    risky=True,
    arrays=("scalar",),
    variants=EITHER,
    refusal="Exception",
)
def scalar(subject: Subject, word: str, **struct: Any) -> str:
    """a tensor without dimensions, shape and strides NULL, is one element

    {same}
    """
    return imported_as(subject, word, **struct)


#: One dimension more than NumPy has; all but the last are of size 1.
MANY = (*(1,) * 64, 64)


@consumer_rule(
    "import.dimensions",
    f"{TENSOR}.ndim",
    risky=True,
    patch="ctypes.c_int32.from_address(tensor + 16).value = 65\n"
    "extents = (ctypes.c_int64 * 65)(*[1] * 64, 64)\n"
    "ctypes.c_void_p.from_address(tensor + 24).value = ctypes.addressof(extents)\n"
    "strides = (ctypes.c_int64 * 65)(*[64] * 64, 1)\n"
    "ctypes.c_void_p.from_address(tensor + 32).value = ctypes.addressof(strides)\n"
    "self.kept = extents, strides",
    refusal="Exception",
    variants=EITHER,
)
def dimensions(subject: Subject, word: str, **struct: Any) -> str:
    """65 dimensions, more than NumPy has, are all imported, or the import is refused

    assert len(result.shape) == 65, result.shape
    """
    strides = (*(64,) * 64, 1)
    producer = KnownProducer(subject, content(), shape=MANY, strides=strides, **struct)
    with on_error(Holds, "refused: "):
        shape: Any = getattr(subject.import_(producer), "shape", None)
        found = tuple(shape() if callable(shape) else shape or ())
    assume(shape is not None, "its result has no shape")
    expect(found == MANY, f"its shape is {found}")
    return "65 dimensions"


@consumer_rule(
    "import.empty-null",
    f"{TENSOR}.data",
    risky=True,
    arrays=EMPTY,
    patch="ctypes.c_void_p.from_address(tensor).value = None",
)
def empty_null(subject: Subject, word: str) -> str:
    """a tensor without elements keeps its shape, and may have data NULL

    {same}
    """
    require_import(subject)
    whole = KnownProducer.of(subject, word)
    same(subject, whole, brought(subject, whole, NotApplicable, "so it is with data: refused"))
    producer = KnownProducer.of(subject, word, data=None)
    result = brought(subject, producer, Broken, "refused")
    return same(subject, producer, result)


@consumer_rule(
    "import.empty-strides",
    f"{TENSOR}.strides",
    verdict="broken",
    arrays=EMPTY[1:],  # other rules export `empty` with a stride of 0
    variants=EITHER,
    patch="ctypes.memset(ctypes.c_void_p.from_address(tensor + 32).value, 0, 8 * source.ndim)",
    refusal="Exception",
)
def empty_strides(subject: Subject, word: str, **struct: Any) -> str:
    """the strides of a tensor without elements are ignored: NumPy's are 0

    {same}
    """
    require_import(subject)
    shape = KnownProducer.of(subject, word).array.shape
    usual = np.empty([size or 1 for size in shape], np.int8).strides
    with on_error(NotApplicable, "so it is with other strides: refused: "):
        subject.import_(KnownProducer.of(subject, word, strides=usual, **struct))
    producer = KnownProducer.of(subject, word, strides=(0,) * len(shape), **struct)
    with on_error(Unclear, "refused, though no element needs them: "):
        result = subject.import_(producer)
    return same(subject, producer, result)


@consumer_rule(
    "import.empty-deleted",
    f"{HEADER}, DLManagedTensorVersioned.deleter",
    source="empty",
    refusal="Exception",
    counts=True,
)
def empty_deleted(subject: Subject) -> str:
    """a tensor without elements is deleted like any other

    del result; gc.collect()
    assert len(deleted) == 1, deleted
    """
    producer = KnownProducer(subject, content(count=0), data=None)
    result = brought(subject, producer, NotApplicable, "refused")
    del result
    return producer.require_deleted()


@consumer_rule(
    "import.misaligned",
    f"{TENSOR}.data (consumers must not rely on its alignment)",
    arrays=("odd",),
    variants=EITHER,
    refusal="Exception",
)
def misaligned(subject: Subject, word: str, **struct: Any) -> str:
    """a tensor at an unaligned address is imported correctly, or refused

    {same}
    """
    return imported_as(subject, word, **struct)
