"""Other interpreters: the queries to them, and the outcomes of unfit ones."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import other_pythons
from dlbench import _core, worker_main
from dlbench.environments import env_option, probe
from dlbench.environments.environment import here
from dlbench.errors import BadInput
from dlbench.libraries import discover

pytestmark = pytest.mark.process

LIMIT_S = 20.0


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with a package `shiny` 1.0 and ours."""
    folder = tmp_path_factory.mktemp("other")
    other_pythons.make(folder, shiny="1.0")
    return folder


def unfit(name: str, python: str) -> str:
    """The reason why no worker can run in this environment, which alone ends the program."""
    found = probe.probe(name, python, LIMIT_S)
    assert found.failure is not None
    assert found.failure.outcome == "import-failed"
    assert fails(name, python) == f"environment {name!r}: {found.failure.reason}"
    return found.failure.reason


def fails(name: str, python: str) -> str:
    with pytest.raises(BadInput) as error:
        probe.find([f"{name}={python}"], LIMIT_S)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_our_own_comes_first_and_is_not_requested() -> None:
    (own,) = probe.find([], LIMIT_S)
    assert own is here()
    assert own.is_default
    assert own.python == sys.executable
    assert own.installed_version(["no-such", "numpy"]) == np.__version__
    assert own.is_built("_worker")
    assert not own.is_built("_no_such_module")


def test_an_interpreter_tells_what_is_installed_for_it(other: Path) -> None:
    own, found = probe.find([f"old={other}"], LIMIT_S)
    assert found.failure is None
    assert (found.name, found.python) == ("old", f"{other}/bin/python")
    assert found.version == own.version
    assert found.installed_version(["Shiny"]) == "1.0"
    assert own.installed_version(["shiny"]) is None
    assert found.installed_version(["numpy"]) == np.__version__
    assert found.is_built("_worker")
    assert found.callgrind_requests == own.callgrind_requests


def test_its_libraries_are_its_own(other: Path, tmp_path: Path) -> None:
    for role, text in (("producer", "def make(case, device): ..."), ("consumer", "PROTOCOLS = {}")):
        (tmp_path / f"{role}s").mkdir()
        (tmp_path / f"{role}s" / "shiny.py").write_text(text)
    places = probe.find([f"old={other}"], LIMIT_S)
    ours, theirs = (
        {
            one.name: one
            for one in discover.libraries(discover.catalogue(tmp_path, environment=place))
        }
        for place in places
    )
    assert (theirs["shiny"].environment, theirs["shiny"].version) == ("old", "1.0")
    assert theirs["shiny"].installed
    assert not ours["shiny"].installed
    assert ours["shiny"].why_not == "pip install shiny"
    assert theirs["native"].installed
    absent = next(one for one in theirs.values() if not one.installed and one.absence)
    assert absent.why_not.startswith(f"{other}/bin/python -m pip install ")


