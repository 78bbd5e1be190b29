"""`dlbench track` over planted wheels, without a network."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from dlbench import cli
from dlbench.environments import versions
from wheels import BODY, hide, plant, wheel

pytestmark = pytest.mark.process


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    plant(tmp_path, monkeypatch, BODY)
    hide(monkeypatch, "uv")  # canary and bisect use it
    return tmp_path


def tracked(spec: str, *words: str) -> int:
    native = ["track", "native", "planted", "--adapters", "adapters", "--protocols", "dlpack"]
    return cli.main([*native, "--versions", spec, *words])


@pytest.mark.timeout(240)
def test_each_planted_step_is_found(planted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tracked("planted", "--replicas", "6", "--out", "run") == 0
    shown = capsys.readouterr()
    steps = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert any(re.match(r"1\.2 zero-copy \S+ \ws time: \+\d+", line) for line in steps), shown.out
    assert any(re.match(r"1\.3 copy \S+ \ws outcome: zero-copy -> copy", line) for line in steps)
    assert "1.4 refused outcome: copy -> refused" in steps
    assert any(re.match(r"1\.5 crashed outcome: refused -> crashed", line) for line in steps)
    assert any(re.match(r"1\.6 not installed: .*not in '>=9\.1'", line) for line in steps)
    assert "1.0 .. 1.1" in shown.out
    environments = json.loads((planted / "run/results.json").read_text())["context"]["dlbench"][
        "environments"
    ]
    assert "not in '>=9.1'" in environments["1.6"]["failure"]
    # Installed environments are used again, and nothing else is left in the cache.
    assert not list((planted / "cache/dlbench/versions").glob(".part-*"))
    assert tracked("planted<1.2", "--replicas", "1", "--out", "again") == 0
    assert "2 environments in" in capsys.readouterr().err


@pytest.mark.timeout(240)
def test_an_interrupted_run_is_resumed_and_other_programs_are_not_started(
    planted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tracked("planted<1.3,>1.0", "--replicas", "2", "--out", "run", "--quiet") == 0
    journal, document = planted / "run/journal.jsonl", planted / "run/results.json"
    cells = [each["name"] for each in json.loads(document.read_text())["benchmarks"]]
    lines = journal.read_text().splitlines(keepends=True)
    cut = lines[: next(i for i, line in enumerate(lines) if cells[-1] in line)]
    assert 1 < len(cut) < len(lines)
    journal.write_text("".join(cut))
    document.unlink()
    words = ["track", "--resume", "run", "--adapters", "adapters"]
    assert cli.main(words) == 0
    assert [each["name"] for each in json.loads(document.read_text())["benchmarks"]] == cells
    assert "with numpy " in capsys.readouterr().out

    for key, message in (("environments", "no run of track"), ("env", "no run of track")):
        journal.write_text(lines[0].replace(f'"{key}":', f'"{key}X":'))
        assert cli.main(words) == 2
        assert message in capsys.readouterr().err
    journal.write_text(re.sub(r'[^"=]+/bin/python', "/opt/evil/bin/python", lines[0]))
    assert cli.main(words) == 2
    assert "must name the interpreters" in capsys.readouterr().err
    assert cli.main([*words, "--replicas", "3"]) == 2
    assert "leave out --replicas" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("planted>=2.0rc1",), "--pre has pre-releases too"),
        (("planted>=",), "is not a package with its versions"),
        (("planted>=7",), "no release matches planted>=7; the newest is 1.6"),
        (("nothing-of-this-name",), "No matching distribution"),
        (("planted", "--count", "pages"), "cannot count 'pages'"),
        (("planted", "--protocols", "dlpak"), "dlpak"),
        (("planted", "--with", "=="), "--with '==' is not a package"),
        (("planted", "--sizes", "many"), "many"),
        (("planted==1.6",), "not in '>=9.1'"),
    ],
)
def test_bad_use_is_one_line(
    planted: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert tracked(*words, "--quiet") == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]
    assert not list(planted.glob("dlbench-results/*"))


def test_an_index_that_does_not_answer_is_no_missing_package(
    planted: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Port 9 of this machine refuses."""
    for name, value in {"INDEX_URL": "http://127.0.0.1:9/simple", "RETRIES": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_FIND_LINKS", str(planted))
    assert tracked("nothing-of-this-name", "--quiet") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no versions of nothing-of-this-name: the index does not answer: " in line
    assert "Connection refused" in line


def test_an_unknown_library_is_reported(planted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["track", "nunpy", "--versions", "planted"]) == 2
    assert "did you mean 'numpy'" in capsys.readouterr().err


def test_the_newest_of_each_minor_version_is_chosen(planted: Path) -> None:
    wheel(planted / "wheels", "planted", "1.4.2", {})
    wheel(planted / "wheels", "planted", "2.0rc1", {})

    def found(text: str, pre: bool, is_minor: bool) -> versions.Releases:
        return versions.find(versions.parsed("", text), pre=pre, is_minor=is_minor)

    assert found("planted>=1.4", False, True).versions == ["1.4.2", "1.5", "1.6"]
    assert found("planted[x]>1.6", True, False).pinned("2.0rc1") == "planted[x]==2.0rc1"


def test_of_wheels_of_a_version_the_first_that_fits_is_taken(tmp_path: Path) -> None:
    for tag in ("cp27-none-any", "py2.py3-none-any", "py3-none-any"):
        (tmp_path / f"planted-1.0-{tag}.whl").write_text(tag)
    found = versions.find(versions.parsed("", "planted[y,x]"), pre=False, wheels=str(tmp_path))
    wheel_of = found.pinned("1.0").partition("#")[0]
    assert wheel_of == f"planted[x,y] @ {tmp_path.as_uri()}/planted-1.0-py2.py3-none-any.whl"


@pytest.mark.parametrize(
    ("says", "is_made"),
    [
        ("  x No solution found when resolving dependencies", True),
        ("ERROR: Could not find a version that fits beside==9 (from versions: 1, 2)", True),
        ("ERROR: Could not find a version that fits beside==9 (from versions: none)", False),
        ("error: connection reset", False),
    ],
)
def test_only_pins_that_cannot_be_resolved_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, is_made: bool
) -> None:
    def run_program(command: list[str], _: float) -> SimpleNamespace:
        if "venv" in command:
            (Path(command[-1]) / "bin").mkdir(parents=True)
            (Path(command[-1]) / "bin/python").touch()
        return SimpleNamespace(status=int("beside==9" in command), err=says, out="")

    monkeypatch.setattr(versions._core, "run_program", run_program)
    wanted = versions.recipe(tmp_path, "1.0", ["planted==1.0", "beside"], ["beside==9"])
    assert (versions.make(wanted, 1.0) is None) == wanted.is_made == is_made


@pytest.mark.parametrize(
    ("says", "shown"),
    [
        ("ERROR: No matching distribution found for numpy==2.5.5", "no wheel for Python 3."),
        ("  x No solution found: Because numpy==2.5.5 has no usable wheels", "no wheel for Python"),
        ("  x No solution found: Because pandas==9 has no usable wheels", "pandas==9 has no"),
        ("ERROR: No space left on device", "No space left on device"),
    ],
)
def test_the_reason_of_a_failed_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, shown: str
) -> None:
    monkeypatch.setattr(
        versions._core, "run_program", lambda *_: SimpleNamespace(status=1, err=says, out="")
    )
    failed = versions.make(versions.recipe(tmp_path, "2.5.5", ["numpy==2.5.5"]), 1.0)
    assert failed is not None
    assert failed.failure is not None
    assert shown in failed.failure.reason
    assert ("no wheel for" in failed.failure.reason) == ("numpy==2.5.5" in says)
