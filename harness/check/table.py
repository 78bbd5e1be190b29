"""The output of `dlbench check` on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from dlbench.check.rule import Rule
from dlbench.check.rules import RULES
from dlbench.check.verdict import BROKEN, HOLDS, NOT_APPLICABLE, OUTCOMES, UNCLEAR
from dlbench.document import Check, Document
from dlbench.text.layout import columns, shorten, wrap

HEADS = {
    HOLDS: "holds",
    BROKEN: "broken",
    UNCLEAR: "unclear",
    NOT_APPLICABLE: "not applicable",
}


def of_library(checks: Sequence[Check], width: int, *, everything: bool = False) -> list[str]:
    """A heading, one line for each group of rules, then each broken and each unclear rule."""
    first = checks[0]
    version = f" {first.version}" if first.version else ""
    counted = Counter(entry.outcome for entry in checks)
    lines = [
        f"{first.library}{version}   {len(checks)} rule{'s' if len(checks) != 1 else ''}: "
        + ", ".join(f"{counted[word]} {HEADS[word]}" for word in HEADS if counted[word]),
        "",
    ]
    lines += columns(
        [("", *(HEADS[word] for word in HEADS)), *_groups(checks)], right=range(1, len(HEADS) + 1)
    )
    wanted = OUTCOMES if everything else (BROKEN, UNCLEAR)
    for outcome in (word for word in HEADS if word in wanted):
        chosen = [entry for entry in checks if entry.outcome == outcome]
        if chosen:
            lines += ["", HEADS[outcome]]
            for entry in chosen:
                lines += _entry_lines(entry, width)
    return [line.rstrip() for line in lines]


def of_document(document: Document, width: int) -> list[list[str]]:
    """The lines of each library of an earlier check."""
    checks = document.checks
    names = dict.fromkeys(entry.library for entry in checks)
    return [
        [*of_library([entry for entry in checks if entry.library == name], width), ""]
        for name in names
    ]


def _groups(checks: Sequence[Check]) -> list[tuple[str, ...]]:
    groups: dict[str, Counter[str]] = {}
    for entry in checks:
        groups.setdefault(entry.rule.partition(".")[0], Counter())[entry.outcome] += 1
    return [
        (name, *(str(counted[word] or "") for word in HEADS)) for name, counted in groups.items()
    ]


def _entry_lines(entry: Check, width: int) -> list[str]:
    mark = " (accepted)" if entry.accepted else ""
    level = " (should)" if entry.level == "should" and entry.outcome == BROKEN else ""
    lines = [shorten(f"  {entry.rule}{level}{mark}", width)]
    lines += [f"    {line}" for line in _wrapped(entry.observed, width - 4)]
    if entry.outcome == BROKEN:
        lines.append(shorten(f"    rule: {RULES.by_name[entry.rule].sentence}", width))
    if entry.issue:
        lines.append(f"    {entry.issue}")
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, max(width, 20)) or [""]


def rules(width: int) -> list[str]:
    """Every rule with its sentence."""
    names = max(map(len, RULES.by_name))
    rows = []
    for rule in RULES.by_name.values():
        sentence = _wrapped(rule.sentence, width - names - 2)
        rows += list(zip_longest([rule.name], sentence, fillvalue=""))
    return columns(rows)


def explained(rule: Rule, width: int, script: str = "") -> list[str]:
    """All facts about a rule."""
    side = {"producer": "the exporting library", "consumer": "the importing library"}[rule.role]
    lines = [
        rule.name,
        *(f"  {line}" for line in _wrapped(rule.sentence, width - 2)),
        "",
        *columns(
            [
                ("written in", rule.section),
                ("binds", side),
                ("says", rule.level),
                (
                    "broken is",
                    "reported as unclear: the text is" if rule.verdict == UNCLEAR else "so",
                ),
                ("runs", _runs(rule)),
            ]
        ),
    ]
    if script:
        lines += ["", *script.rstrip().splitlines()]
    return lines


def _runs(rule: Rule) -> str:
    if rule.at_exit:
        return "as the last of its process, to check the end of the process"
    if rule.risky:
        return "in a worker, since breaking it may crash"
    return "in a worker with others; in pytest without one"
