"""The modules that starting dlbench loads. `benchmarks/startup.py` measures the time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dlbench
from dlbench import _core

pytestmark = pytest.mark.process

HEAVY = {"numpy", "matplotlib", "rich", "click", "ctypes", "importlib.metadata"}


def modules(script: str) -> set[str]:
    """The modules in a process after this script."""
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\nimport sys; print(*sys.modules, file=sys.stderr)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stderr.split())


def loaded_by(script: str) -> set[str]:
    """Those of HEAVY and of the core that the script loads; an environment may load some itself."""
    return (modules(script) - modules("pass")) & (HEAVY | {"dlbench._core"})


def test_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import dlbench") == set()


def test_the_commands_load_no_arrays_and_no_figures() -> None:
    assert loaded_by("import dlbench.cli") & {"numpy", "matplotlib"} == set()


def test_the_pytest_plugin_loads_nothing_but_pytest() -> None:
    more = modules("import pytest, dlbench.check.pytest_plugin") - modules("import pytest")
    assert more <= {
        "dlbench",
        "dlbench.check",
        "dlbench.check.pytest_plugin",
    }


@pytest.mark.parametrize("name", ["Call", "Capsule", "Unsupported", "X"])
def test_what_adapters_import_is_loaded_when_it_is_used(name: str) -> None:
    assert "dlbench.adapter" not in modules("import dlbench")
    assert "dlbench.adapter" in modules(f"from dlbench import {name}")
    with pytest.raises(AttributeError, match="has no attribute 'Cal'"):
        dlbench.Cal  # noqa: B018


def test_the_version_loads_the_core_alone() -> None:
    script = "import sys; sys.argv[1:] = ['--version']; import dlbench.__main__ as m; m.main()"
    assert loaded_by(script) == {"dlbench._core"}


@pytest.mark.parametrize(
    "words", [["-m", "dlbench"], [str(Path(sys.executable).parent / "dlbench")]]
)
def test_the_version_is_printed(words: list[str]) -> None:
    if not words[0].startswith("-") and not Path(words[0]).exists():
        pytest.skip("dlbench is installed elsewhere")
    command = [sys.executable, *words] if words[0] == "-m" else words
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"dlbench {_core.version}\n", "")


def test_a_version_that_cannot_be_written_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dlbench", "--version"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "cannot write to standard output" in done.stderr
