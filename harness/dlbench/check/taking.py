"""Imports of what dlbench lends, and what a refusal comes to."""

from __future__ import annotations

from typing import Any

from dlbench.check.lender import Lender
from dlbench.check.reading import told
from dlbench.check.rule import Broken, NotApplicable
from dlbench.check.subject import Subject


def brought(
    subject: Subject,
    lender: Lender,
    refused: type[Broken | NotApplicable] = NotApplicable,
    words: str = "it imports nothing",
) -> Any:
    """What the import gives. A refusal is raised as `refused`: `words`, then what it said."""
    try:
        return subject.import_(lender)
    except Exception as error:
        raise refused(f"{words}: {told(error)}") from None


def imported(subject: Subject, lender: Lender) -> str:
    """The import has the lender's values, shape and dtype, or is refused."""
    try:
        result = subject.import_(lender)
    except Exception as error:
        return f"refused: {told(error)}"
    return same(subject, lender, result)


def same(subject: Subject, lender: Lender, result: object) -> str:
    """Raises Broken where the result is not what was lent."""
    seen = subject.look(result)
    if tuple(seen["shape"]) != lender.array.shape:
        raise Broken(f"its shape is {tuple(seen['shape'])}, not {lender.array.shape}")
    if seen["values"] != lender.array.tobytes():
        raise Broken("its values are not what was lent")
    return "its values are what was lent"


def require_import(subject: Subject) -> None:
    """NotApplicable where a plain tensor is refused in either struct: a consumer need not take
    memory of the CPU."""
    try:
        subject.import_(Lender(subject))
    except Exception:
        try:
            subject.import_(Lender(subject, legacy=True))
        except Exception as error:
            raise NotApplicable(f"it imports nothing: {told(error)}") from None


def versioned_asked(subject: Subject) -> None:
    """NotApplicable unless the consumer asks for the versioned struct."""
    brought(subject, Lender(subject))
    if subject.handed != "versioned":
        raise NotApplicable("it does not ask for the versioned struct")


def spelled(lender: Lender) -> str:
    """ "__dlpack__(max_version=(1, 0))"."""
    return ", ".join(
        f"__dlpack__({', '.join(f'{key}={value!r}' for key, value in call.items())})"
        for call in lender.calls
    )


def keeps_device(subject: Subject, result: Any, device: tuple[int, int]) -> bool:
    """Does it export what it was given as memory of that device?"""
    try:
        return bool(subject.export(result).get("device") == device)
    except NotApplicable:
        return False
