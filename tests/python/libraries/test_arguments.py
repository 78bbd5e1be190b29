"""NAME:ARGUMENT: the argument is read without running a file, and is set before the file runs."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import planted
import samples
import whole
from dlbench import _core, cli, loading
from dlbench.command import debug
from dlbench.errors import BadInput
from dlbench.libraries import arguments, discover
from dlbench.scripts import exchange as repro
from typed import entry_of

pytestmark = pytest.mark.process

KNOWN = {"plain": "", "slow": "TIME", "old": "VERSION", "color": "a color"}
MAKE = f"""\
import sys
HIDDEN = True
DISTRIBUTION = None
READY = ("slow",)
ARGUMENTS = {KNOWN!r}
name, value = ARGUMENT
def ready(array): ...
def make(case, device):
    return name, value
"""
SLOW = "mine:slow=5us"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "producers").mkdir()
    (tmp_path / "producers" / "mine.py").write_text(MAKE)
    return tmp_path


@pytest.fixture
def found(folder: Path) -> discover.Catalogue:
    return discover.catalogue(folder, package=folder / "none")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", ("plain", None)),
        ("slow=200ns", ("slow", 200.0)),
        ("slow=1.5ms", ("slow", 1_500_000.0)),
        ("slow=0us", ("slow", 0.0)),
        ("old=0.8", ("old", (0, 8))),
        ("color=red=ish", ("color", "red=ish")),
    ],
)
def test_an_argument_is_its_name_and_its_value(text: str, value: Any) -> None:
    assert arguments.read(text, KNOWN) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plain=5us", "plain accepts no value"),
        ("plain=", "plain accepts no value"),
        ("slow", "slow is written slow=TIME"),
        ("slow=", "slow is written slow=TIME"),
        ("slow=5parsecs", "'5parsecs' is not a time; allowed: below an hour, as 200ns"),
        ("slow=-5us", "'-5us' is not a time"),
        ("slow=3600s", "'3600s' is not a time"),
        ("old=2", "'2' is not a version"),
        ("color=a/b", "'a/b' holds a '/'"),
    ],
)
def test_a_value_that_does_not_fit_is_a_clear_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        arguments.read(text, KNOWN)


def test_a_library_by_argument_is_there_only_where_requested(found: discover.Catalogue) -> None:
    assert discover.libraries(found) == []
    (mine,) = discover.libraries(found, [SLOW])
    assert (mine.name, mine.has_ready, mine.hidden) == (SLOW, True, True)
    assert not mine.in_default_matrix
    (plain,) = discover.libraries(found, ["mine:plain"])
    assert not plain.has_ready


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine", "mine needs an argument, as mine:ARGUMENT; allowed: plain, slow=TIME"),
        ("mine:slo=5us", "unknown argument in 'mine:slo=5us' (did you mean 'slow'?); allowed: "),
        ("mine:slow", "'mine:slow': slow is written slow=TIME"),
    ],
)
def test_what_is_no_argument_names_the_allowed(
    found: discover.Catalogue, name: str, message: str
) -> None:
    with pytest.raises(BadInput) as error:
        discover.libraries(found, [name])
    assert str(error.value).startswith(message)


def test_a_library_without_arguments_has_none() -> None:
    with pytest.raises(BadInput, match="pillow accepts no argument: unknown library 'pillow:x'"):
        discover.libraries(discover.catalogue(), ["pillow:x"])


CALLS = """\
import types
import numpy as np
library = types.SimpleNamespace(asarray=np.asarray, array=np.array)
DISTRIBUTION = None
PROTOCOLS = {"dlpack": library.from_dlpack, "convert": library.asarray}
CALLS = {
    "array": library.array,
    "copy": library.copy,
    "Tensor.from_dlpack": {"dlpack": np.from_dlpack, "buffer": library.frombuffer},
}
def calls(source, target):
    return {"convert": library.asarray}
