"""The keywords `copy` and `device` of `from_dlpack`."""

from __future__ import annotations

from typing import Any

from dlbench.check.imports import brought, require_from_dlpack, same
from dlbench.check.known_producer import LEGACY, KnownProducer
from dlbench.check.reading import Facts, on_error, on_refusal
from dlbench.check.rule import FROM_DLPACK, consumer_rule
from dlbench.check.situation import KNOWN
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, Unclear, assume, expect

COPY = f"{FROM_DLPACK}, copy"


def called(subject: Subject, producer: KnownProducer, **keywords: Any) -> tuple[Any, Facts]:
    """The result and its facts. Raises NotApplicable if the function has no such keyword."""
    require_from_dlpack(subject)
    for word in keywords:
        with on_error(NotApplicable, f"no {word}=None: "):
            subject.import_(KnownProducer(subject), **{word: None})
    result = subject.import_(producer, **keywords)
    same(subject, producer, result)
    return result, subject.read_facts(result)


def is_shared(observed: Facts, producer: KnownProducer) -> bool:
    """Does the result lie in memory that was exported?"""
    if observed["address"] is None:
        raise NotApplicable("the address of its memory is unknown")
    return observed["address"] in [borrowed.address for borrowed in producer.borrowed_tensors]


def require_copy(observed: Facts, producer: KnownProducer) -> None:
    """Raises Broken where the result lies at the address of the producer's array."""
    if observed["address"] is None:
        raise NotApplicable("the address of its memory is unknown")
    expect(observed["address"] != producer.first, "it is the producer's memory")


def require_plain(subject: Subject, word: str, **struct: Any) -> None:
    """NotApplicable unless a plain import of the same array succeeds with its elements."""
    producer = KnownProducer.of(subject, word, **struct)
    result = brought(subject, producer)
    try:
        same(subject, producer, result)
    except (Broken, Unclear) as end:
        raise NotApplicable(f"without copy: {end}") from None


#: Arrays of elements, and a read-only one, in the struct that is requested and in the legacy one.
#: `import.reversed` tries what may end the process.
SITUATIONS: dict[str, Any] = {
    "arrays": (*(word for word in KNOWN if word != "reversed"), "readonly"),
    "variants": ({}, LEGACY),
}


@consumer_rule("import.copy-true", COPY, call="{function}({array}, copy=True)", **SITUATIONS)
def copy_true(subject: Subject, word: str, **struct: Any) -> str:
    """copy=True returns a copy, not the producer's memory

    source[0] = -1
    assert {values}[0] != -1, 'it is not a copy'
    """
    require_plain(subject, word, **struct)
    producer = KnownProducer.of(subject, word, **struct)
    with on_error(Broken, "refused: "):
        _, observed = called(subject, producer, copy=True)
    require_copy(observed, producer)
    copier = "the producer" if any(call.get("copy") for call in producer.calls) else "the consumer"
    return f"{copier} copied"


@consumer_rule(
    "import.copy-false",
    COPY,
    call="{function}({array}, copy=False)",
    refusal="Exception",
    **SITUATIONS,
)
def copy_false(subject: Subject, word: str, **struct: Any) -> str:
    """copy=False returns the producer's own memory, or raises

    source[0] = -1
    assert {values}[0] == -1, 'it is a copy'
    """
    require_plain(subject, word, **struct)
    producer = KnownProducer.of(subject, word, **struct)
    with on_error(Holds, "refused: "):
        _, observed = called(subject, producer, copy=False)
    expect(is_shared(observed, producer), "it is other memory")
    return "shared"


@consumer_rule(
    "import.copy-false-misaligned",
    f"{COPY}, and Raises (which name one each)",
    call="{function}({array}, copy=False)",
    source="odd",
    refusal="(BufferError, ValueError)",
)
def copy_false_misaligned(subject: Subject) -> str:
    """copy=False where a copy is needed is a BufferError or a ValueError

    source[0] = -1
    assert {values}[0] == -1, 'it is a copy'
    """
    producer = KnownProducer(subject, offset=2)
    with on_refusal((BufferError, ValueError), "refused: "):
        _, observed = called(subject, producer, copy=False)
    expect(is_shared(observed, producer), "it is other memory")
    return "shared, misaligned as it is"


@consumer_rule("import.copy-none", COPY, verdict="unclear")
def copy_none(subject: Subject) -> str:
    """copy=None uses the producer's memory where that is possible

    source[0] = -1
    assert {values}[0] == -1, 'it is a copy'
    """
    producer = KnownProducer(subject)
    result = brought(subject, producer)
    observed = subject.read_facts(result)
    if not is_shared(observed, producer):
        raise Unclear("it is a copy; whether sharing was possible is unknown")
    return "shared"


@consumer_rule(
    "import.copy-default",
    COPY,
    call="{function}({array}, copy=None)",
    arrays=("line", "grid", "strided"),
    variants=({}, LEGACY),
)
def copy_default(subject: Subject, word: str, **struct: Any) -> str:
    """copy=None is the default: where a call without copy shares, it does, too

    source[...] = -1
    assert ({values} == -1).all(), 'it is a copy'
    """
    require_plain(subject, word, **struct)
    plain = KnownProducer.of(subject, word, **struct)
    shares = is_shared(subject.read_facts(brought(subject, plain)), plain)
    assume(shares, "a call without copy copies")
    producer = KnownProducer.of(subject, word, **struct)
    with on_error(Broken, "refused: "):
        _, observed = called(subject, producer, copy=None)
    expect(is_shared(observed, producer), "it is a copy")
    return "shared"


def own_device(subject: Subject) -> Any:
    """The device of an array that it returned."""
    require_from_dlpack(subject)
    plain = brought(subject, KnownProducer(subject))
    own = getattr(plain, "device", None)
    if own is None or callable(own):
        raise NotApplicable("its arrays have no device")
    return own


@consumer_rule(
    "import.device",
    f"{FROM_DLPACK}, device",
    call="{function}({array}, device={function}({array}).device)",
)
def device(subject: Subject) -> str:
    """device may be the device of an array that it returned

    {same}
    """
    own = own_device(subject)
    producer = KnownProducer(subject)
    with on_error(Broken, f"device={own!r}: "):
        result, _ = called(subject, producer, device=own)
    same(subject, producer, result)
    return f"{own!r}"


@consumer_rule(
    "import.device-copy",
    f"{COPY}; device",
    call="{function}({array}, device={function}({array}).device, copy=True)",
)
def device_copy(subject: Subject) -> str:
    """copy=True with a device returns a copy, too

    source[0] = -1
    assert {values}[0] != -1, 'it is not a copy'
    """
    own = own_device(subject)
    # Another rule covers each keyword alone.
    producer = KnownProducer(subject)
    with on_error(NotApplicable, "one of them alone is refused: "):
        called(subject, KnownProducer(subject), device=own)
        _, observed = called(subject, producer, copy=True)
    assume(observed["address"] != producer.first, "copy=True alone returns no copy")
    producer = KnownProducer(subject)
    with on_error(Broken, "refused: "):
        _, observed = called(subject, producer, device=own, copy=True)
    require_copy(observed, producer)
    return "a copy"
