"""The pages of the docs about CI and exports: each dlbench command of it runs.

The commands that measure are too long for a test; they are run over one pair at one size.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
TEXT = "".join(
    (ROOT / f"docs/how-to/{page}.md").read_text(encoding="utf-8")
    for page in ("gate-a-pull-request", "export-results")
)
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
YAML = [yaml.safe_load(text) for kind, text in BLOCKS if kind == "yaml"]
GITHUB, ACTION_USED, GITLAB = YAML
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SMALL = "native numpy --replicas 2 --sizes 4KiB --budget 10s"
#: Commands of the docs that measure the whole matrix of a machine.
LONG = {"dlbench --matrix --budget 120s --out head": f"dlbench {SMALL} --out again"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `dlbench` on its PATH, and the runs `base` and `head` in it."""
    folder = tmp_path_factory.mktemp("ci")
    (folder / "bin").mkdir()
    for name, words in (("dlbench", "-m dlbench "), ("python", "")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
        script.chmod(0o755)
    shell(folder, f"dlbench {SMALL} --out base && dlbench {SMALL} --out head")
    commit = "git -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m test"
    shell(folder, f"git init -q && {commit}")
    return folder


def shell(folder: Path, script: str, **env: str) -> subprocess.CompletedProcess[str]:
    """As a runner does it: bash that stops at the first failure. Noise may end in status 1, 3 or 4
    of a gate, and in nothing else."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    pythonpath = os.pathsep.join(map(str, filter(None, sys.path)))
    everything = {**os.environ, "PATH": path, "PYTHONPATH": pythonpath, "WHAT": SMALL, **env}
    everything["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=everything,
                          capture_output=True, text=True, check=False)  # fmt: skip
    message = {1: "a regression", 3: "inconclusive", 4: "too noisy"}.get(done.returncode)
    gate = " compare " in script and message is not None and message in done.stderr
    assert done.returncode == 0 or gate, script + done.stdout + done.stderr
    return done


def commands() -> Iterator[str]:
    """Every line of the docs that starts dlbench, as code or in a step."""
    for inline in re.findall(r"`(dlbench [^`]+)`", TEXT):
        if len(inline.split()) > 2:  # a verb's name alone is no command
            yield inline
    scripts = [text for kind, text in BLOCKS if kind == "sh"]
    scripts += [step.get("run", "") for step in GITHUB["jobs"]["dlbench"]["steps"]]
    scripts += GITLAB["array exchange"]["script"]
    for script in scripts:
        for line in script.splitlines():
            found = re.search(r"(?:^|\s)(dlbench .*)$", line)
            yield from [found[1].strip()] if found and not line.startswith("#") else []


COMMANDS = sorted(set(commands()))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_docs_runs(command: str, place: Path) -> None:
    for leftover in ("report.html", "again"):
        subprocess.run(["rm", "-rf", str(place / leftover)], check=True)
    line = LONG.get(command, command)
    line = re.sub(r"\$WHAT --out \w+", "$WHAT --out again", line)
    if "--count instructions" in line:
        pytest.skip("counts need runs with --count: tests/python/dlbench/test_counting.py")
    shell(place, line)
    for target in re.findall(r"(?:--output|>>|--out) \"?([^\s\"]+)", line):
        made = place / ("summary.md" if "SUMMARY" in target else target)
        assert made.exists(), line


def scripts(steps: list[dict[str, Any]]) -> Iterator[str]:
    return (step["run"] for step in steps if "run" in step)


def value(text: Any, inputs: dict[str, str]) -> str:
    """An expression of a composite action, as far as ours go."""
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], str(text))


@pytest.mark.parametrize("with_base", [True, False])
def test_the_action_runs(with_base: bool, place: Path) -> None:
    """All of its steps but the installation and the upload."""
    inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
    inputs["arguments"] = f"{SMALL} --filter .*native.*"
    (place / ".native.txt").touch()  # as a shell's pattern, the filter names this file
    inputs["base-python"] = "python" if with_base else ""
    for leftover in ("dlbench-base", "dlbench-head", "dlbench-report.html", "summary.md"):
        subprocess.run(["rm", "-rf", str(place / leftover)], check=True)
    ran = []
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or step["name"] == "Install dlbench":
            continue
        if "if" in step:
            assert step["if"] == "inputs.base-python != ''"
            if not with_base:
                continue
        env = {name: value(text, inputs) for name, text in step["env"].items()}
        shell(place, step["run"], **env)
        ran.append(step["name"])
    assert ran == ["Measure", "Summary and report", "Gate"][: 3 if with_base else 2]
    assert (place / "dlbench-report.html").read_text().startswith("<!doctype html>")
    summary = (place / "summary.md").read_text()
    assert ("### What changed" in summary) == with_base


MYLIB = """import numpy as np

class Array:
    def __init__(self, data):
        self.data = data
    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)
    def __dlpack_device__(self):
        return self.data.__dlpack_device__()

