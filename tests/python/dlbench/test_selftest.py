"""The self-test finds planted faults, and reports an instrument that fails."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import samples
from dlbench.cli import main
from dlbench.errors import BadInput
from dlbench.selftest import alike, calls, copies, delays, faults, runs, table
from dlbench.selftest.row import Row, Setting
from typed import entries_of

pytestmark = [pytest.mark.process, pytest.mark.timing]


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path, short=True, times=1, seed=1)


def good(rows: list[Row]) -> None:
    assert rows
    assert [(row.planted, row.found, row.details) for row in rows if not row.good] == []


def cell(**more: Any) -> dict[str, Any]:
    usual = {"producer": "faulty:silent-copy", "consumer": "native", "case": "f32"}
    usual |= {"bytes": 65536, "clock": "call", "phase": "exchange", "outcome": "copy"}
    reported = [samples.warned("copy-without-flag"), samples.warned("preempted")]
    return {**usual, "copied_by": "producer", "late_read": False, "warnings": reported, **more}


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": "zero-copy"},
        {"copied_by": "consumer"},
        {"late_read": True},
        {"warnings": [samples.warned("preempted")]},
    ],
)
def test_a_fault_that_is_named_otherwise_is_missed(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]
) -> None:
    monkeypatch.setattr(faults, "FAULTS", faults.FAULTS[:1])
    honest = cell(producer=faults.HONEST, outcome="zero-copy", copied_by="", warnings=[])
    monkeypatch.setattr(runs, "run", lambda *_: entries_of([honest, cell()]))
    good(faults.trial(setting))
    monkeypatch.setattr(runs, "run", lambda *_: entries_of([honest, cell(**wrong)]))
    found, alarms = faults.trial(setting)
    assert found.good is False
    assert alarms.good is True


def test_a_fault_of_a_call_that_is_named_otherwise_is_missed(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_call(fault: str, **more: Any) -> dict[str, Any]:
        return cell(producer="native", consumer=f"faulty:{fault}", protocol="call", **more)

    def wrong(reason: str) -> dict[str, Any]:
        return {"outcome": "wrong", "reason": reason, "code": "wrong-arguments", "warnings": []}

    text = "call: copied arguments: 8"
    copied = {"code": "arguments-copied", "text": text, "data": {"arguments": "8"}}
    entries = [
        of_call("honest", outcome="zero-copy", real_time=9.0, warnings=[samples.warned("drift")]),
        of_call("copies-argument", real_time=9.0, warnings=[copied]),
        of_call("swaps-arguments", **wrong("call: argument 1 is array 2")),
        of_call("skips-body", **wrong("call: the body ran 0 times in 1 call")),
    ]
    monkeypatch.setattr(runs, "run", lambda *_: entries_of(entries))
    good(calls.trial(setting))
    for at, other in ((0, entries[1]), (1, entries[0]), (2, entries[3]), (3, entries[2])):
        changed = [*entries]
        changed[at] = {**other, "consumer": entries[at]["consumer"]}
        monkeypatch.setattr(runs, "run", lambda *_, found=changed: entries_of(found))
        (row,) = calls.trial(setting)
        assert (row.good, len(row.details)) == (False, 1)
    monkeypatch.setattr(runs, "run", lambda *_: [])
    assert [row.good for row in calls.trial(setting)] == [False]


def test_the_faults_of_calls_are_found(setting: Setting) -> None:
    good(calls.trial(setting))


def test_an_honest_run_that_is_blamed_is_a_false_alarm(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "FAULTS", faults.FAULTS[:1])
    blamed = cell(producer=faults.HONEST, outcome="zero-copy", copied_by="")
    monkeypatch.setattr(runs, "run", lambda *_: entries_of([blamed, cell()]))
    found, alarms = faults.trial(setting)
    assert (found.good, alarms.good) == (True, False)


def test_a_fault_without_a_cell_is_missed(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "run", lambda *_: entries_of([]))
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

    monkeypatch.setattr(
        runs,
        "run",
        lambda *_: entries_of([{"real_time": 100.0, "workers": workers([100.0, 100.1] * 10)}]),
    )
    good(alike.trial(setting))
    off = [100.0, 100.1] * 7 + [100.0, 130.0] * 3
    monkeypatch.setattr(
        runs, "run", lambda *_: entries_of([{"real_time": 100.0, "workers": workers(off)}])
    )
    (row,) = alike.trial(setting)
    assert row.good is False


def test_nothing_is_good_of_what_was_not_there(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "run", lambda *_: entries_of([]))
    assert [row.good for row in copies.trial(setting)] == [None, None]
    assert all("not tested" in table._lines("x", row, 8)[0] for row in copies.trial(setting))


@pytest.mark.parametrize(
    ("slope", "short", "good_"),
    [("no", True, True), ("skipped", True, None), ("skipped", False, False), ("yes", True, False)],
)
def test_a_slope_that_is_left_open_is_not_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slope: str, short: bool, good_: bool | None
) -> None:
    evidence = {"guard": "no", "slope": slope}
    found = cell(bytes=1 << 20, evidence=evidence)
    monkeypatch.setattr(runs, "run", lambda *_: entries_of([found]))
    _, sloped = copies.trial(Setting(tmp_path, short=short, times=1, seed=1))
    assert sloped.good is good_


def test_a_trial_that_cannot_be_held_fails_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(setting: Setting) -> list[Row]:
        raise BadInput("the run ended with 3")

    trials = {"broken": broken, "fine": lambda setting: [Row("a", "b", True)]}
    monkeypatch.setattr(table, "TRIALS", trials)
    message = io.StringIO()
    status = table.run_trials(
        (), short=True, times=1, seed=1, console=Console(file=message, width=100)
    )
    assert status == 1
    assert "FAILED" in message.getvalue()
    assert "the run ended with 3" in message.getvalue()
    assert "good" in message.getvalue()


@pytest.mark.parametrize(("failures", "attempts", "status"), [(0, 1, 0), (2, 3, 0), (9, 3, 1)])
def test_a_timed_trial_is_repeated_and_tells_each_failure(
    monkeypatch: pytest.MonkeyPatch, failures: int, attempts: int, status: int
) -> None:
    settings: list[Setting] = []

    def trial(setting: Setting) -> list[Row]:
        assert setting.folder.is_dir()
        settings.append(setting)
        return [Row("a", f"found {len(settings)}", len(settings) > failures)]

    monkeypatch.setattr(table, "TRIALS", {"alike": trial})
    message = io.StringIO()
    console = Console(file=message, width=100)
    assert table.run_trials((), short=True, times=1, seed=7, console=console) == status
    assert len(settings) == attempts
    assert [setting.seed for setting in settings] == [7, 8, 9][:attempts]
    assert len({setting.folder for setting in settings}) == attempts
    for number in range(1, min(failures, attempts) + 1):
        assert f"attempt {number} failed: found {number}" in message.getvalue()


def test_a_trial_of_verdicts_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    runs_observed: list[Setting] = []

    def trial(setting: Setting) -> list[Row]:
        runs_observed.append(setting)
        return [Row("a", "b", False)]

    monkeypatch.setattr(table, "TRIALS", {"faults": trial})
    console = Console(file=io.StringIO(), width=100)
    assert table.run_trials((), short=True, times=1, seed=1, console=console) == 1
    assert len(runs_observed) == 1


def test_an_unknown_trial_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "--only", "fault"]) == 2
    assert "did you mean 'faults'" in capsys.readouterr().err
