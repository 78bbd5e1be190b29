"""`dlbench help TERM` and the docs page have the same definitions."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dlbench import _core, cli, glossary, values

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/reference/glossary.md"
SCHEMA = ROOT / "results/schema.json"


def test_the_docs_page_is_a_copy_of_the_package_data() -> None:
    """cp harness/dlbench/glossary.md docs/reference/glossary.md"""
    assert DOCS.read_text() == glossary.SOURCE.read_text()


def test_each_term_of_the_page_is_known() -> None:
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| **")]
    headings = {heading for heading, _ in glossary.terms().values()}
    known = [glossary.plain(row.split("|")[1].strip()) for row in rows]
    assert len(known) > 80
    assert set(known) <= headings
    assert 30 < len(glossary.rows()) < len(known)


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["zero-copy"], "zero-copy: the result lies in the producer's memory\n"),
        (["Host", "wait"], "host wait, stream wait, no wait, wrong stream: the ways"),
        (["dlpack"], "dlpack: DLPack (https://dmlc.github.io/dlpack/latest/): __dlpack__ and"),
        (
            ["release"],
            "phases, phase: the steps of an exchange: query (where does the array lie?), ",
        ),
    ],
)
def test_a_term_is_printed_without_marks(
    words: list[str], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["help", *words]) == 0
    reported = capsys.readouterr().out
    assert reported.startswith(printed)
    assert reported.count("\n") == 1
    assert not set("*`") & set(reported)


@pytest.mark.parametrize(
    ("word", "message"),
    [("zerocopy", "'zero-copy'"), ("doctor", "dlbench doctor --help"), ("xyzzy", "'xyzzy'")],
)
def test_an_unknown_term_is_one_line_and_status_2(
    word: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["help", word]) == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert message in reported.err
    assert reported.err.count("\n") == 1


def test_without_a_term_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help"]) == 0
    reported = capsys.readouterr().out
    assert reported.replace("\n", "").split(", ") == sorted(glossary.terms())


#: Where tables of the terminal are made: each names its headings and legends HEAD, LEGEND, ...
SCREENS = ("terminal", "sync", "analysis", "counting", "profiling", "check", "machine", "command")
HEADINGS = re.compile(r"(?:^|_)(HEADS?|LEGEND|COLUMNS|SPEEDS|ORDER|CORNER|SHORT_WORDS)$")


def modules() -> Iterator[ModuleType]:
    yield values
    for name in SCREENS:
        package = importlib.import_module(f"dlbench.{name}")
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def words_of(table: Any) -> Iterator[str]:
    """The words of a heading or a legend; of a legend's line those before its colon."""
    if isinstance(table, Mapping):
        for text in table.values():
            yield text.split(":")[0] if text[0].isalpha() else text.split()[0]
    else:
        yield from [table] if isinstance(table, str) else table


def screen_words() -> dict[str, str]:
    """Each word with the place that defines it."""
    found: dict[str, str] = {}
    for module in modules():
        for name, table in vars(module).items():
            if HEADINGS.search(name):
                found |= dict.fromkeys(words_of(table), f"{module.__name__}.{name}")
    for name in ("outcomes", "codes", "warnings", "protocols", "phases", "sync_codes",
                 "comparison_warnings", "case_names"):  # fmt: skip
        found |= dict.fromkeys(getattr(_core, name), f"_core.{name}")
    for key, allowed in enums(json.loads(SCHEMA.read_text())):
        if key in ("clock", "waits", "content"):
            found |= dict.fromkeys(allowed, f"schema: {key}")
    return found


def enums(part: Any) -> Iterator[tuple[str, list[str]]]:
    """Each key of the schema that has a list of allowed words."""
    if isinstance(part, dict):
        for key, inner in part.items():
            if isinstance(inner, dict) and all(isinstance(w, str) for w in inner.get("enum", [0])):
                yield key, inner["enum"]
            yield from enums(inner)


def test_each_word_of_a_screen_is_known() -> None:
    words, known = screen_words(), glossary.terms()
    tables = {place for place in words.values() if place.startswith("dlbench")}
    assert len(tables) >= 14, sorted(tables)
    assert {"+-", "x native", "what to do", "with its callees", "^", "~", "held"} <= words.keys()
    unknown = {word: place for word, place in words.items() if word.lower() not in ("", *known)}
    assert unknown == {}, "add them to harness/dlbench/glossary.md"


@pytest.mark.parametrize("word", ["native", "convert", "(omitted)", "^", "~", "*", "f32",
                                  "near-floor", "95 % interval", "from -> to",
                                  "wrong-stream"])  # fmt: skip
def test_a_word_of_a_screen_is_one_line(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help", *word.split()]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_a_meaning_is_one_sentence() -> None:
    known = glossary.terms()
    assert [word for word, (_, text) in known.items() if not text or ". " in text] == []


def test_a_case_is_described_by_its_differences() -> None:
    known = glossary.terms()
    own = "at a multiple of 256 bytes unless the library allocates it"
    assert known["f32"][1] == f"case: float32, one dimension, {own}"
    assert known["f32-unaligned"][1].endswith(", at an address 4 above a multiple of 256")
    assert known["f32-readonly"][1].endswith(", read-only")
