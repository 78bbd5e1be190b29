"""`dlbench canary` over planted wheels, without a network."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

import synthetic
import terms
from dlbench import _core, cli
from dlbench.document import Comparison
from dlbench.track.canary import bisections, is_broken, report
from typed import cell_of, doc
from wheels import BODY, plant

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[3]
ADAPTERS = ["--adapters", "adapters"]


def canary(*words: str) -> int:
    return cli.main(["canary", "native", "planted", "--protocols", "dlpack", *ADAPTERS, *words])


@pytest.mark.timeout(400)
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

    # An interrupted canary is continued, if the command names the program in its folder.
    journal = tmp_path / "bad/journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    cells = [index for index, line in enumerate(lines) if '"name":' in line]
    journal.write_text("".join(lines[: cells[-1]]))
    resume = ["canary", "--resume", "bad", *ADAPTERS]
    assert cli.main(resume) == 2
    assert "must name the interpreters" in capsys.readouterr().err
    (newest,) = (tmp_path / "bad").glob("newest-*/bin/python")
    assert cli.main([*resume, "--env", f"newest={newest}", "--pre"]) == 1
    assert [line for line in capsys.readouterr().out.splitlines() if "ns" not in line] == [
        line for line in shown.splitlines() if "ns" not in line
    ]

    (tmp_path / "run").mkdir()
    assert cli.main([*shlex.split(command)[1:], "--out", "run"]) == 0
    assert "first changed version: 1.2rc1, after 1.1" in capsys.readouterr().out


def test_a_count_that_is_lost_is_listed_and_breaks_nothing(tmp_path: Path) -> None:
    def status(**newest: object) -> tuple[bool, str]:
        items = []
        for name, consumer in itertools.product(("good", "newest"), ("torch", "jax")):
            more = newest if (name, consumer) == ("newest", "torch") else {}
            place = synthetic.axes("numpy", consumer, "dlpack", "cpu", 4096, "call")
            cell = {"environment": name, "name": f"{place['name']}/environment:{name}"}
            item = synthetic.measured(place | cell)
            item |= {"outcome": "zero-copy", "instructions": 900.0, **more}
            items.append({key: value for key, value in item.items() if value is not None})
        made = synthetic.document(["native"])
        context = made["context"]["dlbench"]
        (place_facts,) = context["environments"].values()
        context["environments"] = {"good": place_facts, "newest": place_facts}
        made |= {"benchmarks": items, "not_measured": []}
        path = str(tmp_path / "results.json")
        Path(path).write_text(json.dumps(made))
        comparison = Comparison(
            _core.compare(
                base=[path], head=[path], base_environment="good", head_environment="newest",
                threshold=0.02, instructions=True,
            )
        )  # fmt: skip
        shown = report(doc(made), comparison, {"adapters": None, "pre": False, "with": None})
        heads = re.findall(r"^\|(.*)\|\n\| *:?--", shown, re.M)
        labels = re.findall(r"^([A-Z][\w ]*):", shown, re.M)
        words = [word.strip() for head in heads for word in head.split("|")]
        assert words
        assert terms.unknown([*words, *labels]) == []
        return any(map(is_broken, comparison.cells)), shown

    found, shown = status(instructions=None)
    assert not found
    assert shown.startswith("# No exchange broke")
    assert "counted only in good, so not compared: numpy -> torch dlpack" in shown
    assert status(instructions=1800.0)[0]
    found, shown = status(instructions=900.0)
    assert (found, "not compared" in shown) == (False, False)


def test_the_commands_of_bisect_can_be_typed() -> None:
    place = synthetic.axes("torch", "jax", "dlpack", "cpu", 4096, "call")
    moved = dict.fromkeys(("torch", "jax"), ("2.12.0+cpu", "2.13.0+cpu"))
    params = {"adapters": "mine", "pre": True, "with": ["numpy==2.2.6", "pandas"]}
    found = [shlex.split(line)[1:] for line in bisections([cell_of(place)], moved, params)]
    more = ["--adapters", "mine", "--pre", "--with", "numpy==2.2.6,pandas"]
    cell = ["torch", "jax", "dlpack", "f32", "4096"]
    assert found == [
        ["bisect", name, "2.12.0", "2.13.0", *cell, *more] for name in ("jax", "torch")
    ]
    same = {"torch": ("2.12.0", "2.12.0+cpu")}
    assert not bisections([cell_of(place)], same, params)


def test_bad_use_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(tmp_path, monkeypatch, {"1.0": BODY["1.0"]})
    for words, message in (
        ([], "planted is not installed here: name a run with it"),
        (["--base", "none"], "none"),
        (["--with", "=="], "is not a package"),
        (["--env", "newest=python"], "--env is for --resume"),
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
