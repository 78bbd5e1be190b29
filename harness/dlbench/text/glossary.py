"""The terms of `glossary.md`, for `dlbench help` and the report. The docs page is a copy of it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from dlbench import _core

SOURCE = Path(__file__).with_name("glossary.md")
BOLD = re.compile(r"\*\*(.+?)\*\*")
LINK = re.compile(r"\[(.+?)\]\((.+?)\)")


@cache
def rows() -> tuple[tuple[str, str], ...]:
    """Each heading of the first table with its meaning, as plain text."""
    first, _ = _marked_tables()
    return tuple((plain(heading), plain(meaning)) for heading, meaning in first)


Row = tuple[str, str]  #: a heading and its meaning


@cache
def groups() -> dict[str, dict[str, Row]]:
    """By group, by term in lower case, its heading and meaning as plain text. Terms in bold inside
    a meaning have that meaning too."""
    names = ("terms", "words of the tables")
    found = {name: dict[str, Row]() for name in names}
    for name, table in zip(names, _marked_tables(), strict=True):
        inner: dict[str, Row] = {}
        for heading, meaning in table:
            row = (plain(heading), plain(meaning))
            for term in row[0].split(", "):
                found[name].setdefault(term.lower(), row)
            inner |= dict.fromkeys(map(str.lower, BOLD.findall(meaning)), row)
        found[name] = inner | found[name]
    codes = {code: f"{outcome}: {text}" for code, (outcome, text) in _core.codes.items()}
    found["codes of outcomes"] = _rows(codes)
    found["warnings"] = _rows(_core.warnings)
    found["codes of --sync"] = _rows(_core.sync_codes)
    found["warnings of compare"] = _rows(_core.comparison_warnings)
    return found | {"cases": _cases()}


@cache
def terms() -> dict[str, Row]:
    """The terms of all groups. An earlier group has priority."""
    found: dict[str, Row] = {}
    for group in reversed(groups().values()):
        found |= group
    return found


def _rows(meanings: Mapping[str, str]) -> dict[str, Row]:
    return {name: (name, plain(text)) for name, text in meanings.items()}


def _cases() -> dict[str, Row]:
    """The values of the axes of a case."""
    found = {}
    for axis, values in _core.case_axes.items():
        for word, meaning in values.items():
            named = next(
                filter(_core.is_case, (f"{of}-{word}" for of in ("f32", "c64", "u8"))), word
            )
            found[word] = (word, f"{axis} of a case: {meaning}; --cases {named}")
            if axis == "dtype" and (case := case_meaning(word)):
                found[word] = (word, f"{case[1]}; --cases {word}")
    for word, (meaning, producers) in _core.library_kinds.items():
        found[word] = (word, f"array of a library, {meaning}: --producers {producers}")
    axes = [f"{axis} ({', '.join(values)})" for axis, values in _core.case_axes.items()]
    joined = (
        "a word of each axis, joined by '-'; a name leaves out the first word of an axis, and 2d "
        "where the layout needs rows: "
    )
    return found | {"cases": ("cases", joined + "; ".join(axes))}


def case_meaning(name: str) -> tuple[str, str] | None:
    """A case's name and the meanings of its values; none if it is no case."""
    if not _core.is_case(name):
        return None
    facts = _core.case(name)
    words = [*facts["name"].split("-")]
    axes = _core.case_axes
    shown = [
        next((values[word] for word in words if word in values), "")
        or values[facts["dims"] if axis == "shape" else next(iter(values))]
        for axis, values in axes.items()
    ]
    # The usual property says nothing.
    usual = next(iter(axes["property"].values()))
    return facts["name"], "case: " + ", ".join(text for text in shown if text != usual)


def _marked_tables() -> list[list[tuple[str, str]]]:
    tables: list[list[tuple[str, str]]] = []
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 2:
            continue
        if cells[1] == "meaning":
            tables.append([])
        elif cells[0] != "---":
            tables[-1].append((cells[0], cells[1]))
    return tables


def plain(markdown: str) -> str:
    """The text without marks; a link to another site keeps its address."""
    text = LINK.sub(lambda found: f"{found[1]} ({found[2]})" if "://" in found[2] else found[1],
                    markdown)  # fmt: skip
    return html.unescape(text.replace("*", "").replace("`", ""))
