"""`dlbench help TERM` and the docs page have the same definitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbench import _core, cli, glossary

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs/reference/glossary.md"


def test_the_docs_page_is_a_copy_of_the_package_data() -> None:
    """run: python docs/site/generate.py"""
    assert DOCS.read_text() == glossary.SOURCE.read_text()


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


def test_each_example_of_a_case_is_one() -> None:
    """Only complex numbers have conjugates."""
    for word in (word for values in _core.case_axes.values() for word in values):
        _, meaning = glossary.terms()[word]
        assert _core.is_case(meaning.rpartition("--cases ")[2]), meaning
