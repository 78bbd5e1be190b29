"""`dlbench help TERM` and the docs page have the same definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import samples
import terms
from dlbench import _core, cli, findings, values
from dlbench.analysis import calls, history
from dlbench.check import boundary, conformance, verdict
from dlbench.check.rules import RULES
from dlbench.document import Document, Measured, read_document
from dlbench.findings.summary import summarize
from dlbench.libraries import discover
from dlbench.machine import doctor
from dlbench.plots.site import shown
from dlbench.terminal import history as history_table
from dlbench.terminal import pair
from dlbench.text import glossary
from dlbench.track import bisect
from typed import doc

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


def test_without_a_term_all_are_listed_by_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    groups = glossary.groups()
    assert lines[::2] == list(groups)
    assert [line.split(", ") for line in lines[1::2]] == [sorted(each) for each in groups.values()]


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["replicas"], ["--replicas: Measure each cell in"]),
        (["--no-plots"], ["--no-plots: Write no figures"]),
        (["in", "cache"], ["in-cache: "]),
        (["tensor"], ["managed tensor, borrowed tensor: "]),
        (["float16"], ["f16: case: float16"]),
        (["lazily"], ["copied-lazily: "]),
        (["findings"], ["finding: "]),
        (["export.device-method"], ["export.device-method: rule (must, array API 2025.12"]),
        (["import-buffer"], ["import-buffer: rules of dlbench check. Buffer protocol"]),
        (["numpy_ma"], ["numpy_ma: library with an adapter; dlbench list numpy_ma shows"]),
    ],
)
def test_an_option_and_a_part_of_a_term_are_found(
    words: list[str], printed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["help", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(printed)
    assert all(map(str.startswith, lines, printed))


def words_of(document: Document) -> Iterator[str]:
    """The labels, heads, marks and codes that the terminal prints about a document."""
    found = findings.find(document, "latest")
    yield from (one.label for one in [*found, *summarize(document, found).findings])
    yield from pair.HEAD
    for entry in document.entries:
        yield from (re.split(" {2,}", line)[0] for line in pair.details(entry))
        yield from entry.evidence
        yield from (warning.code for warning in entry.warnings)
        yield from filter(None, (entry.outcome, getattr(entry, "code", "")))
        yield from "".join(values.marks(entry)) if isinstance(entry, Measured) else ""


def test_each_word_of_the_output_is_a_term(capsys: pytest.CaptureFixture[str]) -> None:
    documents = [read_document(ROOT / "docs/site/sample/results.json")]
    documents += [doc(made()) for made in (samples.pair, samples.matrix)]
    found = {word for document in documents for word in words_of(document)}
    assert len(found) > 40
    assert terms.unknown(found) == []


def test_each_kind_of_step_and_head_of_a_history_is_a_term() -> None:
    """The outputs of bisect, canary and site are looked up where they are made."""
    assert terms.unknown([*history_table.HEADS, *bisect.KINDS, *history.TIMED]) == []


def heads_of(pages: Path) -> Iterator[str]:
    """The heads of the tables of a folder of templates and scripts."""
    for path in sorted([*pages.rglob("*.j2"), *pages.rglob("*.js")]):
        text = path.read_text(encoding="utf-8")
        yield from re.findall(r'<th scope="col">([^<{]+)</th>', text)
        yield from re.findall(r'data-label="([^"{]+)"', text)
        lists = r"for (?:head|phase) in \(([^)]*)\)|rowsTable\(\"[^\"]*\", \[([^\]]*)\]"
        for found in re.findall(lists, text):
            yield from re.findall(r'"([^"]+)"', "".join(found).replace("\\u2192", "\u2192"))


def test_each_head_and_state_of_the_pages_is_a_term() -> None:
    heads = {*heads_of(ROOT / "plots/site"), *heads_of(ROOT / "plots/report")}
    assert {"exchange", "observed", "A \u2192 B", "lowest time", "query"} <= heads
    assert terms.unknown([*heads, *shown.STATES, *verdict.OUTCOMES, "must", "should"]) == []


def test_each_rule_and_library_and_check_of_doctor_has_a_meaning() -> None:
    assert terms.unknown([*RULES.by_name, *conformance.GROUPS]) == []
    assert terms.unknown(discover.catalogue().files) == []
    source = Path(doctor.__file__).read_text(encoding="utf-8")
    checks = re.findall(r'Check\("([a-z ]+)"', source)
    assert "huge pages" in checks
    assert terms.unknown(checks) == []


def test_each_word_of_calls_is_a_term() -> None:
    heads = ["binding", calls.SLOPE, calls.BEND, calls.COPIED, calls.COUNTED, "arrays:8"]
    heads += [f"f({number})" for number in calls.NUMBERS]
    outcomes = [*boundary.OUTCOMES, boundary.CRASHED, boundary.TIMED_OUT]
    assert terms.unknown([*heads, *outcomes, *boundary.CONDITIONS]) == []


def test_each_array_of_single_libraries_has_its_producers() -> None:
    for word, (_, producers) in _core.library_kinds.items():
        _, meaning = glossary.groups()["cases"][word]
        assert meaning.endswith(f"--producers {producers}")
        assert all("producer" in discover.catalogue().roles(name) for name in producers.split(","))


def test_each_example_of_a_case_is_one() -> None:
    """Only complex numbers have conjugates."""
    for word in (word for axis in _core.case_axes.values() for word in axis):
        _, meaning = glossary.terms()[word]
        assert _core.is_case(meaning.rpartition("--cases ")[2]), meaning