def from_dlpack(x):
    return Array(np.from_dlpack(x))
"""
COPYING = MYLIB.replace("np.from_dlpack(x)", "np.from_dlpack(x).copy()")
PRODUCER = """import mylib
DISTRIBUTION = None
def make(case, device):
    return mylib.Array(case.numpy())
def address(array):
    return array.data.ctypes.data
"""
CONSUMER = """import mylib
DISTRIBUTION = None
PROTOCOLS = {"dlpack": mylib.from_dlpack}
"""


def gated(kind: str) -> tuple[list[str], dict[str, str]]:
    """The steps of one kind of job after the installation, and its environment."""
    if kind == "workflow":
        job = GITHUB["jobs"]["dlbench"]
        return [*scripts(job["steps"])][1:], job["env"]
    if kind == "gitlab":
        job = GITLAB["array exchange"]
        return ["\n".join(job["script"])], job["variables"]
    inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
    inputs |= ACTION_USED[0]["with"]
    steps = [step for step in ACTION["runs"]["steps"] if "run" in step][1:]
    env = {name: value(text, inputs) for step in steps for name, text in step["env"].items()}
    return [*scripts(steps)], env


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        pytest.param("workflow", COPYING, id="workflow"),
        pytest.param("gitlab", COPYING, id="gitlab", marks=pytest.mark.thorough),
        pytest.param("action", COPYING, id="action", marks=pytest.mark.thorough),
        pytest.param("workflow", MYLIB, id="honest"),
    ],
)
def test_a_gate_judges_a_library_that_dlbench_does_not_know(
    kind: str, head: str, tmp_path: Path
) -> None:
    """The steps as they are printed, with fewer processes, over two checkouts of a small library.
    The environments that a job installs are stand-ins that import a checkout."""
    for side, source in (("base", MYLIB), ("head", head)):
        (tmp_path / f"{side}-source").mkdir()
        (tmp_path / f"{side}-source/mylib.py").write_text(source)
        (tmp_path / f"{side}-env/bin").mkdir(parents=True)
        for name, words in (("dlbench", "-m dlbench "), ("python", "")):
            script = tmp_path / f"{side}-env/bin/{name}"
            path = f'PYTHONPATH="{tmp_path}/{side}-source:$PYTHONPATH"'
            script.write_text(f'#!/bin/sh\n{path} exec "{sys.executable}" {words}"$@"\n')
            script.chmod(0o755)
    for role, text in (("producers", PRODUCER), ("consumers", CONSUMER)):
        (tmp_path / "head-source/adapters" / role).mkdir(parents=True)
        (tmp_path / "head-source/adapters" / role / "mylib.py").write_text(text)
    # GitLab checks out head in the job's own folder.
    (tmp_path / "adapters").symlink_to("head-source/adapters")
    steps, env = gated(kind)
    few = {name: re.sub(r"--budget 120s", "--replicas 2 --sizes 64KiB", str(text))
           for name, text in env.items()}  # fmt: skip
    assert few != env
    *before, gate = [shell(tmp_path, step, **few) for step in steps]
    assert all(done.returncode == 0 for done in before)
    copies = "1 outcome" in gate.stderr
    assert copies == (head == COPYING), gate.stdout + gate.stderr
    assert gate.returncode == 1 or not copies
    if copies and kind != "gitlab":
        summary = (tmp_path / "summary.md").read_text()
        assert summary.startswith("### What changed: 1 worse")
        assert "| worse | numpy -> mylib dlpack 64 KiB | zero-copy -> copy |" in summary
