"""Real wheels, built here: the same bytes twice, and one for another processor. Takes minutes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.index]

ROOT = Path(__file__).resolve().parents[2]
#: What pip, CMake and apt-get print where nothing answers.
NO_NETWORK = re.compile(
    "Failed to establish a new connection|Temporary failure (in name resolution|resolving)|"
    "Could not resolve host(name)?|No matching distribution found|status_code: [67]\\b|"
    "Unable to fetch"
)


def run(script: str, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Skips where the sources of Google Benchmark, or a package, cannot be had."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [ROOT / "packaging" / script, *words],
        env=os.environ | {"PATH": path} | variables,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    absent = NO_NETWORK.search(done.stderr + done.stdout)
    if done.returncode != 0 and absent:
        pytest.skip(f"no network (BENCHMARK_SOURCE may name a folder): {absent[0]}")
    return done


def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    done = run("build_wheels", tmp_path, sys.executable, TWICE="yes", CCACHE_DISABLE="1")
    assert done.returncode == 0, done.stderr
    sums = re.findall(r"^([0-9a-f]{64})  \./(\S+)$", done.stderr, re.MULTILINE)
    assert len(sums) == 2
    assert sums[0] == sums[1]


def test_a_wheel_for_aarch64_measures_in_an_emulator(tmp_path: Path) -> None:
    done = run("cross_wheel", tmp_path / "dist")
    missing = re.search("cross_wheel: there is no (.*)", done.stderr)
    if missing:
        pytest.skip(missing[0])
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").iterdir()
    assert re.search(r"-manylinux_2_\d+_aarch64\.whl$", wheel.name)
    assert "cross_wheel: passed" in done.stderr
