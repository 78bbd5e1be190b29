"""What `copy` and `device` mean to `from_dlpack`."""

from __future__ import annotations

from functools import partial
from typing import Any

from dlbench.check.lender import Lender
from dlbench.check.reading import Facts, describe_error
from dlbench.check.rule import FROM_DLPACK, RULES, Broken, NotApplicable, Shown, Unclear
from dlbench.check.showing import SAME
from dlbench.check.subject import Subject
from dlbench.check.taking import brought, require_from_dlpack, require_import, same

rule = partial(RULES.add, role="consumer")
SHARED = "source[0] = -1\nassert values(result)[0] == -1, 'it is a copy'"
COPY = f"{FROM_DLPACK}, copy"


def called(subject: Subject, lender: Lender, **keywords: Any) -> tuple[Any, Facts]:
    """The result and what it is. NotApplicable where there is no such keyword."""
    require_from_dlpack(subject)
    for word in keywords:
        try:
            subject.import_(Lender(subject), **{word: None})
        except Exception as error:
            raise NotApplicable(f"no {word}=None: {describe_error(error)}") from None
    result = subject.import_(lender, **keywords)
    same(subject, lender, result)
    return result, subject.look(result)


def is_shared(seen: Facts, lender: Lender) -> bool:
    """Does the result lie in memory that was exported?"""
    if seen["address"] is None:
        raise NotApplicable("where its memory lies cannot be told")
    return seen["address"] in [borrowed.address for borrowed in lender.borrowed_tensors]


def require_copy(seen: Facts, lender: Lender) -> None:
    """Raises Broken where the result lies at the address of the producer's array."""
    if seen["address"] is None:
        raise NotApplicable("where its memory lies cannot be told")
    if seen["address"] == lender.first:
        raise Broken("it is the producer's memory")


@rule(
    "import.copy-true",
    "copy=True gives memory that is not the producer's array",
    COPY,
    shown=Shown(
        call="{function}({array}, copy=True)",
        lines="source[0] = -1\nassert values(result)[0] != -1, 'it is not a copy'",
    ),
)
def copy_true(subject: Subject) -> str:
    require_import(subject)
    lender = Lender(subject)
    try:
        _, seen = called(subject, lender, copy=True)
    except Exception as error:
        raise Broken(f"refused: {describe_error(error)}") from None
    require_copy(seen, lender)
    who = "the producer" if any(call.get("copy") for call in lender.calls) else "the consumer"
    return f"{who} copied"


@rule(
    "import.copy-false",
    "copy=False gives the producer's own memory, or is refused",
    COPY,
    shown=Shown(
        call="{function}({array}, copy=False)",
        refusal="Exception",
        lines=SHARED,
    ),
)
def copy_false(subject: Subject) -> str:
    lender = Lender(subject)
    try:
        _, seen = called(subject, lender, copy=False)
    except Exception as error:
        return f"refused: {describe_error(error)}"
    if not is_shared(seen, lender):
        raise Broken("it is other memory")
    return "shared"


@rule(
    "import.copy-false-misaligned",
    "copy=False where a copy is needed is a BufferError or a ValueError",
    f"{COPY}, and Raises (which name one each)",
    shown=Shown(
        call="{function}({array}, copy=False)",
        source="odd",
        refusal="(BufferError, ValueError)",
        lines=SHARED,
    ),
)
def copy_false_misaligned(subject: Subject) -> str:
    lender = Lender(subject, offset=2)
    try:
        _, seen = called(subject, lender, copy=False)
    except (BufferError, ValueError) as error:
        return f"refused: {describe_error(error)}"
    except Exception as error:
        raise Broken(f"refused by {describe_error(error)}") from None
    if not is_shared(seen, lender):
        raise Broken("it is other memory")
    return "shared, misaligned as it is"


@rule(
    "import.copy-none",
    "copy=None uses the producer's memory where that is possible",
    COPY,
    verdict="unclear",
    shown=Shown(lines=SHARED),
)
def copy_none(subject: Subject) -> str:
    lender = Lender(subject)
    result = brought(subject, lender)
    seen = subject.look(result)
    if not is_shared(seen, lender):
        raise Unclear("it is a copy; whether sharing is possible is the library's word")
    return "shared"


def own_device(subject: Subject) -> Any:
    """The device of an array that it returned."""
    require_from_dlpack(subject)
    plain = brought(subject, Lender(subject))
    own = getattr(plain, "device", None)
    if own is None or callable(own):
        raise NotApplicable("its arrays have no device")
    return own


@rule(
    "import.device",
    "device may be the device of an array that it returned",
    f"{FROM_DLPACK}, device",
    shown=Shown(call="{function}({array}, device={function}({array}).device)", lines=SAME),
)
def device(subject: Subject) -> str:
    own = own_device(subject)
    lender = Lender(subject)
    try:
        result, _ = called(subject, lender, device=own)
    except Exception as error:
        raise Broken(f"device={own!r}: {describe_error(error)}") from None
    same(subject, lender, result)
    return f"{own!r}"


@rule(
    "import.device-copy",
    "copy=True gives a copy where device is given, too",
    f"{COPY}; device",
    shown=Shown(
        call="{function}({array}, device={function}({array}).device, copy=True)",
        lines="source[0] = -1\nassert values(result)[0] != -1, 'it is not a copy'",
    ),
)
def device_copy(subject: Subject) -> str:
    own = own_device(subject)
    # Each alone is another rule's matter.
    lender = Lender(subject)
    try:
        called(subject, Lender(subject), device=own)
        _, seen = called(subject, lender, copy=True)
    except Exception as error:
        raise NotApplicable(f"one of them alone is refused: {describe_error(error)}") from None
    if seen["address"] == lender.first:
        raise NotApplicable("copy=True alone gives no copy")
    lender = Lender(subject)
    try:
        _, seen = called(subject, lender, device=own, copy=True)
    except Exception as error:
        raise Broken(f"refused: {describe_error(error)}") from None
    require_copy(seen, lender)
    return "a copy"
