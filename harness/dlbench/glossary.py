"""The terms of `glossary.md`, for `dlbench help TERM`. The docs page is a copy of that file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).with_name("glossary.md")
BOLD = re.compile(r"\*\*(.+?)\*\*")
LINK = re.compile(r"\[(.+?)\]\((.+?)\)")


@cache
def terms() -> dict[str, tuple[str, str]]:
    """By term in lower case, its heading and meaning as plain text. Terms in bold inside a meaning
    lead to that meaning."""
    found: dict[str, tuple[str, str]] = {}
    inner: dict[str, tuple[str, str]] = {}
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 2 or cells[0] in ("term", "---"):
            continue
        row = (plain(cells[0]), plain(cells[1]))
        found.update(dict.fromkeys(row[0].lower().split(", "), row))
        inner.update(dict.fromkeys(map(str.lower, BOLD.findall(cells[1])), row))
    return inner | found


def plain(markdown: str) -> str:
    """The text without marks; a link to another site keeps its address."""
    text = LINK.sub(lambda found: f"{found[1]} ({found[2]})" if "://" in found[2] else found[1],
                    markdown)  # fmt: skip
    return text.replace("*", "").replace("`", "")
