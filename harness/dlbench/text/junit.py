"""JUnit's XML, as CI systems read it: suites of cases that pass, fail, are in error or skipped.

Every text is made printable first, since XML allows no control character and no lone surrogate.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree

from dlbench.text.escaping import LONGEST_LINE, printable, printable_lines

Kind = Literal["failure", "error", "skipped"]
KINDS: tuple[Kind, ...] = ("failure", "error", "skipped")


@dataclass(frozen=True)
class Problem:
    """The reason why a case fails. CI systems show `message` in lists and `text` on the case's
    page."""

    kind: Kind
    type: str  #: one word: the outcome or the verdict
    message: str
    text: str = ""


@dataclass(frozen=True)
class Case:
    """One test case; it passes if it has no problem."""

    group: str  #: JUnit's `classname`
    name: str
    problem: Problem | None = None
    output: str = ""


@dataclass(frozen=True)
class Suite:
    """The cases of one library, or of one comparison."""

    name: str
    cases: Sequence[Case]
    seconds: float = 0.0
    properties: Mapping[str, str] = field(default_factory=dict)
    output: str = ""


def xml(name: str, suites: Sequence[Suite]) -> bytes:
    """The file, in UTF-8."""
    seconds = sum(suite.seconds for suite in suites)
    counts = _counts([case for suite in suites for case in suite.cases])
    root = _element(None, "testsuites", name=name, time=f"{seconds:.3f}", **counts)
    for suite in suites:
        _add_suite(root, suite)
    ElementTree.indent(root)
    body: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _add_suite(root: ElementTree.Element, suite: Suite) -> None:
    own = _element(root, "testsuite", name=suite.name, time=f"{suite.seconds:.3f}",
                   **_counts(suite.cases))  # fmt: skip
    if suite.properties:
        properties = _element(own, "properties")
        for name, value in suite.properties.items():
            _element(properties, "property", name=name, value=value)
    for case in suite.cases:
        made = _element(own, "testcase", classname=case.group, name=case.name, time="0.000")
        problem = case.problem
        if problem is not None:
            attributes = {"type": problem.type, "message": problem.message}
            _element(made, problem.kind, problem.text, **attributes)
        if case.output:
            _element(made, "system-out", case.output)
    if suite.output:
        _element(own, "system-out", suite.output)


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    kinds = [case.problem.kind for case in cases if case.problem is not None]
    plural = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    counts = {plural[kind]: str(kinds.count(kind)) for kind in KINDS}
    return {"tests": str(len(cases)), **counts}


def _element(
    parent: ElementTree.Element | None, tag: str, text: str = "", **attributes: str
) -> ElementTree.Element:
    # A name must not be cut: two cases would become one.
    safe = {
        key: printable(value, LONGEST_LINE if key == "message" else sys.maxsize)
        for key, value in attributes.items()
    }
    if parent is None:
        made = ElementTree.Element(tag, safe)
    else:
        made = ElementTree.SubElement(parent, tag, safe)
    made.text = printable_lines(text) or None
    return made
