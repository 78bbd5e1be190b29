"""The self-test finds what was planted, and says so where an instrument fails."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dlbench.cli import main
from dlbench.errors import BadInput
from dlbench.selftest import alike, delays, faults, repeats, runs, table, unexplained
from dlbench.selftest.row import Row, Setting


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path, short=True, times=1, seed=1)


def good(rows: list[Row]) -> None:
    assert rows
    assert [(row.planted, row.found, row.details) for row in rows if not row.good] == []


def cell(**more: Any) -> dict[str, Any]:
    usual = {"producer": "saboteur:silent-copy", "consumer": "native", "case": "f32"}
    usual |= {"bytes": 65536, "clock": "call", "phase": "exchange", "outcome": "copy"}
    told = ["the producer copied without setting IS_COPIED", "preempted"]
    return {**usual, "copied_by": "producer", "late_read": False, "warnings": told, **more}


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": "zero-copy"},
        {"copied_by": "consumer"},
        {"late_read": True},
        {"warnings": ["preempted"]},
    ],
)
def test_a_fault_that_is_named_otherwise_is_missed(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]
) -> None:
    monkeypatch.setattr(faults, "FAULTS", faults.FAULTS[:1])
    honest = cell(producer=faults.HONEST, outcome="zero-copy", copied_by="", warnings=[])
    monkeypatch.setattr(runs, "run", lambda *_: [honest, cell()])
    good(faults.trial(setting))
    monkeypatch.setattr(runs, "run", lambda *_: [honest, cell(**wrong)])
    found, alarms = faults.trial(setting)
    assert found.good is False
    assert alarms.good is True


def test_an_honest_run_that_is_blamed_is_a_false_alarm(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "FAULTS", faults.FAULTS[:1])
    blamed = cell(producer=faults.HONEST, outcome="zero-copy", copied_by="")
    monkeypatch.setattr(runs, "run", lambda *_: [blamed, cell()])
    found, alarms = faults.trial(setting)
    assert (found.good, alarms.good) == (True, False)


def test_a_fault_without_a_cell_is_missed(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "run", lambda *_: [])
    assert [row.good for row in faults.trial(setting)] == [False, False]


def test_a_delay_belongs_into_its_phase_alone() -> None:
    none = {"export": 0.0, "import": 0.0, "release": 0.0, "unexplained": 0.0}
    assert delays.Found({**none, "export": 1010.0}, 1000).is_right("export")
    assert not delays.Found({**none, "export": 1100.0}, 1000).is_right("export")
    assert not delays.Found({**none, "export": 1000.0, "import": 80.0}, 1000).is_right("export")
    assert not delays.Found({**none, "import": 1000.0}, 1000).is_right("export")


def test_workers_that_differ_are_seen(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    def workers(medians: list[float]) -> list[dict[str, Any]]:
        rows = [[ns + 0.01 * i for i in range(12)] for ns in medians]
        return [{"samples_ns": row, "median_ns": row[6]} for row in rows]

    monkeypatch.setattr(runs, "run", lambda *_: [{"workers": workers([100.0, 100.1] * 10)}])
    good(alike.trial(setting))
    off = [100.0, 100.1] * 7 + [100.0, 130.0] * 3
    monkeypatch.setattr(runs, "run", lambda *_: [{"workers": workers(off)}])
    (row,) = alike.trial(setting)
    assert row.good is False


def test_what_is_left_over_is_judged_by_share_or_by_ns(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exchange(whole: float, left: float) -> dict[str, Any]:
        # The cell's own rounds are others: of what they took nothing is a part.
        own = {"unexplained_ns": left, "phases": {"exchange_ns": whole}}
        return cell(outcome="zero-copy", real_time=100 * whole, **own)

    fine = [exchange(1000, 10), exchange(100, 1.5), exchange(5000, -40)]
    monkeypatch.setattr(runs, "run", lambda *_: fine)
    good(unexplained.trial(setting))
    monkeypatch.setattr(runs, "run", lambda *_: [*fine, exchange(1000, 300)])
    (row,) = unexplained.trial(setting)
    assert row.good is False
    assert "300 of 1000 ns" in row.details[0]


def test_a_warning_of_the_library_is_named_as_a_cause(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    loud = cell(outcome="zero-copy", real_time=1000.0, unexplained_ns=300.0)
    loud |= {"phases": {"exchange_ns": 1000.0}, "warnings": ["DeprecationWarning: old"]}
    monkeypatch.setattr(runs, "run", lambda *_: [loud, loud | {"warnings": ["drift"]}])
    (row,) = unexplained.trial(setting)
    assert [unexplained.BLAMED in told for told in row.details] == [True, False]


@pytest.mark.parametrize(
    ("in_export", "told"),
    [
        (996.0, "4 of its 1000 instructions are in no phase: the same work, at another speed"),
        (700.0, "300 of its 1000 instructions are in no phase"),
    ],
)
def test_what_is_left_over_is_looked_at_again_and_counted(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, in_export: float, told: str
) -> None:
    first = cell(outcome="zero-copy", real_time=1000.0, unexplained_ns=300.0, warnings=[])
    first["phases"] = {"exchange_ns": 1000.0}
    counted = [
        first | {"unexplained_ns": 280.0, "instructions": 1000.0},
        {"phase": "export", "instructions": in_export},
    ]
    asked: list[Sequence[str]] = []

    def run(folder: Path, name: str, words: Sequence[str], seed: int) -> list[dict[str, Any]]:
        asked.append(words)
        return counted if "--count" in words else [first]

    monkeypatch.setattr(runs, "run", run)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    (row,) = unexplained.trial(setting)
    assert "again 280 of 1000 ns (28.0%)" in row.details[0]
    assert told in row.details[0]
    assert ("another speed" in row.details[0]) == ("another speed" in told)
    assert "silent-copy" in " ".join(asked[1])


def test_without_valgrind_nothing_is_claimed(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    (row,) = repeats.instructions(setting)
    assert row.good is None


def test_a_trial_that_cannot_be_held_fails_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(setting: Setting) -> list[Row]:
        raise BadInput("the run ended with 3")

    trials = {"broken": broken, "fine": lambda setting: [Row("a", "b", True)]}
    monkeypatch.setattr(table, "TRIALS", trials)
    said = io.StringIO()
    status = table.conduct((), short=True, times=1, seed=1, console=Console(file=said, width=100))
    assert status == 1
    assert "FAILED" in said.getvalue()
    assert "the run ended with 3" in said.getvalue()
    assert "good" in said.getvalue()


def test_an_unknown_trial_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--only", "fault"]) == 2
    assert "did you mean 'faults'" in capsys.readouterr().err
