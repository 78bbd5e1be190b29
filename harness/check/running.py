"""Runs one rule on one library in this process."""

from __future__ import annotations

import warnings
from typing import Any

from dlbench import loading
from dlbench.check.reading import describe_error
from dlbench.check.rule import Rule
from dlbench.check.rules import RULES
from dlbench.check.subject import Subject
from dlbench.check.verdict import Ended, Holds, NoArray, NotApplicable, RuleFailed


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
    subject.timeout_s = request["timeout_s"]
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
    end = conclude(subject, rule)
    answer = {"outcome": end.outcome, "observed": str(end)}
    if isinstance(end, (NoArray, RuleFailed)):
        answer["judged"] = "no"
    if rule.role == "consumer" and subject.handed:
        answer["struct"] = subject.handed
    if subject.source:
        answer["source"] = subject.source
    return answer


def conclusion(subject: Subject, rule: Rule) -> tuple[str, str]:
    """The outcome, and what was seen."""
    end = conclude(subject, rule)
    return end.outcome, str(end)


def conclude(subject: Subject, rule: Rule) -> Ended:
    """How the rule ends."""
    with warnings.catch_warnings():
        # A library may warn about this call; that is not an error.
        warnings.simplefilter("ignore")
        try:
            return Holds(rule.test(subject))
        except Ended as end:
            return end
        except Exception as error:
            return RuleFailed(f"the rule itself failed: {describe_error(error)}")


def absent(rule: Rule) -> NotApplicable:
    """The result for a library without that role."""
    verb = "makes" if rule.role == "producer" else "imports"
    return NotApplicable(f"it has no adapter that {verb} arrays")
