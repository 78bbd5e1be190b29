"""The terms of `glossary.md`, for `dlbench help` and the report. The docs page is a copy of it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).with_name("glossary.md")
BOLD = re.compile(r"\*\*(.+?)\*\*")
LINK = re.compile(r"\[(.+?)\]\((.+?)\)")


@cache
def rows() -> tuple[tuple[str, str], ...]:
    """Each heading with its meaning, as plain text."""
    return tuple((plain(heading), plain(meaning)) for heading, meaning in _marked_rows())


@cache
def terms() -> dict[str, tuple[str, str]]:
    """By term in lower case, its heading and meaning as plain text. Terms in bold inside a meaning
    have that meaning too."""
    found: dict[str, tuple[str, str]] = {}
    inner: dict[str, tuple[str, str]] = {}
    for (_, meaning), row in zip(_marked_rows(), rows(), strict=True):
        found.update(dict.fromkeys(row[0].lower().split(", "), row))
        inner.update(dict.fromkeys(map(str.lower, BOLD.findall(meaning)), row))
    return inner | found


def _marked_rows() -> list[tuple[str, str]]:
    found = []
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2 and cells[0] not in ("term", "---"):
            found.append((cells[0], cells[1]))
    return found


def plain(markdown: str) -> str:
    """The text without marks; a link to another site keeps its address."""
    text = LINK.sub(lambda found: f"{found[1]} ({found[2]})" if "://" in found[2] else found[1],
                    markdown)  # fmt: skip
    return text.replace("*", "").replace("`", "")
