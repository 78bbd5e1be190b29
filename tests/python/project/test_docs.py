"""Links in the documentation lead to a file, and to a heading in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "tests/recorder/README.md",
]

#: Made when the site is built.
REPORT = ROOT / "docs/tutorial/sample-report.html"


def anchors(page: Path) -> set[str]:
    """Of its headings, as the usual renderers make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    bare = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in bare}


def broken(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target == REPORT:
            continue
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


#: Written by dlbench from a run, in which a line is a cell of a table or a library's own words.
WRITTEN = ("support.md", "conformance.md")


def prose(page: Path) -> list[str]:
    """The lines of a page that can be broken: no tables, code, comments or images."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [line for line in text.splitlines() if not line.startswith(("|", "<!--", "!["))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_is_longer_than_100_columns(page: Path) -> None:
    if page.name not in WRITTEN:
        assert [line for line in prose(page) if len(line) > 100] == []


def written_lines(page: Path) -> list[str]:
    """The lines of a page that are written by hand: those outside of generated parts."""
    return re.sub(r"<!-- made: .*?<!-- end -->", "", page.read_text(), flags=re.S).splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_longer_than_250_lines_is_two_pages(page: Path) -> None:
    if page.name not in WRITTEN:
        assert len(written_lines(page)) <= 250


SOURCE = re.compile(r"`((?:harness|producers|consumers|plots|results|cmake|tests|benchmarks"
                    r"|packaging)/[\w./]+)`")  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_file_that_is_named_exists(page: Path) -> None:
    """A name may leave out the suffix, as `harness/core/sync/classifier`."""
    named = [name for name in SOURCE.findall(page.read_text()) if "NAME" not in name]
    assert [name for name in named if not any(ROOT.glob(f"{name.rstrip('/')}*"))] == []


def test_a_link_to_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `two`\n[a](#one-two) [b](#three) [c](no.md) [d](page.md#one-two)\n")
    assert broken(page) == ["#three", "no.md"]
