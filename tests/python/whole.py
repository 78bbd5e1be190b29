"""Whole runs of the installed command, with planted adapters, and their files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dlbench import _core

GOOD_MAKE = "DISTRIBUTION = None\ndef make(case, device):\n    return case.numpy()\n"
GOOD_TAKE = 'DISTRIBUTION = None\nimport numpy as np\nPROTOCOLS = {"dlpack": np.from_dlpack}\n'
LIMIT_S = 180
#: Options of a run in a test that does not look at times: one worker for each cell.
QUICK = ("--replicas", "1", "--no-plots")


def plant(folder: Path, name: str, make: str = GOOD_MAKE, take: str = GOOD_TAKE) -> None:
    """A library of that name in both roles."""
    for role, text in (("producers", make), ("consumers", take)):
        (folder / role).mkdir(parents=True, exist_ok=True)
        (folder / role / f"{name}.py").write_text(text)


def command(*words: str) -> list[str]:
    """The command as the shell would find it."""
    return [sys.executable, "-m", "dlbench", *words]


def start(
    folder: Path, *words: str, environment: Mapping[str, str] = os.environ, **more: Any
) -> subprocess.Popen[str]:
    """A run in a folder and a session of its own, its words marking its processes."""
    environment = {**environment, "DLBENCH_TEST_MARK": str(folder), "NO_COLOR": "1"}
    return subprocess.Popen(
        command(*words),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **more,
    )


def run(folder: Path, *words: str, **more: Any) -> tuple[int, str, str]:
    """Status, stdout and stderr of a run that must end by itself. The lines about a noisy machine
    are left out of stderr: tests run beside other tests."""
    process = start(folder, *words, **more)
    out, err = process.communicate(timeout=LIMIT_S)
    noise = ("machine: other processes", "dlbench: the machine is busy")
    lines = [line for line in err.splitlines(keepends=True) if not line.startswith(noise)]
    return process.returncode, out, "".join(lines)


def measure(
    folder: Path, *words: str, environment: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """The document, once checked, of a run with one worker and the fewest rounds for each cell:
    enough for what is not a number."""
    few = ("--matrix", "--precision", "99%", "--quiet", *QUICK)
    words = (*few, *words, "--out", "run")
    status, out, err = run(folder, *words, environment=environment)
    _core.validate_document(str(folder / "run" / "results.json"))
    loaded = document(folder)
    assert status == status_of(loaded), out + err
    # Without a result that decides the status nothing is said of it.
    assert status != 0 or err == "", err
    return loaded


def left_alive(folder: Path) -> list[str]:
    """Command lines of the processes that a run in this folder started and left."""
    mark = f"DLBENCH_TEST_MARK={folder}".encode()
    deadline = time.monotonic() + 5  # a killed process takes a moment to go
    while True:
        alive = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    alive.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        if not alive or time.monotonic() > deadline:
            return alive
        time.sleep(0.05)


def document(folder: Path, name: str = "run") -> dict[str, Any]:
    """The results document of a run."""
    loaded: dict[str, Any] = json.loads((folder / name / "results.json").read_text())
    return loaded


def status_of(loaded: dict[str, Any]) -> int:
    """The exit status of the run that left this document: 2 where nothing was measured."""
    return 0 if loaded["benchmarks"] else 2


def entries(loaded: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every cell by name, measured or not."""
    return {e["name"]: e for e in (*loaded["benchmarks"], *loaded["not_measured"])}
