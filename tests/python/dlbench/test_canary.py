"""`dlbench canary` over planted wheels, without a network."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from dlbench import cli
from wheels import BODY, plant

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[3]
ADAPTERS = ["--adapters", "adapters"]


def canary(*words: str) -> int:
    return cli.main(["canary", "native", "planted", "--protocols", "dlpack", *ADAPTERS, *words])


@pytest.mark.timeout(240)
def test_a_release_that_copies_is_reported_and_an_equal_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bodies = {"1.0": BODY["1.0"], "1.1": BODY["1.1"], "1.2rc1": BODY["1.3"], "1.3rc1": BODY["1.4"]}
    plant(tmp_path, monkeypatch, bodies)
    spec = ["--versions", "planted==1.0", "--replicas", "1", "--protocols", "dlpack"]
    track = ["track", "native", "planted", *spec, *ADAPTERS, "--out", "first", "--quiet"]
    assert cli.main(track) == 0
    capsys.readouterr()

    assert canary("--base", "first", "--out", "good") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# No exchange broke: planted 1.1")
    assert "| planted | 1.0 | 1.1 |" in shown
    assert "bisect" not in shown

    # The newest versions of a good canary are the base of the next one.
    assert canary("--base", "good", "--pre", "--out", "bad") == 1
    shown = capsys.readouterr().out
    assert shown.startswith("# 1 exchange broke: planted 1.3rc1")
    assert "| planted | 1.1 | 1.3rc1 |" in shown
    assert "refused: BufferError: not today" in shown.replace("\\", "")
    (command,) = [line for line in shown.splitlines() if line.startswith("dlbench bisect")]
    assert shlex.split(command)[2:5] == ["planted", "1.1", "1.3rc1"]

    (tmp_path / "run").mkdir()
    assert cli.main([*shlex.split(command)[1:], "--pre", "--out", "run"]) == 0
    assert "first changed version: 1.2rc1, after 1.1" in capsys.readouterr().out


def test_bad_use_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path, monkeypatch, {"1.0": BODY["1.0"]})
    for words, message in (
        ([], "planted is not installed here: name a run with it"),
        (["--base", "none"], "none"),
        (["--with", "=="], "is not a package"),
    ):
        assert canary(*words) == 2
        (line,) = capsys.readouterr().err.splitlines()[-1:]
        assert message in line
    assert not list(tmp_path.glob("dlbench-results/*"))


@pytest.mark.parametrize(("status", "is_kept"), [(0, True), (1, True), (2, False)])
def test_the_workflow_ends_only_if_nothing_was_measured(
    tmp_path: Path, status: int, is_kept: bool
) -> None:
    steps = yaml.safe_load((ROOT / ".github/workflows/canary.yml").read_text())["jobs"]["canary"]
    (measure,) = [step["run"] for step in steps["steps"] if step.get("name") == "Measure"]
    command = tmp_path / "dlbench"
    made = 'mkdir newest; touch newest/results.json; echo "$@"; exit'
    command.write_text(f"#!/bin/sh\n{made} {status}\n")
    command.chmod(0o755)
    names = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
    env = {name: str(tmp_path / name) for name in names}
    env |= {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LIBRARIES": "numpy jax"}
    words = ["bash", "-eo", "pipefail", "-c", measure]
    done = subprocess.run(words, cwd=tmp_path, env=env, check=False)
    assert (done.returncode == 0) == is_kept
    assert (tmp_path / "canary.md").read_text() == "canary numpy jax --out newest\n"
    if is_kept:
        assert (tmp_path / "GITHUB_OUTPUT").read_text() == f"status={status}\n"
        assert (tmp_path / "good/results.json").exists()