def test_its_packages_offer_adapters(tmp_path: Path) -> None:
    python = other_pythons.make(tmp_path / "env")
    packages = other_pythons.site_packages(tmp_path / "env")
    points = "[dlbench.producers]\nthird = third_adapter\nbroken = no_such_adapter\n"
    other_pythons.install(tmp_path / "env", "third", "3.0", points)
    adapter = packages / "third_adapter.py"
    adapter.write_text("raise SystemExit('imported')\ndef make(case, device): ...\n")
    _, place = probe.find([f"more={python}"], LIMIT_S)
    found = discover.catalogue(environment=place)
    assert found.files["third"]["producer"].path == adapter
    (warning,) = found.warnings
    assert "broken of package third in more left out" in warning
    assert "third" not in discover.catalogue().files


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not NAME=PYTHON"),
        ("old", "not NAME=PYTHON"),
        ("old=", "not NAME=PYTHON"),
        ("=/bin/python", "not NAME=PYTHON"),
        ("a/b=python", "cannot be an environment's name"),
        ("a:b=python", "cannot be an environment's name"),
        ("-a=python", "cannot be an environment's name"),
        ("default=python", "dlbench itself runs in"),
        ("dlpack=python", "is a protocol"),
        ("f32=python", "is a case"),
        ("export=python", "is a phase"),
        ("ready=python", "is a clock"),
        ("cpu=python", "is a device"),
        ("4096=python", "'4096' is a size; choose another name, such as '4096-env'"),
        ("2.0KiB=python", "is a size"),
        ("old=/no/such/python", "no such file"),
        ("old=no-such-command-anywhere", "no such file"),
    ],
)
def test_an_unfit_word_is_named(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        env_option.read([text])


@pytest.mark.parametrize("name", ["2.0", "1.26", "2.4.6", "v2"])
def test_a_version_is_a_name(name: str) -> None:
    assert env_option.read([f"{name}={sys.executable}"]) == {name: sys.executable}


def test_a_name_stands_for_one_environment() -> None:
    with pytest.raises(BadInput, match="two environments have the name 'old'"):
        env_option.read([f"old={sys.executable}", f"old={sys.executable}"])


def test_an_interpreter_is_a_file_a_command_or_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/env/bin")
    expected = f"{tmp_path}/env/bin/python"
    for python in ("env/bin/python", "env", "python", expected):
        assert env_option.read([f"old={python}"]) == {"old": expected}
    (tmp_path / "text").write_text("no program")
    with pytest.raises(BadInput, match="text: not executable"):
        env_option.read(["old=./text"])
    with pytest.raises(BadInput, match="a folder without bin/python"):
        env_option.read([f"old={tmp_path}"])


def test_no_python_is_reported_by_what_it_says(tmp_path: Path) -> None:
    silent = other_pythons.script(tmp_path / "a", "")
    assert "is not a Python interpreter; its output: nothing" in fails("x", silent)
    grumble = other_pythons.script(tmp_path / "b", "echo 'bad option -c' >&2", "exit 3")
    assert "is not a Python interpreter; its output: 'bad option -c'" in fails("x", grumble)
    garbage = tmp_path / "c"
    garbage.write_bytes(b"\x7fELF garbage")
    garbage.chmod(0o755)
    assert "Exec format error" in fails("x", str(garbage))


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("2.7.18 cpython", "Python 2.7.18"),
        ("3.9.2 cpython", "Python 3.9.2"),
        ("3.10.14 pypy", "pypy 3.10.14"),
    ],
)
def test_a_python_that_no_worker_runs_on(tmp_path: Path, version: str, message: str) -> None:
    reason = unfit("old", other_pythons.answering(tmp_path / "python", version))
    assert reason == f"{message}; allowed: CPython 3.10 and newer"


def test_the_question_is_one_that_old_pythons_understand() -> None:
    for old in sorted(Path("~/.pyenv/versions").expanduser().glob("[23].[0-9]*/bin/python")):
        done = subprocess.run(
            [old, "-c", probe.BOOT, old, "-c", ""], capture_output=True, text=True
        )
        assert done.returncode == 0, (old, done.stderr)
        assert done.stdout.startswith(f"dlbench-python {old.parts[-3]} cpython")


def test_an_environment_needs_numpy(tmp_path: Path) -> None:
    python = other_pythons.answering(tmp_path / "python", numpy=False, worker=False)
    assert (
        unfit("x", python) == f"no NumPy, which every worker needs: {python} -m pip install numpy"
    )


def test_a_worker_that_was_not_built_is_reported_how_to(tmp_path: Path) -> None:
    python = other_pythons.answering(tmp_path / "python", worker=False)
    message = unfit("x", python)
    assert message.startswith("no _worker.cpython-314-x86_64-linux-gnu.so for Python 3.14.0; ")
    assert message.endswith(f"in dlbench's sources: ./build-worker {python}")
    broken = other_pythons.answering(tmp_path / "broken", fault="undefined symbol: x")
    assert "undefined symbol: x; again in dlbench's sources" in unfit("x", broken)


