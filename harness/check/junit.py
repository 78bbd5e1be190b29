"""The result of `dlbench check` as JUnit's XML: a suite for each library, a case for each rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlbench.check.rules import RULES
from dlbench.check.verdict import BROKEN, HOLDS
from dlbench.document import Check
from dlbench.text import junit


@dataclass(frozen=True)
class Checked:
    """One library: its results, or why it could not be checked."""

    library: str
    seconds: float
    checks: Sequence[Check] = ()
    failure: str = ""


def xml(checked: Sequence[Checked]) -> bytes:
    """The file. A rule that holds passes; a broken rule fails. A broken rule that --known lists, an
    unclear rule and a rule that does not apply are skipped."""
    return junit.xml("dlbench check", [_suite(one) for one in checked])


def _suite(one: Checked) -> junit.Suite:
    group = f"dlbench.check.{one.library}"
    cases = [junit.Case(group, check.rule, _problem(check), _output(check)) for check in one.checks]
    if one.failure:
        problem = junit.Problem("error", "not-checked", one.failure)
        cases.append(junit.Case(group, "load", problem))
    properties: Mapping[str, str] = {}
    if one.checks:
        first = one.checks[0]
        facts = {"version": first.version, "device": first.device}
        properties = {key: value for key, value in facts.items() if value}
    return junit.Suite(one.library, cases, one.seconds, properties)


def _problem(check: Check) -> junit.Problem | None:
    if check.outcome == HOLDS:
        return None
    if check.outcome != BROKEN:
        return junit.Problem("skipped", check.outcome, f"{check.outcome}: {check.observed}")
    if check.accepted:
        message = f"accepted by --known: {check.observed}"
        return junit.Problem("skipped", "accepted", message, check.issue)
    rule = RULES.by_name[check.rule]
    lines = [f"rule: {rule.sentence}", f"section: {check.section} ({check.level})"]
    lines += [f"observed: {check.observed}"]
    lines += [f"issue: {check.issue}"] if check.issue else []
    lines += ["", check.reproducer] if check.reproducer else []
    return junit.Problem("failure", check.outcome, check.observed, "\n".join(lines))


def _output(check: Check) -> str:
    return check.observed if check.outcome == HOLDS else ""
