"""The verdicts of a rule, and the exceptions that end it early with one."""

from __future__ import annotations

HOLDS, BROKEN, NOT_APPLICABLE, UNCLEAR = "holds", "broken", "not-applicable", "unclear"
#: How the observation of a rule that hangs begins.
NO_ANSWER = "no answer in"
OUTCOMES = (HOLDS, BROKEN, NOT_APPLICABLE, UNCLEAR)


class Ended(BaseException):
    """Ends a rule early; the text is the observation. Not an Exception, so that code that catches a
    library's exceptions does not catch it.
    """

    outcome = ""


class Holds(Ended):
    """The library keeps the rule."""

    outcome = HOLDS


class Broken(Ended):
    """The library does what the specification forbids."""

    outcome = BROKEN


class NotApplicable(Ended):
    """The rule does not apply to the library."""

    outcome = NOT_APPLICABLE


class NoArray(NotApplicable):
    """The adapter failed to make an array, which is no fact about the library."""


class Unclear(Ended):
    """The specification is contradictory or ambiguous, or the fault may be another rule's."""

    outcome = UNCLEAR


class RuleFailed(Unclear):
    """The rule itself raised an error, so neither side is at fault."""


def expect(holds: object, otherwise: str) -> None:
    """Raises Broken, with what was seen, unless it holds."""
    if not holds:
        raise Broken(otherwise)


def assume(holds: object, otherwise: str) -> None:
    """Raises NotApplicable, with the reason, unless it holds."""
    if not holds:
        raise NotApplicable(otherwise)