"""
LACKS = "'types.SimpleNamespace' object has no attribute "


@pytest.fixture
def calling(folder: Path) -> discover.Catalogue:
    """The library `take`, with several calls."""
    whole.plant(folder, "take", take=CALLS)
    return discover.catalogue(folder, package=folder / "none")


def test_a_further_call_is_a_library_where_it_is_named(calling: discover.Catalogue) -> None:
    (take,) = discover.libraries(calling)
    assert (take.protocols, take.crosses, take.hidden) == (["dlpack", "convert"], True, False)
    names = ["take:array", "take:copy", "take:Tensor.from_dlpack"]
    assert calling.expanded(["numpy", "take:all", "mine:all"]) == [
        "numpy", "take", *names, "mine:all",
    ]  # fmt: skip
    assert calling.expanded(["all:all"]) == ["all", *names]
    _, tensor, array = discover.libraries(calling, ["take:array", names[2]])
    assert (array.protocols, array.crosses, array.hidden) == (["convert"], False, True)
    assert tensor.protocols == ["dlpack", "buffer"]
    # The producer's file may have `address` and the like, which judge what the call returns.
    assert array.producer_path == take.producer_path
    axes = _core.Axes(producers=["take"], consumers=["all"])
    libraries = discover.libraries(calling, ["take:array"])
    assert {cell.consumer for cell in _core.make_plan(libraries, axes).cells} == {"take"}


@pytest.mark.parametrize(
    ("call", "has", "lacks"),
    [
        ("", ["convert"], {"dlpack": "from_dlpack"}),
        ("array", ["convert"], {}),
        ("copy", [], {"convert": "copy"}),
        ("Tensor.from_dlpack", ["dlpack"], {"buffer": "frombuffer"}),
    ],
)
def test_an_absent_call_costs_itself_alone(
    calling: discover.Catalogue, call: str, has: list[str], lacks: dict[str, str]
) -> None:
    name = f"take:{call}" if call else "take"
    path = str(calling.files["take"]["consumer"].path)
    module = loading.load_adapter("consumer", name, path)
    assert (list(module.PROTOCOLS), hasattr(module, "calls")) == (has, not call)
    assert {key: f"{LACKS}{value!r}" for key, value in lacks.items()} == module.ABSENT
    assert module.ARGUMENT == ("", None)


def test_each_call_has_outcomes_of_its_own(calling: discover.Catalogue, tmp_path: Path) -> None:
    words = ["--matrix", "--producers", "take", "--consumers", "take:all", "--sizes", "4096"]
    words += ["--protocols", "convert,dlpack", "--replicas", "1", "--no-plots", "--quiet"]
    status, _, err = whole.run(tmp_path, *words, "--adapters", str(tmp_path), "--out", "run")
    assert (status, err) == (0, "")
    document = whole.document(tmp_path)
    found = {
        (one["consumer"], one["protocol"]): one.get("reason") or one["outcome"]
        for one in (*document["benchmarks"], *document["not_measured"])
    }
    has_none = "take:{} has no call for {}"
    assert found == {
        ("take", "convert"): "zero-copy",
        ("take", "dlpack"): f"take has no call for dlpack: {LACKS}'from_dlpack'",
        ("take:array", "convert"): "copy",
        ("take:array", "dlpack"): has_none.format("array", "dlpack"),
        ("take:copy", "convert"): f"take:copy has no call for convert: {LACKS}'copy'",
        ("take:copy", "dlpack"): has_none.format("copy", "dlpack"),
        ("take:Tensor.from_dlpack", "convert"): has_none.format("Tensor.from_dlpack", "convert"),
        ("take:Tensor.from_dlpack", "dlpack"): "zero-copy",
    }


@pytest.mark.parametrize("name", ["all", "a/b", "a,b", "a=b", ""])
def test_a_call_has_a_name_that_a_cell_can_hold(tmp_path: Path, name: str) -> None:
    path = planted.plant(tmp_path) / "consumers" / "mine.py"
    path.write_text(path.read_text() + f"CALLS = {{{name!r}: np.array}}\n")
    with pytest.raises(BadInput, match=f"{name!r} in CALLS cannot be a part of a name"):
        discover.catalogue(tmp_path, package=tmp_path / "none")


def test_the_file_finds_its_argument_before_it_runs(folder: Path) -> None:
    path = str(folder / "producers" / "mine.py")
    module = loading.load_adapter("producer", SLOW, path)
    assert module.make(None, "cpu") == ("slow", 5000.0)
    assert callable(module.ready)
    assert loading.load_adapter("producer", "mine:plain", path).ready is None
    assert loading.version(SLOW, module) == ""
    module.DISTRIBUTION = "numpy[extra]>=1"  # type: ignore[attr-defined]
    assert loading.version(SLOW, module) == importlib.metadata.version("numpy")
    assert loading.load_adapter("producer", "mine", path).make(None, "cpu") == ("", None)


def test_all_passes_the_hidden_over(found: discover.Catalogue) -> None:
    libraries = discover.libraries(discover.catalogue(), ["faulty:silent-copy"])
    for words in (["all"], []):
        plan = _core.make_plan(libraries, _core.Axes(producers=words, consumers=words))
        assert not [c for c in plan.pairs if "faulty:silent-copy" in c[1:3]]
    axes = _core.Axes(producers=["faulty:silent-copy"], consumers=["all"], protocols=["dlpack"])
    names = [cell.name for cell in _core.make_plan(libraries, axes).cells]
    assert names
    assert not [name for name in names if "consumer:faulty" in name]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["faulty:silent-cpy", "numpy"], "did you mean 'silent-copy'?"),
        (["faulty:slow-export=5parsecs", "numpy"], "not a time; allowed"),
        (["faulty", "numpy"], "faulty needs an argument, as faulty:ARGUMENT; allowed: honest, "),
        (["--matrix", "--producers", "faulty:slow-export"], "slow-export=TIME"),
        (
            ["--matrix", "--consumers", "faulty:wrong-name"],
            "no consumer adapter for faulty:wrong-name",
        ),
        (["--matrix", "--producers", "pillow:fast"], "pillow accepts no argument"),
        (["--matrix", "--consumers", "pillow:all"], "pillow accepts no argument"),
        (["numpy:array", "torch:tensor"], "numpy:array makes no arrays: array is a call"),
        (["--matrix", "--producers", "numpy:array"], "is a call that imports; producer: numpy"),
        (["numpy", "numpy:aray"], "(did you mean 'array'?); allowed: matrix, "),
    ],
)
def test_bad_use_is_one_line_and_status_2(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*words, "--dry-run"] if "wrong-name" not in words[-1] else words) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_a_dry_run_names_its_cells(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["faulty:slow-export=5us", "native", "--dry-run", "--all"]) == 0
    out, _ = capfd.readouterr()
    assert "exchange/producer:faulty:slow-export=5us/consumer:native/protocol:dlpack/" in out


def test_repro_has_the_argument_in_its_place_and_runs(tmp_path: Path) -> None:
    found = discover.catalogue()
    for producer, consumer in (
        ("faulty:slow-export=5us", "faulty:silent-copy"),
        ("faulty:silent-copy", "faulty:late-read=1ms"),
    ):
        for clock in ("call", "ready") if "late" in consumer else ("call",):
            entry = entry_of(samples.measured(producer, consumer, 1.0, clock=clock))
            script = repro.script(entry, found, {})
            assert "# needs dlbench" in script
            assert "ARGUMENT" not in script
            path = tmp_path / "script.py"
            path.write_text(script)
            done = subprocess.run(
                [sys.executable, path], capture_output=True, text=True, timeout=60
            )
            assert done.returncode == 0, script + done.stderr


def test_debug_loads_the_files_that_take_the_argument() -> None:
    entry = entry_of(samples.measured("faulty:slow-export=5us", "native", 1.0))
    requested = debug.requests(entry, discover.catalogue())
    loads = [(each["role"], each["library"]) for each in requested if each["do"] == "load"]
    mine = "faulty:slow-export=5us"
    assert loads == [("producer", mine), ("producer", "native"), ("consumer", "native")]


def test_an_adapters_folder_may_have_arguments_of_its_own(tmp_path: Path) -> None:
    folder = planted.plant(tmp_path)
    path = folder / "consumers" / "mine.py"
    path.write_text(path.read_text() + "ARGUMENTS = {1: 2}\n")
    with pytest.raises(BadInput, match="ARGUMENTS must be a dict of strings"):
        discover.catalogue(folder, package=tmp_path / "none")
