"""Runs over several environments: one journal, one document, and its presentation."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import other_pythons
from whole import QUICK, document, entries, left_alive, plant, run

pytestmark = pytest.mark.process

SCHEMA = Path(__file__).parents[3] / "results/schema.json"
MAKE = "DISTRIBUTION = 'shiny'\ndef make(case, device):\n    return case.numpy()\n"
TAKE = "DISTRIBUTION = 'shiny'\nimport numpy as np\nPROTOCOLS = {'dlpack': np.from_dlpack}\n"
#: What a version changes: in `new` the import copies.
TAKE_NEW = (
    "DISTRIBUTION = 'shiny'\nimport importlib.metadata\nimport numpy as np\n"
    "new = importlib.metadata.version('shiny') == '2.0'\n"
    "PROTOCOLS = {'dlpack': (lambda x: np.from_dlpack(x).copy()) if new else np.from_dlpack}\n"
)
ADAPTERS = ("--adapters", "adapters")
WORDS = ("--adapters", "adapters", "--protocols", "dlpack", "--sizes", "4KiB", "--precision", "50%",
         "--timeout", "10s", "--out", "run", "--replicas", "1")  # fmt: skip
BOTH = ("--producers", "native,shiny", "--consumers", "native,shiny")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run over ours, which lacks `shiny`, and two environments with other versions of it."""
    folder = tmp_path_factory.mktemp("environments")
    other_pythons.make(folder / "old", shiny="1.0")
    other_pythons.make(folder / "new", shiny="2.0")
    plant(folder / "adapters", "shiny", MAKE, TAKE_NEW)
    status, out, err = run(
        folder, "--matrix", *WORDS, *BOTH, "--env", "old=old", "--env", "new=new/bin/python",
        environment=os.environ | {"COLUMNS": "80"},
    )  # fmt: skip
    assert status == 0, err
    assert left_alive(folder) == []
    return folder, out


def test_each_environment_has_its_cells(ran: tuple[Path, str]) -> None:
    found = entries(document(ran[0]))
    assert len(found) == 12
    for name, entry in found.items():
        environment = entry["environment"]
        assert ("/environment:" in name) == (environment != "default")
        assert environment == "default" or name.endswith(f"/environment:{environment}")
        shiny = "shiny" in (entry["producer"], entry["consumer"])
        if environment == "default" and shiny:
            assert (entry["outcome"], entry["reason"]) == ("not-installed", "pip install shiny")
        else:
            copied = environment == "new" and entry["consumer"] == "shiny"
            assert entry["outcome"] == ("copy" if copied else "zero-copy")


def test_the_document_says_what_each_was(ran: tuple[Path, str]) -> None:
    folder, _ = ran
    written = document(folder)
    jsonschema.validate(written, json.loads(SCHEMA.read_text()))
    reported = written["context"]["dlbench"]["environments"]
    assert sorted(reported) == ["default", "new", "old"]
    assert "shiny" not in reported["default"]["libraries"]
    assert [reported[name]["libraries"]["shiny"] for name in ("old", "new")] == ["1.0", "2.0"]
    for package in ("numpy", "ml_dtypes"):  # numpy is measured, ml_dtypes is not
        version = importlib.metadata.version(package)
        assert {each["libraries"][package] for each in reported.values()} == {version}
    for name in ("old", "new"):
        assert reported[name]["executable"] == f"{folder}/{name}/bin/python"
        assert reported[name]["python"] == reported["default"]["python"]
        assert reported[name]["reference_exchange"]["median_ns"] > 0
        assert reported[name]["floors_ns"]["call"] > 0


def test_the_terminal_keeps_them_apart(ran: tuple[Path, str]) -> None:
    folder, ending = ran
    assert max(map(len, ending.splitlines())) <= 80
    # Without a terminal, `show` cuts nothing.
    _, out, _ = run(folder, "show", "run")
    lines = out.splitlines()
    titles = [line for line in lines if "host time of one exchange" in line]
    assert [("in new" in title, "in old" in title) for title in titles] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    assert any(line.startswith("new:") and "shiny 2.0" in line for line in lines)
    assert "shiny in default (pip install shiny)" in out
    assert "in new, native, shiny -> shiny" in out
    assert any(line.startswith("beside default") for line in lines)


