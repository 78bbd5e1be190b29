"""JUnit's XML of `check` and `compare`, read back by junitparser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import junitparser
import pytest
import test_compare

import comparisons
import samples
from dlbench import cli
from dlbench.analysis.compared import change as change_text
from dlbench.check import junit as check_junit
from dlbench.check.junit import Checked
from dlbench.compare import gate
from dlbench.compare import junit as compare_junit
from dlbench.document import Check, read_document
from dlbench.errors import BadInput
from dlbench.text import junit
from typed import comparison_of

pytestmark = pytest.mark.process

HOSTILE = 'a\x1b[31m\x00\ud800\ufffe ]]> <b a="&">\u202e\nsecond'


def cases_of(data: bytes) -> dict[str, Any]:
    """The cases by class and name; asserts that the counts of the file are those of its cases."""
    read: Any = junitparser.JUnitXml.fromstring(data)
    found: dict[str, Any] = {}
    sums = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in read:
        kinds = [type(result).__name__ for case in suite for result in case.result]
        counted = {"tests": len(list(suite)), "failures": kinds.count("Failure"),
                   "errors": kinds.count("Error"), "skipped": kinds.count("Skipped")}  # fmt: skip
        assert {key: getattr(suite, key) for key in sums} == counted
        sums = {key: sums[key] + counted[key] for key in sums}
        for case in suite:
            assert case.classname
            key = f"{case.classname}.{case.name}"
            assert key not in found
            found[key] = case
    assert {key: getattr(read, key) for key in sums} == sums
    return found


def kind_of(case: Any) -> str:
    (result,) = case.result or [None]
    return "passed" if result is None else type(result).__name__


def test_hostile_texts_are_printable_and_whole() -> None:
    problem = junit.Problem("failure", HOSTILE, HOSTILE, HOSTILE)
    suite = junit.Suite(HOSTILE, [junit.Case("g" + HOSTILE, "n" * 20_000, problem, HOSTILE)],
                        1.5, {HOSTILE: HOSTILE}, HOSTILE)  # fmt: skip
    data = junit.xml(HOSTILE, [suite])
    assert not set(data.decode()) & {"\x1b", "\x00", "\u202e", "\ufffe"}
    ((key, case),) = cases_of(data).items()
    assert key.endswith("." + "n" * 20_000)
    (result,) = case.result
    assert result.message == r'a\x1b[31m\x00\ud800\ufffe ]]> <b a="&">\u202e\nsecond'
    assert result.text.splitlines() == [
        r'a\x1b[31m\x00\ud800\ufffe ]]> <b a="&">\u202e', "second",
    ]  # fmt: skip


def check_entry(rule: str, outcome: str, **more: Any) -> Check:
    usual = {"library": "mine", "version": "1.0", "role": "producer", "level": "must"}
    return Check({**usual, "rule": rule, "outcome": outcome, "observed": f"seen {rule}", **more})


def test_each_rule_is_a_case_and_only_one_that_holds_passes() -> None:
    link = "https://example.org/1"
    checks = [
        check_entry("buffer.values", "holds"),
        check_entry("buffer.contiguous", "broken", accepted=False, reproducer="import numpy\n"),
        check_entry("buffer.read-only", "broken", accepted=True, issue=link),
        check_entry("buffer.length", "unclear"),
        check_entry("buffer.release", "not-applicable"),
    ]
    checked = [Checked("mine", 2.0, checks), Checked("other", 1.0, failure="cannot import it")]
    cases = cases_of(check_junit.xml(checked))
    kinds = {key.removeprefix("dlbench.check."): kind_of(case) for key, case in cases.items()}
    assert kinds == {
        "mine.buffer.values": "passed",
        "mine.buffer.contiguous": "Failure",
        "mine.buffer.read-only": "Skipped",
        "mine.buffer.length": "Skipped",
        "mine.buffer.release": "Skipped",
        "other.load": "Error",
    }
    broken = cases["dlbench.check.mine.buffer.contiguous"].result[0]
    assert broken.message == "seen buffer.contiguous"
    assert "import numpy" in broken.text
    accepted = cases["dlbench.check.mine.buffer.read-only"].result[0]
    assert accepted.message == "accepted by --known: seen buffer.read-only"
    assert link in accepted.text
    unclear = cases["dlbench.check.mine.buffer.length"].result[0]
    assert unclear.message == "unclear: seen buffer.length"
    assert cases["dlbench.check.other.load"].result[0].message == "cannot import it"


def test_check_writes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["check", "numpy", "--only", "buffer", "--junit", "made.xml"]
    assert cli.main([*words, "--out", "first"]) == 1
    cases = cases_of(Path("made.xml").read_bytes())
    failed = [key for key, case in cases.items() if kind_of(case) == "Failure"]
    broken = ("buffer.contiguous", "buffer.read-only")
    assert sorted(failed) == [f"dlbench.check.numpy.{rule}" for rule in broken]
    capsys.readouterr()
    assert cli.main([*words, "--out", "second"]) == 2
    assert "--junit made.xml: exists already; --force replaces it" in capsys.readouterr().err
    assert cli.main([*words, "--out", "second", "--force"]) == 1


def test_a_file_that_cannot_be_written_loses_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def write_to_full_disk(path: Path, fill: Any) -> None:
        raise BadInput(f"cannot write {path}: No space left on device")

    monkeypatch.setattr("dlbench.writing.write_requested", write_to_full_disk)
    words = ["check", "numpy", "--only", "buffer.values", "--junit", "made.xml", "--out", "first"]
    assert cli.main(words) == 2
    ended = capsys.readouterr()
    assert ended.err == "dlbench: cannot write made.xml: No space left on device\n"
    assert "first: results.json" in ended.out
    (check,) = read_document(Path("first/results.json")).checks
    assert check.rule == "buffer.values"


def compared() -> Any:
    """A comparison with a cell of every kind."""
    entries = [samples.measured("numpy", name, 100.0) for name in "abcdefghi"]
    made = comparisons.of(samples.document(*entries), samples.document(*entries))
    changes: list[dict[str, Any]] = [
        {"verdict": "SAME"},
        {"verdict": "SLOW", "ratio": 1.3},
        {"verdict": "FAST", "ratio": 0.7},
        {"verdict": "INCONCLUSIVE", "inconclusive": {"code": "too-noisy", "replicas": 23}},
        {"verdict": "AMBIG"},
        {"outcome_change": "worse", "head_outcome": "copy", "details": ["zero-copy -> copy"]},
        {"presence": "lost", "head": None, "head_outcome": None, "verdict": None},
        {"verdict": None, "head": None, "head_outcome": "zero-copy"},
        {"verdict": None, "base": None, "head": None, "ratio": None},
    ]
    for cell, change in zip(made["cells"], changes, strict=True):
        cell |= change
    return comparison_of(made)


@pytest.mark.parametrize(
    ("fail_on", "kinds"),
    [
        (",".join(gate.ALL), "passed Failure passed Error Skipped Failure Failure Skipped passed"),
        ("slow", "passed Failure passed Skipped Skipped Skipped Skipped Skipped passed"),
        ("none", "passed Skipped passed Skipped Skipped Skipped Skipped Skipped passed"),
    ],
)
def test_each_cell_ends_as_the_gate_judges_it(fail_on: str, kinds: str) -> None:
    comparison = compared()
    cases = cases_of(compare_junit.xml(comparison, gate.reasons(fail_on)))
    assert list(cases) == [f"dlbench.compare.{cell.name}" for cell in comparison.cells]
    assert [kind_of(case) for case in cases.values()] == kinds.split()
    for case in cases.values():
        assert all(result.message and result.text for result in case.result)
    worse, lost = (list(cases.values())[i].result[0] for i in (5, 6))
    prefix = "outcome" if "outcome" in fail_on else "outcome: not in --fail-on"
    assert worse.message == f"{prefix}: {change_text(1.0, 0.02)}, zero-copy -> copy"
    assert lost.message.endswith("zero-copy -> none")
    inconclusive = list(cases.values())[3].result[0]
    assert inconclusive.message == "inconclusive: could hide a change of 5.0 % (too-noisy)"
    assert inconclusive.text.startswith("verdict: INCONCLUSIVE\n")
    assert "about 23" in inconclusive.text


def test_compare_writes_all_cells_and_replaces_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = test_compare.write(tmp_path, "base", test_compare.document(1))
    slow = test_compare.slower(test_compare.document(2), 1.1)
    head = test_compare.write(tmp_path, "head", slow)
    target = tmp_path / "made.xml"
    line = ["compare", base, head, "--junit", str(target)]
    assert cli.main(line) == 1
    cases = cases_of(target.read_bytes())
    assert len(cases) == len(slow["benchmarks"]) + len(slow["not_measured"])
    (failed,) = (case for case in cases.values() if kind_of(case) == "Failure")
    assert failed.result[0].message.startswith("slow: +")
    assert "producer:numpy/consumer:numpy" in failed.name
    capsys.readouterr()
    assert cli.main([*line, "--force"]) == 2
    assert "exists already; remove it first" in capsys.readouterr().err
