"""`dlbench bisect` over planted wheels, without a network."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from dlbench import cli
from wheels import BODY, plant

pytestmark = pytest.mark.process
SHARES, SLOW, COPY = BODY["1.1"], BODY["1.2"], BODY["1.3"]


def bisected(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> list[str]:
    """What it prints."""
    assert cli.main(["bisect", *words, "--adapters", "adapters", "--out", "run"]) == status
    shown = capsys.readouterr()
    return (shown.out if status != 2 else shown.err).splitlines()


def planted(folder: Path, monkeypatch: pytest.MonkeyPatch, *bodies: str) -> None:
    plant(folder, monkeypatch, {f"1.{minor}": body for minor, body in enumerate(bodies)})


@pytest.mark.timeout(240)
def test_a_copy_is_found_and_reproduced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(tmp_path, monkeypatch, *[SHARES] * 5, COPY)
    lines = bisected(capsys, "planted", "1.0", "1.5", "native", "planted")
    assert "first changed version: 1.5, after 1.4" in lines
    assert "second measurement of both: confirmed: outcome: zero-copy -> copy" in lines
    assert "found with 5 measurements" in lines
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("dlbench repro")]
    assert len(commands) == 2
    for command, shown in zip(commands, ("zero-copy", "copy"), strict=True):
        assert cli.main([*command, "--adapters", "adapters"]) == 0
        assert f"now       {shown}" in capsys.readouterr().out


@pytest.mark.timeout(240)
@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind")
def test_more_instructions_are_found_in_a_folder_of_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The outcome changes, too, so that the kind must be named.
    slow = SLOW + ".copy()"
    planted(tmp_path, monkeypatch, SHARES, SHARES, slow, slow)
    words = ("planted", "1.3", "1.0", "native", "planted", "dlpack", "f64", "8KiB")
    lines = bisected(capsys, *words, "--wheels", "wheels", "--step", "code")
    assert "native -> planted dlpack f64 8 KiB" in lines
    assert "first changed version: 1.2, after 1.1" in lines
    assert any(re.match(r"second .* confirmed: code: .*\+\d+", line) for line in lines), lines
    (again,) = [line for line in lines if line.startswith("dlbench compare")]
    assert again.endswith("--count instructions")


@pytest.mark.timeout(300)
def test_without_counts_the_time_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(tmp_path, monkeypatch, SHARES, SHARES, SHARES, SLOW, SLOW)
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "valgrind" else which(name))
    lines = bisected(capsys, "planted", "1.0", "1.4", "native", "planted")
    assert "first changed version: 1.3, after 1.2" in lines
    assert any(re.match(r"second .* confirmed: time: \+\d+", line) for line in lines), lines


@pytest.mark.timeout(240)
def test_of_several_steps_the_first_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = "raise RuntimeError('no')"
    planted(tmp_path, monkeypatch, SHARES, BODY["1.4"], broken, BODY["1.5"])
    lines = bisected(capsys, "planted", "1.0", "1.3", "native", "planted")
    assert "first changed version: 1.1, after 1.0" in lines
    assert "there are several steps: this is one of them" in lines
    assert any("confirmed: outcome: zero-copy -> refused" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("1.0", "x", "native", "planted"), "BAD 'x' is not a version"),
        (("1.0", "1.0", "native", "planted"), "GOOD and BAD are one version"),
        (("1.0", "1.1.5", "native", "planted"), "no version 1.1.5"),
        (("1", "1.1.0", "native", "planted", "--step", "outcome"), "do not differ in outcome"),
        (("1.0", "1.1", "native"), "CELL is PRODUCER CONSUMER"),
        (("1.0", "1.1", "native", "nunpy"), "nunpy"),
        (("1.0", "1.1", "native", "planted", "4X"), "4X"),
        (("1.0", "1.6", "native", "planted"), "not in '>=9.1'"),
        (("1.0", "1.1", "native", "planted", "--step", "outcome"), "do not differ in outcome"),
        (("1.0", "1.1", "native", "planted", "--wheels", "none"), "no wheel of planted"),
    ],
)
def test_bad_use_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    message: str,
) -> None:
    planted(tmp_path, monkeypatch, SHARES, SHARES)
    lines = bisected(capsys, "planted", *words, "--quiet", status=2)
    assert len(lines) == 1, lines
    assert message in lines[0]
