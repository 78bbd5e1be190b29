"""The terms of `glossary.md`, for `dlbench help` and the report. The docs page is a copy of it."""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path

from dlbench import _core

SOURCE = Path(__file__).with_name("glossary.md")
BOLD = re.compile(r"\*\*(.+?)\*\*")
#: The properties of a case that only some libraries have.
SPECIAL = {
    "swapped": "in the other byte order",
    "grad": "with a gradient",
    "pinned": "in pinned memory",
    "managed": "in managed memory",
    "nulls": "with missing values",
}
LINK = re.compile(r"\[(.+?)\]\((.+?)\)")


@cache
def rows() -> tuple[tuple[str, str], ...]:
    """Each heading of the first table with its meaning, as plain text."""
    first, _ = _marked_tables()
    return tuple((plain(heading), plain(meaning)) for heading, meaning in first)


@cache
def terms() -> dict[str, tuple[str, str]]:
    """By term in lower case, its heading and meaning as plain text.

    Terms in bold inside a meaning have that meaning too. Terms of the page have priority over codes
    and cases of the same name.
    """
    found: dict[str, tuple[str, str]] = {}
    inner: dict[str, tuple[str, str]] = {}
    for heading, meaning in (row for table in _marked_tables() for row in table):
        row = (plain(heading), plain(meaning))
        for term in row[0].split(", "):
            found.setdefault(term.lower(), row)
        inner |= dict.fromkeys(map(str.lower, BOLD.findall(meaning)), row)
    return _codes() | _cases() | inner | found


def _codes() -> dict[str, tuple[str, str]]:
    """The codes of outcomes, warnings, synchronization and comparisons."""
    meanings = {code: f"{outcome}: {text}" for code, (outcome, text) in _core.codes.items()}
    meanings |= _core.warnings | _core.sync_codes | _core.comparison_warnings
    return {code: (code, plain(text)) for code, text in meanings.items()}


def _cases() -> dict[str, tuple[str, str]]:
    """The cases: dtype, layout and what else differs from the plain array."""
    from dlbench.case import LAYOUTS  # imports NumPy

    found = {}
    for name in _core.case_names:
        case = _core.case(name)
        parts = [f"case: {case['dtype']}", LAYOUTS[case["layout"]]]
        if not case["offset"]:
            parts.append(f"at a multiple of {case['align']} bytes unless the library allocates it")
        else:
            parts.append(f"at an address {case['offset']} above a multiple of {case['align']}")
        parts += ["read-only"] if case["readonly"] else []
        parts += [SPECIAL[case["special"]]] if case["special"] else []
        found[name] = (name, ", ".join(parts))
    return found


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
