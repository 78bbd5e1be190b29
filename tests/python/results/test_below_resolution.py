"""A device time below the timer's resolution has a bound everywhere and a number nowhere."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

import samples
from dlbench import exporters, findings
from dlbench.analysis import matrices
from dlbench.document import NotMeasured
from dlbench.terminal import pair, terminal
from typed import doc, entries_of, entry_of

REASON = (
    "below 31.3 ns: a row of 64 exchanges cannot be distinguished from an empty row, because the "
    "device's timer has steps of 1.00 us"
)


def below(**given: Any) -> dict[str, Any]:
    observed = {"found": "zero-copy", "changed": [], "code": "below-resolution", "below_ns": 31.25}
    observed |= {"data": {"limit": "step"}}
    observed |= {"evidence": dict.fromkeys(("address", "guard", "write", "slope"), "skipped")}
    observed |= {"device_timer": {"step_ns": 1000.0, "empty_ns": 2000.0, "scatter_ns": 0.0}}
    where = {"clock": "device", "device": "cuda:0"}
    return samples.missing("native", "torch", "unsupported", REASON, **(observed | where | given))


@pytest.fixture
def document() -> dict[str, Any]:
    timed = samples.measured("native", "torch", 900.0, device="cuda:0")
    return samples.document(timed, below())


def test_a_matrix_shows_the_bound() -> None:
    shown = matrices.Shown.of(entry_of(below()))
    assert (shown.text, shown.kind) == ("< 31.3 ns", "-")
    assert isinstance(entry_of(below()), NotMeasured)


def test_a_line_of_its_own_has_the_bound_the_outcome_and_the_timer(
    document: dict[str, Any],
) -> None:
    lines = [line.plain for line in pair.table(entries_of([below()]), 200)]
    (line,) = [line for line in lines if "native -> torch" in line]
    assert "< 31.3 ns" in line
    assert "zero-copy" in line
    assert "unsupported" not in line
    reported = pair.details(entry_of(below()))
    assert any(
        "steps of 1.00 us; the time of an empty row, 2.00 us, is subtracted" in fact
        for fact in reported
    )


def test_it_is_no_failure(document: dict[str, Any]) -> None:
    assert not [one for one in findings.find(doc(document)) if one.label == "unsupported"]
    honest = below() | {"code": "make-failed"}
    del honest["below_ns"]
    failing = samples.document(document["benchmarks"][0], honest)
    assert [one for one in findings.find(doc(failing)) if one.label == "unsupported"]
    last = terminal.footer(doc(document), 200, "")[-1]
    assert last.startswith("1 measured, 1 with an upper bound only")
    assert " not" not in last.split("38 s")[0]


def test_the_table_has_the_bound_in_a_column_of_its_own(document: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(exporters.export(doc(document), "csv"))))
    (row,) = [row for row in rows if row["clock"] == "device"]
    assert (row["below_ns"], row["real_time"], row["code"]) == ("31.25", "", "below-resolution")
    assert (row["device_timer_step_ns"], row["device_timer_empty_ns"]) == ("1000.0", "2000.0")
    assert (row["found"], row["outcome"]) == ("zero-copy", "unsupported")


def test_the_step_summary_lists_it_under_no_failures(document: dict[str, Any]) -> None:
    only = samples.document(samples.measured("native", "native", 900.0), below())
    assert "Without a number" not in exporters.export(doc(only), "markdown")
