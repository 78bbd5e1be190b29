"""Imports of dlbench's exports, and the verdict if one is refused."""

from __future__ import annotations

from typing import Any

from dlbench.adapter import Call
from dlbench.check.known_producer import Array, KnownProducer, require_dtypes
from dlbench.check.reading import CODES, Facts, on_error
from dlbench.check.result_reader import is_bytes_of, is_like
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, Unclear, assume


def brought(
    subject: Subject,
    producer: KnownProducer,
    refused: type[Broken | NotApplicable] = NotApplicable,
    words: str = "it imports nothing",
) -> Any:
    """The result of the import. A rejection is raised as `refused`: `words`, then its message."""
    with on_error(refused, f"{words}: "):
        return subject.import_(producer)


def imported(subject: Subject, producer: KnownProducer) -> str:
    """Raises Broken unless the import is rejected or has the producer's values, shape and dtype."""
    with on_error(Holds, "refused: "):
        result = subject.import_(producer)
    return same(subject, producer, result)


def same(subject: Subject, producer: KnownProducer, result: object) -> str:
    """Raises Broken if the result differs from the export, Unclear if the library's own array of
    that layout does not read as its content either."""
    observed = subject.read_facts(result, producer.array)
    if is_bytes_of(observed, producer.array):
        try:
            require_dtypes(subject)
        except NotApplicable:
            return "its bytes are the exported ones"
    if observed["shape"] != producer.array.shape:
        wrong = f"its shape is {observed['shape']}, not {producer.array.shape}"
    elif observed["values"] != producer.array.tobytes():
        wrong = "its values are not what was exported"
    else:
        return "its values are the exported ones"
    raise blamed(subject, wrong, producer.array)


def require_elements(subject: Subject, result: object, observed: Facts, array: Array) -> None:
    """Raises as `same` does if the result differs from an array in dtype, shape or values. A result
    without a dtype may be the bytes as they lie."""
    if is_like(observed, array):
        return
    dtype = (*CODES[array.dtype.name], 1)
    is_bytes = not hasattr(result, "dtype") and observed["dtype"][1] == 8
    if observed["values"] not in (array.tobytes(), *([array.tobytes("A")] * is_bytes)):
        wrong = f"its values are not what was exported, with strides {array.strides}"
    elif is_bytes:
        return
    elif observed["dtype"] != dtype:
        wrong = f"its dtype is {observed['dtype']}, not {dtype}"
    else:
        wrong = f"its shape is {observed['shape']}, not {array.shape}"
    raise blamed(subject, wrong, array)


def blamed(subject: Subject, wrong: str, array: Array) -> Broken | Unclear:
    """Broken, or Unclear if the library's own array like this one is not read right either."""
    if subject.misreads(array):
        return Unclear(f"{wrong}; nor is an array of its own read right: its export is faulty")
    return Broken(wrong)


def imported_as(subject: Subject, word: str, **describes: Any) -> str:
    """`imported`, of an array in a situation."""
    return imported(subject, KnownProducer.of(subject, word, **describes))


def require_import(subject: Subject) -> None:
    """Raises NotApplicable if a plain tensor is refused in either struct: a consumer need not
    import the CPU's memory."""
    try:
        subject.import_(KnownProducer(subject))
    except Exception:
        with on_error(NotApplicable, "it imports nothing: "):
            subject.import_(KnownProducer(subject, legacy=True))


def requests_itself(subject: Subject) -> None:
    """Raises NotApplicable if the consumer imports a capsule instead of an object."""
    assume(not subject.imports_capsules, "it imports a capsule, not an object")


def require_from_dlpack(subject: Subject) -> None:
    """Raises NotApplicable unless the consumer's call is the array API's function. What that must
    accept and raise is not specified for another function or for a wrapper of dlbench's."""
    requests_itself(subject)
    entry = subject.entry()
    function = entry.function if isinstance(entry, Call) else entry
    name = getattr(function, "__name__", type(function).__name__)
    if subject.has_own_wrapper:
        raise NotApplicable("its function is a wrapper of dlbench's, not the library's own")
    assume(name == "from_dlpack", f"it imports by {name}, not by the array API's from_dlpack")


def require_versioned_request(subject: Subject) -> None:
    """Raises NotApplicable unless the consumer requests the versioned struct."""
    brought(subject, KnownProducer(subject))
    assume(subject.handed == "versioned", "it does not request the versioned struct")


def spelled(producer: KnownProducer) -> str:
    """ "__dlpack__(max_version=(1, 0))"."""
    return ", ".join(
        f"__dlpack__({', '.join(f'{key}={value!r}' for key, value in call.items())})"
        for call in producer.calls
    )


def keeps_device(subject: Subject, result: Any, device: tuple[int, int]) -> bool:
    """Does the library export the result as memory of that device?"""
    try:
        return bool(subject.export(result).get("device") == device)
    except NotApplicable:
        return False