def test_show_takes_an_environment_as_a_word(ran: tuple[Path, str]) -> None:
    status, out, err = run(ran[0], "show", "run", "shiny", "shiny", "old")
    assert status == 0, err
    assert "zero-copy" in out
    assert "/environment:old" in out
    status, out, _ = run(ran[0], "show", "run", "shiny", "shiny")
    assert [word in out for word in ("default", "new", "old")] == [True] * 3
    status, _, err = run(ran[0], "show", "run", "shiny", "shiny", "odl")
    assert status == 2
    assert "no cell here has 'odl'" in err


def test_repro_names_the_environment_and_its_versions(ran: tuple[Path, str]) -> None:
    status, out, err = run(ran[0], "repro", "run", "native", "shiny", "old", *ADAPTERS)
    assert status == 0, err
    assert "shiny 1.0 in environment old" in out


def test_debug_runs_the_interpreter_of_the_cell(ran: tuple[Path, str]) -> None:
    words = ("native", "shiny", "old", "--env", "old=old", *ADAPTERS)
    status, out, err = run(ran[0], "debug", "run", *words)
    assert status == 0, err
    assert out.startswith(f"gdb --args {ran[0]}/old/bin/python ")
    versions = [json.loads(line).get("ok", {}).get("version") for line in out.splitlines()[1:]]
    assert "1.0" in versions


def test_a_run_is_resumed_in_the_same_environments_only(tmp_path: Path) -> None:
    python = other_pythons.make(tmp_path / "old", shiny="1.0")
    plant(tmp_path / "adapters", "shiny", MAKE, TAKE)
    requested = ("--matrix", *WORDS, "--producers", "shiny", "--consumers", "shiny", "--no-plots")
    status, _, err = run(tmp_path, *requested, "--env", f"old={python}")
    assert status == 0, err
    journal = tmp_path / "run/journal.jsonl"
    first, *rest = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([first, *(line for line in rest if "environment:old" not in line)]))

    other_pythons.install(tmp_path / "old", "shiny", "1.1")
    own = ("--adapters", "adapters", "--env", f"old={python}")
    for words in ((), ("--env", f"new={python}"), (*own, "--env", f"new={python}")):
        status, _, err = run(tmp_path, "--resume", "run", *words)
        assert (status, "must name the interpreters and adapters" in err) == (2, True), err
    again = ("--resume", "run", "--no-plots", *shlex.split(err)[-4:])
    assert again[-4:-1] == ("--env", f"old={python}", "--adapters")
    status, _, err = run(tmp_path, *again)
    assert (status, "shiny in old was 1.0, is 1.1" in err) == (2, True), err

    other_pythons.install(tmp_path / "old", "shiny", "1.0")
    status, _, err = run(tmp_path, *again)
    assert status == 0, err
    outcomes = {e["environment"]: e["outcome"] for e in entries(document(tmp_path)).values()}
    assert outcomes == {"default": "not-installed", "old": "zero-copy"}


def broken(folder: Path) -> tuple[str, ...]:
    hangs = other_pythons.script(folder / "hangs", "sleep 60")
    dies = other_pythons.script(folder / "dies", "kill -SEGV $$")
    bare = other_pythons.answering(folder / "bare", numpy=False)
    return "--env", f"slow={hangs}", "--env", f"dead={dies}", "--env", f"bare={bare}"


def test_a_broken_interpreter_costs_its_own_cells_only(tmp_path: Path) -> None:
    words = ("--sizes", "4KiB", "--protocols", "dlpack", "--timeout", "2s", "--out", "run")
    ours = ("--producers", "native", "--consumers", "native", *QUICK)
    status, _, err = run(tmp_path, "--matrix", *words, *ours, *broken(tmp_path))
    assert status == 0, err
    found = {entry["environment"]: entry for entry in entries(document(tmp_path)).values()}
    assert found["default"]["outcome"] == "zero-copy"
    assert found["slow"]["outcome"] == "timed-out"
    assert found["slow"]["reason"] == "the interpreter did not answer within 2 s"
    assert found["dead"]["outcome"] == "crashed"
    assert "SIGSEGV" in found["dead"]["reason"]
    assert found["bare"]["outcome"] == "import-failed"
    assert found["bare"]["reason"].startswith("no NumPy, which every worker needs: ")
    _, out, _ = run(tmp_path, "show", "run")
    assert f"dlbench doctor --env dead={tmp_path}/dies" in out
    assert left_alive(tmp_path) == []
    status, _, err = run(tmp_path, "debug", "run", "native", "native", "dead", "--env", "dead=dies")
    assert (status, "environment 'dead': the interpreter ended by" in err) == (2, True), err