def test_a_worker_of_other_sources_is_refused(tmp_path: Path) -> None:
    python = other_pythons.answering(tmp_path / "python", build="0.0.1+feedbeef")
    message = unfit("x", python)
    assert f"is of build 0.0.1+feedbeef, this is {_core.build_id}" in message
    assert "./build-worker" in message


@pytest.mark.parametrize(
    "fact",
    [
        {"versions": {"numpy": 2}}, {"versions": {"x": {}}},
        {"versions": []}, {"suffixes": [1]}, {"suffixes": []}, {"folders": [None]}, {"gil": "yes"},
        {"points": [{"role": "producer", "name": 1, "owner": "x", "path": "y"}]}, {"points": [1]},
        {"fault": {}}, {"numpy": 1},
    ],
    ids=str,
)  # fmt: skip
def test_facts_of_another_kind_are_no_facts(tmp_path: Path, fact: dict[str, Any]) -> None:
    python = other_pythons.answering(tmp_path / "python", **fact)
    _, found = probe.find([f"bad={python}"], LIMIT_S)
    assert found.failure is not None
    assert "while it listed its packages:  " in found.failure.reason


def test_a_greeting_of_another_kind_is_of_no_build(tmp_path: Path) -> None:
    python = other_pythons.answering(tmp_path / "python")
    text = Path(python).read_text()
    Path(python).write_text(re.sub(r"\{.hello.*\}", '{"hello":[1]}', text))
    assert "is of build None" in unfit("x", python)


@pytest.mark.parametrize(
    ("lines", "outcome", "reason"),
    [
        (["sleep 60"], "timed-out", "did not answer within 0.5 s"),
        (["kill -SEGV $$"], "crashed", "ended by SIGSEGV"),
        (["echo 'dlbench-python 3.14.0 cpython'", "sleep 60 & sleep 60"], "timed-out", "within"),
        (["echo 'dlbench-python 3.14.0 cpython'", "echo lost >&2; exit 4"], "crashed", "4: lost"),
    ],
)
def test_one_that_hangs_or_crashes_is_there_with_its_reason(
    tmp_path: Path, lines: list[str], outcome: str, reason: str
) -> None:
    python = other_pythons.script(tmp_path / "python", *lines)
    _, found = probe.find([f"bad={python}"], 0.5)
    assert found.failure is not None
    assert found.failure.outcome == outcome
    assert reason in found.failure.reason
    assert found.to_json()["failure"].startswith(f"{outcome}: ")
    for library in discover.libraries(discover.catalogue(environment=found)):
        assert (library.installed, library.absence) == (False, outcome)


def test_modules_for_another_python_may_lie_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, installed = tmp_path / "ours", tmp_path / "site" / "dlbench"
    for folder in (package, installed):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    monkeypatch.setattr(worker_main, "FOLDER", package)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.setenv("DLBENCH_WORKERS", f"{tmp_path}/built")
    assert worker_main.search_folders() == [str(package), f"{tmp_path}/built", str(installed)]
    monkeypatch.delenv("DLBENCH_WORKERS")
    assert worker_main.search_folders() == [str(package), str(installed)]
    # One that lies beside ours is the right one: nothing else is asked.
    (package / f"_worker{here().suffixes[0]}").touch()
    assert worker_main.search_folders() == [str(package)]


def test_a_worker_is_found_where_the_variable_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if ours were built for another Python: a package without the extension modules."""
    other = other_pythons.make_apart(tmp_path / "apart")
    package, built = tmp_path / "dlbench", tmp_path / "built"
    built.mkdir()
    own = Path(worker_main.__file__).parent
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(own, package, ignore=ignored, symlinks=False)
    monkeypatch.setattr(probe, "WORKER", package / "worker_main.py")
    monkeypatch.setenv("PYTHONPATH", "")
    assert "no _worker" in fails("old", other)
    for module in own.glob("*.so"):
        (built / module.name).symlink_to(module.resolve())
    monkeypatch.setenv("DLBENCH_WORKERS", str(built))
    _, found = probe.find([f"old={other}"], LIMIT_S)
    assert found.folders == (package, built)
    assert found.is_built("_worker")
    assert found.is_built("_native_producer")
