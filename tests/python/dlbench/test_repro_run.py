"""`repro --run` prints the result of the run next to that of now."""

from __future__ import annotations

import json
import re
import venv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import samples
from dlbench import cli
from dlbench.environments import environment
from dlbench.errors import BadInput
from dlbench.scripts import bug_report, running

HERE = environment.here()

pytestmark = pytest.mark.process


def reproduced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str, **given: Any
) -> tuple[int, list[str]]:
    evidence = {"address": "yes", "guard": "skipped", "write": "skipped", "slope": "skipped"}
    document = samples.document(
        samples.measured("numpy", "numpy", 100.0, **{"evidence": evidence, **given})
    )
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document))
    status = cli.main(["repro", str(path), "numpy", "numpy", *words])
    reported = capsys.readouterr()
    return status, (reported.out or reported.err).splitlines()


def test_a_claim_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = reproduced(tmp_path, capsys, "--run")
    assert (status, lines[-2:]) == (0, ["observed  zero-copy", "now       zero-copy"])
    assert lines[-3] == "expected  zero-copy"
    assert re.fullmatch(r"versions: \{'numpy': '\S+'\}", lines[0])


def test_a_plain_script_is_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = reproduced(tmp_path, capsys)
    code = [line for line in lines if not line.startswith("#")]
    assert (status, len(code), max(map(len, code)) < 100) == (0, 12, True), lines
    assert lines[-1] == "raise SystemExit(actual not in expected.split(' or '))"
    assert any(line.startswith("expected, actual = 'zero-copy', ") for line in code)
    assert not any("source" in line or "del " in line for line in code)


def test_a_claim_that_does_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evidence = {"address": "no", "guard": "skipped", "write": "skipped", "slope": "skipped"}
    status, lines = reproduced(tmp_path, capsys, "--run", outcome="copy", evidence=evidence)
    assert (status, lines[-2:]) == (1, ["observed  copy", "now       zero-copy"])


def test_a_cell_of_another_environment_is_run_there_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = reproduced(tmp_path, capsys, "--run", environment="old")
    assert status == 2
    assert "add --env old=PYTHON" in lines[0]
    status, lines = reproduced(tmp_path, capsys, environment="old")
    assert status == 0  # without --run nothing is started
    for words in (("--run", "--env", "x=y"), ("--env", "x=y")):
        status, lines = reproduced(tmp_path, capsys, *words)
        assert status == 2
        assert "leave out --env" in lines[0]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import sys; sys.exit('no such thing')", "ended by exit status 1: no such thing"),
        ("import os; os.abort()", "ended by SIGABRT"),
        (
            "import os; print('expected: a\\nactual: a', flush=True); os.abort()",
            "ended after its verdict by SIGABRT",
        ),
        ("while True: pass", "did not end within 1 s"),
        ("import signal, os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    ],
)
def test_a_script_without_its_verdict_is_one_line(script: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        running.run_script(script, HERE, 1 if "while" in script else 60)


def test_a_script_that_only_shows_an_exchange_has_no_verdict() -> None:
    assert running.run_script("print(7)", HERE, 30) == running.Verdict(
        ["7"], "", "", is_fault=False
    )


def test_what_a_library_prints_at_its_end_hides_no_verdict() -> None:
    lines = ("1 us", "expected: zero-copy", "actual: copy", "bye")
    script = "".join(f"print({line!r})\n" for line in lines) + "raise SystemExit(1)"
    verdict = running.run_script(script, HERE, 60)
    assert verdict == running.Verdict(list(lines), "zero-copy", "copy", is_fault=True)
    assert verdict.printed == ["1 us", "bye"]


def test_a_fault_is_reported_with_what_was_run_just_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evidence = dict.fromkeys(("guard", "write", "slope"), "skipped") | {"address": "no"}
    copied = {"outcome": "copy", "evidence": evidence}
    document = samples.document(samples.measured("faulty:silent-copy", "numpy", 100.0, **copied))
    (tmp_path / "run.json").write_text(json.dumps(document))
    words = ["repro", str(tmp_path / "run.json"), "faulty:silent-copy", "numpy"]
    assert cli.main(words) == 0
    script = capsys.readouterr().out
    assert cli.main([*words, "--issue"]) == 0
    report = capsys.readouterr().out
    title = "# faulty:silent-copy -> numpy, dlpack: copy instead of zero-copy\n\n- Expected: "
    assert report.startswith(title)
    assert f"```python\n{script}```\n" in report
    printed = (
        r"with exit status 1:\n\n```text\nversions: .*\nexpected: zero-copy\nactual: copy\n```"
    )
    assert re.search(printed, report)


def test_no_fault_is_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = reproduced(tmp_path, capsys, "--issue")
    assert (status, lines) == (2, ["dlbench: no fault to report: zero-copy"])
    status, lines = reproduced(tmp_path, capsys, "--issue", "--run")
    assert (status, len(lines)) == (2, 1)


def test_foreign_text_stays_in_its_place_in_a_report() -> None:
    verdict = running.Verdict(["a\x1b", "```"], "", "<b>", is_fault=True)
    report = bug_report.text("x", [], "'```'", verdict, HERE, "cpu")
    assert "````text\na\\x1b\n```\n````\n" in report
    assert "- Actual: &lt;b>" in report


def test_a_script_finds_the_libraries_of_dlbench_where_the_worker_does(tmp_path: Path) -> None:
    """Also in an environment without dlbench, and of another Python, whose modules lie elsewhere"""
    venv.create(tmp_path / "bare", symlinks=True, with_pip=False)
    (tmp_path / "built").mkdir()
    (tmp_path / "built/of_another.py").write_text("name = 'bare'")
    python, folders = str(tmp_path / "bare/bin/python"), (*HERE.folders, tmp_path / "built")
    script = (
        "from dlbench import Call, _native_producer, of_another\n"
        "print('expected: bare')\nprint('actual:', of_another.name)\n"
    )
    place = replace(HERE, python=python, folders=folders)
    assert running.run_script(script, place, 60.0).actual == "bare"