def test_a_broken_interpreter_is_reported_of_where_no_library_was_named(tmp_path: Path) -> None:
    words = ("--filter", "producer:native/consumer:native/", "--sizes", "4KiB", "--timeout", "2s")
    status, _, err = run(tmp_path, "--matrix", *words, "--out", "run", *QUICK, *broken(tmp_path))
    assert status == 0, err
    reported = document(tmp_path)["context"]["dlbench"]["environments"]
    assert reported["slow"]["failure"] == "timed-out: the interpreter did not answer within 2 s"
    _, out, _ = run(tmp_path, "show", "run")
    assert "slow: timed-out: the interpreter did not answer within 2 s" in out
    assert "dead: crashed: the interpreter ended by SIGSEGV" in out
    assert "bare: import-failed: no NumPy, which every worker needs" in out


def test_an_unfit_environment_ends_the_program_before_anything_is_written(tmp_path: Path) -> None:
    python = other_pythons.answering(tmp_path / "python", worker=False)
    for env, message in (
        ("x=/no/such/python", "no such file"),
        (f"x={python}", "./build-worker"),
        ("default=python", "dlbench itself runs in"),
    ):
        status, out, err = run(tmp_path, "--matrix", "--out", "run", "--env", env)
        assert (status, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["python"]


def test_list_and_doctor_look_into_environments(tmp_path: Path) -> None:
    """The planted adapters alone are asked what they offer: a process for each library."""
    other_pythons.make(tmp_path / "old", shiny="1.0")
    script = (
        "import sys\nfrom pathlib import Path\nfrom dlbench.command import listing\n"
        "from dlbench.libraries import discover\n"
        "from dlbench.environments import probe\n"
        "for place in probe.find(sys.argv[1:], 20):\n"
        "    found = discover.catalogue(Path('adapters'), Path('none'), place)\n"
        "    for line in [*listing.title(place, 80),\n"
        "                 *listing.table(discover.libraries(found), place, 80)]:\n"
        "        print(line)\n"
    )
    plant(tmp_path / "adapters", "shiny", MAKE, TAKE)
    done = subprocess.run(
        [sys.executable, "-c", script, "old=old"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )  # fmt: skip
    ours, theirs = done.stdout.split("\nold   ")
    assert ours.startswith("default   Python 3.")
    assert "absent" in ours
    assert "pip install shiny" in ours
    assert "shiny    1.0" in theirs
    assert "exports  dlpack buffer" in theirs
    status, out, _ = run(tmp_path, "doctor", "--env", "old=old", "--env", "bad=/bin/true")
    assert status == 0
    flat = " ".join(out.split())
    assert "old CPython 3." in flat
    assert "no worker runs there" in flat
    status, _, err = run(tmp_path, "list", "--env", "bad=/bin/true")
    assert (status, "is not a Python" in err) == (2, True)


def test_instructions_are_counted_there_too(tmp_path: Path) -> None:
    python = other_pythons.make(tmp_path / "old")
    words = ("--producers", "native", "--consumers", "native", "--count", "instructions")
    status, _, err = run(
        tmp_path, "--matrix", "--env", f"old={python}", *words, *QUICK, "--sizes", "4KiB",
        "--protocols", "dlpack", "--out", "run", "--precision", "50%",
    )  # fmt: skip
    if "not on PATH" in err:
        pytest.skip("no valgrind")
    assert status == 0, err
    counted: dict[str, Any] = {
        e["environment"]: e.get("instructions") for e in document(tmp_path)["benchmarks"]
    }
    assert counted["default"] > 100
    # Another environment is another heap: at the end of one of the allocator's pools an exchange
    # costs some fifteen more.
    assert counted["old"] == pytest.approx(counted["default"], abs=30)
    words = ("native", "native", "old", "--env", f"old={python}")
    status, out, err = run(tmp_path, "explain", "run", *words)
    assert status == 0, err
    assert "native -> native" in out
