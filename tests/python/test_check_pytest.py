"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

OWN = """\
import numpy as np
import pytest

from dlbench.check.pytest_plugin import library


@pytest.fixture
def dlbench_library():
    return library(make=lambda case, device: case.numpy(), dlpack=np.from_dlpack)


def test_protocols(dlbench_rule):
    dlbench_rule()
"""
ADAPTER = """\
import numpy as np

PROTOCOLS = {"dlpack": np.from_dlpack}


def make(case, device):
    return case.numpy()
"""
LINK = "https://example.org/known"


def run(folder: Path, *words: str, ini: str = "") -> tuple[int, str]:
    (folder / "pytest.ini").write_text(f"[pytest]\nfilterwarnings = error\n{ini}")
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider"]
    # Where dlbench is installed pytest has found it already.
    if "dlbench" not in {point.name for point in entry_points(group="pytest11")}:
        command += ["-p", "dlbench.check.pytest_plugin"]
    command += words
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def known(*rules: str) -> str:
    return "dlbench_known =\n" + "".join(f"    {rule} {LINK}\n" for rule in rules)


def test_own_functions_are_held_one_test_a_rule(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN)
    status, said = run(tmp_path)
    assert status == 1
    assert "FAILED test_own.py::test_protocols[buffer.contiguous]" in said
    assert "PASSED test_own.py::test_protocols[import.deleter-once]" in said
    assert "2 failed" in said
    # Without a file there is nothing to start a worker with.
    assert "may crash: name an adapter file" in said


def test_known_deviations_must_fail(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN)
    listed = ("buffer.contiguous", "buffer.read-only")
    status, said = run(tmp_path, ini=known(*listed))
    assert status == 0
    assert "2 xfailed" in said
    assert LINK in said
    status, said = run(tmp_path, ini=known(*listed, "buffer.length"))
    assert status == 1
    assert "[XPASS(strict)]" in said


def test_a_file_of_ones_own_is_held_in_workers_too(tmp_path: Path) -> None:
    (tmp_path / "mylib.py").write_text(ADAPTER)
    status, said = run(
        tmp_path,
        ini="dlbench_adapter = mylib.py\n" + known("buffer.contiguous", "buffer.read-only"),
    )
    assert status == 0, said
    assert "PASSED ::dlbench[mylib-import.reversed]" in said
    assert "2 xfailed" in said


def test_a_library_by_name_shows_a_script(tmp_path: Path) -> None:
    status, said = run(tmp_path, "--dlbench-library=numpy", "-k", "buffer")
    assert status == 1
    assert "source = np.ndarray((64,), 'float32', raw" in said
    assert "assert given in [source.tobytes(order) for order in orders]" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "ini", "told"),
    [
        (("--dlbench-library=nunpy",), "", "did you mean 'numpy'"),
        (("--dlbench-library=numpy",), "dlbench_known = no.rule https://x.org", "no.rule"),
        ((), "dlbench_adapter = none.py", "none.py"),
    ],
)
def test_bad_use_is_told_in_a_line(
    tmp_path: Path, words: tuple[str, ...], ini: str, told: str
) -> None:
    status, said = run(tmp_path, *words, ini=ini)
    assert status == 4
    assert told in said
    assert "Traceback" not in said
