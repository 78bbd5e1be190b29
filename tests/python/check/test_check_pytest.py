"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import junitparser
import pytest

from dlbench.check.rules import RULES

pytestmark = pytest.mark.process

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
    command += ["-p", "dlbench.check.pytest_plugin", *words]
    # Of the plugins that are installed it loads none.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def known(*rules: str) -> str:
    return "dlbench_known =\n" + "".join(f"    {rule} {LINK}\n" for rule in rules)


def test_a_file_of_ones_own_is_checked_and_known_deviations_must_fail(tmp_path: Path) -> None:
    (tmp_path / "mylib.py").write_text(ADAPTER)
    ini = "dlbench_adapter = mylib.py\n"
    listed = ("buffer.contiguous", "buffer.read-only")
    status, message = run(tmp_path, ini=ini)
    assert status == 1
    assert "FAILED mylib.py::buffer.contiguous" in message
    assert "PASSED mylib.py::import.reversed" in message  # in a worker
    assert "2 failed" in message
    status, message = run(tmp_path, ini=ini + known(*listed))
    assert status == 0, message
    assert "2 xfailed" in message
    assert LINK in message
    status, message = run(tmp_path, ini=ini + known(*listed, "buffer.length"))
    assert status == 1
    assert "[XPASS(strict)]" in message


def test_a_broken_rule_shows_a_script(tmp_path: Path) -> None:
    (tmp_path / "mylib.py").write_text(ADAPTER)
    status, message = run(tmp_path, "-k", "buffer", ini="dlbench_adapter = mylib.py\n")
    assert status == 1
    assert "assert given in [source.tobytes(order) for order in orders]" in message
    assert "Traceback" not in message


INI = "dlbench_adapter = mylib.py\n" + known("buffer.contiguous", "buffer.read-only")
ONE = "def test_one():\n    pass\n\n\ndef test_two():\n    pass\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An adapter outside of the folder of tests."""
    (tmp_path / "mylib.py").write_text(ADAPTER)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text(ONE)
    return tmp_path


def test_a_selected_test_runs_alone(project: Path) -> None:
    status, message = run(project, "tests/test_x.py::test_one", ini=INI)
    assert status == 0, message
    assert "1 passed in" in message
    status, message = run(project, "tests", ini=INI)
    assert status == 0, message
    assert "2 passed in" in message


def test_without_a_selection_all_rules_run_whatever_testpaths_are(project: Path) -> None:
    counted = []
    for ini in (INI, INI + "testpaths = tests\n"):
        status, message = run(project, "--collect-only", "-q", ini=ini)
        assert status == 0, message
        assert "tests/test_x.py::test_two" in message
        counted.append(sum(line.startswith("mylib.py::") for line in message.splitlines()))
    assert counted == [len(RULES.by_name)] * 2


@pytest.mark.parametrize(
    "words",
    [("mylib.py::buffer.values",), ("-k", "buffer.values and not import"),
     ("mylib.py", "-k", "dlbench and buffer.values and not import")],
)  # fmt: skip
def test_a_rule_of_the_adapter_is_selected_by_its_id(project: Path, words: tuple[str, ...]) -> None:
    status, message = run(project, *words, ini=INI)
    assert status == 0, message
    assert "PASSED mylib.py::buffer.values" in message
    assert "1 passed" in message
    assert "skipped" not in message


def test_an_adapter_that_is_a_file_of_tests_is_both(tmp_path: Path) -> None:
    (tmp_path / "test_mylib.py").write_text(f"{ADAPTER}\n\n{ONE}")
    ini = "dlbench_adapter = test_mylib.py\n"
    status, message = run(tmp_path, "-k", "buffer.values or test_one", ini=ini)
    assert status == 0, message
    assert "PASSED test_mylib.py::buffer.values" in message
    assert "PASSED test_mylib.py::test_one" in message


def test_names_in_junit_are_full(project: Path) -> None:
    words = ("-k", "buffer.contiguous", "--junitxml=made.xml")
    status, message = run(project, *words, ini="dlbench_adapter = mylib.py\n")
    assert status == 1, message
    read: Any = junitparser.JUnitXml.fromfile(str(project / "made.xml"))
    cases = {(case.classname, case.name): case for suite in read for case in suite}
    (failure,) = cases["mylib", "buffer.contiguous"].result
    assert "PEP 3118" in failure.text


@pytest.mark.parametrize(
    ("words", "ini", "reported"),
    [
        ((), INI + "    no.rule https://x.org\n", "no.rule"),
        ((), "dlbench_adapter = none.py", "none.py"),
        (("mylib.py::no.rule",), INI, "not found: "),
    ],
)
def test_bad_use_is_reported_in_a_line(
    project: Path, words: tuple[str, ...], ini: str, reported: str
) -> None:
    status, message = run(project, *words, ini=ini)
    assert status == 4
    assert reported in message
    assert "Traceback" not in message
