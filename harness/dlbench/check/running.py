"""Runs one rule on one library in this process."""

from __future__ import annotations

import warnings
from typing import Any

from dlbench import loading
from dlbench.check.reading import describe_error
from dlbench.check.rule import Rule
from dlbench.check.rules import RULES
from dlbench.check.subject import Subject
from dlbench.check.verdict import HOLDS, UNCLEAR, Ended, NotApplicable


def load(request: dict[str, Any]) -> tuple[Subject, str]:
    """The library of a request, and its version. Passes on exceptions of the import."""
    modules: dict[str, Any] = {}
    version = ""
    for role in ("consumer", "producer"):
        path = request[role]
        modules[role] = loading.load_adapter(role, request["name"], path) if path else None
        if path and not version:
            version = loading.version(request["name"], modules[role])
    subject = Subject(request["name"], modules["producer"], modules["consumer"], request["device"])
    return subject, version


def warm(subject: Subject) -> None:
    """The first steps of every rule, alone."""
    try:
        subject.make()
    except Ended:
        return


def run(subject: Subject, name: str) -> dict[str, Any]:
    """`outcome`, `observed`, and the struct that a consumer got."""
    rule = RULES.by_name[name]
    subject.handed = subject.source = ""
    outcome, observed = conclusion(subject, rule)
    answer = {"outcome": outcome, "observed": observed}
    if rule.role == "consumer" and subject.handed:
        answer["struct"] = subject.handed
    if subject.source:
        answer["source"] = subject.source
    return answer


def conclusion(subject: Subject, rule: Rule) -> tuple[str, str]:
    """The outcome, and what was seen."""
    with warnings.catch_warnings():
        # A library may warn about this call; that is not an error.
        warnings.simplefilter("ignore")
        try:
            return HOLDS, rule.check(subject)
        except Ended as end:
            return end.outcome, str(end)
        except Exception as error:
            # The rule itself failed, so neither side is at fault.
            return UNCLEAR, f"the rule itself failed: {describe_error(error)}"


def absent(rule: Rule) -> NotApplicable:
    """The result for a library without that role."""
    verb = "makes" if rule.role == "producer" else "imports"
    return NotApplicable(f"it has no adapter that {verb} arrays")
