"""Sources of adapters that are compiled on this machine: the cache, its keys and its refusals."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from dlbench.adapter import CALL_NUMBERS, call_library, call_library_path
from dlbench.environments.environment import Environment
from dlbench.libraries import compiled, discover
from dlbench.libraries.compiled import NotCompiled, Source
from dlbench.libraries.facts import read_adapter
from whole import run

pytestmark = pytest.mark.process

SOURCE = 'extern "C" __attribute__((visibility("default"))) int answer() { return 42; }\n'
ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "how-to" / "what-does-a-call-cost.md"
ADAPTER = """
import ctypes
from dlbench.adapter import call_library, compiled, written_function

DISTRIBUTION = None
BUILDS = {"": "mine.cc"}


def function(arrays):
    compiled(__file__, BUILDS[""])
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arrays)
    call = kind(call_library().dlbench_call_function(arrays))
    return written_function(arrays, "call({_.ctypes.data})", call=call)


PROTOCOLS = {"call": function}
"""


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An adapter with a source, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    path = tmp_path / "consumers" / "mine.py"
    path.parent.mkdir()
    path.write_text(ADAPTER)
    path.with_name("mine.cc").write_text(SOURCE)
    return path


def cache(folder: Path) -> Path:
    return folder / "cache" / "dlbench" / "calls"


def planted_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    monkeypatch.setenv("CXX", str(path))


def refused(adapter: Path) -> str:
    with pytest.raises(NotCompiled) as failure:
        compiled.library(str(adapter), "mine.cc")
    return failure.value.reason


def test_the_numbers_are_those_of_the_compiled_modules() -> None:
    text = (discover.PACKAGE / "consumers" / "call" / "numbers.h").read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("#define DLBENCH_CALL_NUM"))
    assert tuple(map(int, re.findall(r"DO\((\d+)\)", line))) == CALL_NUMBERS


def test_a_source_is_compiled_once(adapter: Path, tmp_path: Path) -> None:
    assert not Source(adapter, "mine.cc").is_compiled()
    path = compiled.library(str(adapter), "mine.cc")
    assert ctypes.CDLL(path).answer() == 42
    made = Path(path).stat().st_mtime_ns
    assert Source(adapter, "mine.cc").is_compiled()
    assert compiled.library(str(adapter), "mine.cc") == path
    assert Path(path).stat().st_mtime_ns == made
    assert [file.name for file in cache(tmp_path).iterdir()] == [Path(path).name]


@pytest.mark.parametrize("what", ["source", "flags", "compiler", "version"])
def test_the_key_changes_with_what_is_compiled(
    adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    before = Source(adapter, "mine.cc").library
    if what == "source":
        adapter.with_name("mine.cc").write_text(SOURCE.replace("42", "43"))
    elif what == "flags":
        adapter.with_name("mine.cc").write_text("//: -I{numpy}\n" + SOURCE)
    elif what == "compiler":
        planted_compiler(tmp_path, monkeypatch, 'exec c++ "$@"')
    else:
        monkeypatch.setattr(compiled, "_versions", lambda *_: ["mine 2"])
    assert Source(adapter, "mine.cc").library != before


def test_the_versions_are_those_of_all_packages_of_a_library(adapter: Path) -> None:
    producer = adapter.parents[1] / "producers" / adapter.name
    producer.parent.mkdir()
    producer.write_text('DISTRIBUTION = ("pytest>=1", "not-there")\ndef make(): pass\n')
    found = compiled._versions(adapter, ["numpy"])
    assert [text.split()[0] for text in found] == ["numpy", "pytest"]


@pytest.fixture
def in_wheel(adapter: Path) -> Path:
    """The library of the adapter's source as in a wheel, made with cffi and pybind11."""
    adapter.write_text(ADAPTER.replace("None", '("cffi", "not-there")', 1))
    adapter.with_name("mine.cc").write_text(f'//: -I{{pybind11}}\n#include "call/body.h"\n{SOURCE}')
    Source(adapter, "mine.cc").prebuild(adapter.parent)
    return adapter.with_name(f"mine{compiled.SUFFIX}")


def planted_versions(monkeypatch: pytest.MonkeyPatch, **planted: str | None) -> None:
    real = compiled._version
    monkeypatch.setattr(compiled, "_version", lambda name: planted.get(name, real(name)))


@pytest.mark.parametrize("installed", ["all", "one"])
def test_the_library_of_the_wheel_needs_no_compiler(
    adapter: Path, in_wheel: Path, monkeypatch: pytest.MonkeyPatch, installed: str
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    if installed == "one":
        planted_versions(monkeypatch, cffi=None)
    call_library()  # the wheel has it two folders above
    assert ctypes.CDLL(compiled.library(str(adapter), "mine.cc")).answer() == 42
    assert compiled.library(str(adapter), "mine.cc") == str(in_wheel)
    made_with = compiled.versions_in_wheel(adapter.with_name("mine.cc"))
    assert made_with == {name: version(name) for name in ("cffi", "pybind11")}


@pytest.mark.parametrize("what", ["version", "source", "garbage", "cut", "another's"])
def test_another_library_in_the_wheel_is_not_loaded(
    adapter: Path, in_wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    if what == "version":
        planted_versions(monkeypatch, cffi="0.1")
    elif what == "source":
        source = adapter.with_name("mine.cc")
        source.write_text(source.read_text().replace("42", "43"))
    elif what == "garbage":
        in_wheel.write_bytes(b"\x7fELF" + bytes(100))
    elif what == "cut":
        in_wheel.write_bytes(in_wheel.read_bytes()[:256])
    else:
        in_wheel.write_bytes(
            in_wheel.read_bytes().replace(b"dlbench made with ", b"dlbench made by ")
        )
    path = compiled.library(str(adapter), "mine.cc")
    assert Path(path).parent == cache(tmp_path)
    assert ctypes.CDLL(path).answer() == (43 if what == "source" else 42)


def test_any_version_of_numpy_runs_the_wheels_functions(
    adapter: Path, in_wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "UNTIMED", {"cffi"})
    planted_versions(monkeypatch, cffi="0.1")
    assert Source(adapter, "mine.cc").library == in_wheel


def test_the_version_in_the_wheel_is_named(adapter: Path, tmp_path: Path) -> None:
    """For functions that need no package: this library is named as one of its packages."""
    own = adapter.with_name("pybind11.py")
    own.write_text(ADAPTER.replace("DISTRIBUTION = None", "").replace("mine.cc", "own.cc"))
    adapter.with_name("own.cc").write_text('#include "call/body.h"\n' + SOURCE)
    builds = {"": "own.cc"}
    assert compiled.version_in_wheel(own, builds) == ""
    Source(own, "own.cc").prebuild(adapter.parent)
    text = f"{version('pybind11')} (in the wheel)"
    assert compiled.version_in_wheel(own, builds) == text
    nothing = Environment("default", "python", versions={})
    own_file = read_adapter("consumer", "pybind11", own)
    found = discover.library("pybind11", {"consumer": own_file}, nothing)
    assert (found.installed, found.version) == (True, text)
    elsewhere = discover.library("pybind11", {"consumer": own_file}, replace(nothing, name="old"))
    assert not elsewhere.installed


@pytest.mark.libraries
@pytest.mark.thorough
def test_each_binding_of_a_wheel_is_measured_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "adapters" / "consumers"
    shutil.copytree(ROOT / "consumers" / "call", folder / "call")
    for path in (ROOT / "consumers").glob("*.py"):
        shutil.copy(path, folder)
    words = ["cmake/prebuild_calls.py", ROOT, call_library_path().parent, folder / "call"]
    made = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert made.stdout.count(": made with ") == 5, made.stdout + made.stderr
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    bindings = ["cffi:api", "cython", "jax:ffi", "numpy:gufunc", "tvm_ffi:view", "torch:stable"]
    words = ["--calls", "--adapters", "adapters", "--consumers", ",".join(bindings)]
    words += ["--producers", "numpy", "--arrays", "2", "--replicas", "1", "--no-plots"]
    status, _, err = run(tmp_path, *words, "--out", "made")
    assert (status, "compiling" in err) == (0, False)
    found = json.loads((tmp_path / "made" / "results.json").read_text())
    assert {cell["consumer"] for cell in found["benchmarks"]} == {*bindings[:-1]}
    assert {cell["consumer"] for cell in found["not_measured"]} == {*bindings[-1:]}


def test_a_source_in_python_prints_what_is_compiled(adapter: Path) -> None:
    adapter.with_name("made.py").write_text(f"print({SOURCE!r}.replace('42', '17'))\n")
    assert ctypes.CDLL(compiled.library(str(adapter), "made.py")).answer() == 17


def test_without_a_compiler_the_line_to_type_is_named(
    adapter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(NotCompiled, match=r"apt-get install g\+\+") as failure:
        Source(adapter, "mine.cc")
    assert failure.value.outcome == "not-installed"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("kill -9 $$", "compiler ended with SIGKILL"),
        ("echo 'x.cc:1: error: no luck' >&2; exit 1", "compiler ended with exit status 1: x.cc:1:"),
        ("echo 'ld: No space left on device' >&2; exit 1", "No space left on device"),
        ("exit 0", "No such file or directory"),
    ],
)
def test_a_compiler_that_fails_is_one_reason(
    adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, reason: str
) -> None:
    planted_compiler(tmp_path, monkeypatch, lines)
    assert reason in refused(adapter)
    assert not list(cache(tmp_path).iterdir())  # nothing half-written is left


def test_a_package_that_a_source_needs_is_named(adapter: Path) -> None:
    adapter.with_name("mine.cc").write_text("//: -I{no_such_package}\n")
    assert refused(adapter) == "needs the package no_such_package"


def test_a_cache_that_others_can_change_is_not_loaded(adapter: Path, tmp_path: Path) -> None:
    path = Path(compiled.library(str(adapter), "mine.cc"))
    path.chmod(0o777)
    assert f"others can change {path}" in refused(adapter)
    path.chmod(0o700)
    cache(tmp_path).chmod(0o777)
    assert f"others can change {cache(tmp_path)}" in refused(adapter)
    cache(tmp_path).chmod(0o700)
    assert compiled.library(str(adapter), "mine.cc") == str(path)


def test_a_cache_of_another_user_is_not_loaded(
    adapter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled.library(str(adapter), "mine.cc")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert "belongs to another user: remove it, or set XDG_CACHE_HOME" in refused(adapter)


def test_a_cache_that_cannot_be_written_is_one_reason(adapter: Path, tmp_path: Path) -> None:
    cache(tmp_path).parent.parent.mkdir()
    cache(tmp_path).parent.write_text("a file")
    assert refused(adapter).endswith(("Not a directory", "File exists"))


@pytest.mark.parametrize("what", ["mine.cc", "made.py"])
def test_a_full_disk_is_one_reason_and_keeps_the_cache_clean(
    adapter: Path, tmp_path: Path, what: str
) -> None:
    """A source that is compiled for it, and one that is first written into it."""
    large = "char large[200000] = {1};\n" + SOURCE
    adapter.with_name("mine.cc").write_text(large)
    adapter.with_name("made.py").write_text(f"print({large!r}, '//' * 50000)\n")
    disk = cache(tmp_path).parent
    disk.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("may not mount")
    try:
        with pytest.raises(NotCompiled, match="No space left on device"):
            compiled.library(str(adapter), what)
        assert not list(cache(tmp_path).iterdir())
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert ctypes.CDLL(compiled.library(str(adapter), what)).answer() == 42


def test_the_adapter_of_the_how_to_page_is_measured(tmp_path: Path) -> None:
    (text,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(text.splitlines()) <= 30
    (tmp_path / "consumers").mkdir()
    (tmp_path / "consumers" / "mine.py").write_text(text)
    words = ["--calls", "--adapters", ".", "--consumers", "mine", "--producers", "numpy"]
    more = ["--arrays", "0,3", "--replicas", "1", "--no-plots", "--out", "made"]
    assert run(tmp_path, *words, *more)[0] == 0
    found = json.loads((tmp_path / "made" / "results.json").read_text())
    assert [cell["outcome"] for cell in found["benchmarks"]] == ["zero-copy"] * 2


def test_nothing_is_compiled_for_an_unknown_library(adapter: Path, tmp_path: Path) -> None:
    words = ["--calls", "--adapters", ".", "--consumers", "mine", "--producers", "numpi"]
    status, _, err = run(tmp_path, *words, "--out", "made")
    assert status == 2
    assert err.startswith("dlbench: unknown library 'numpi'")
    assert not cache(tmp_path).exists()


def test_a_binding_that_does_not_compile_leaves_the_others(adapter: Path, tmp_path: Path) -> None:
    adapter.with_name("mine.cc").write_text("#error planted\n")
    words = ["--calls", "--adapters", ".", "--consumers", "mine,native", "--producers", "native"]
    more = ["--arrays", "2", "--replicas", "1", "--no-plots", "--out", "made"]
    status, _, err = run(tmp_path, *words, *more)
    assert status == 0
    assert "dlbench: compiling mine for this machine, once\n" in err
    found = json.loads((tmp_path / "made" / "results.json").read_text())
    assert [cell["consumer"] for cell in found["benchmarks"]] == ["native"]
    (absent,) = found["not_measured"]
    assert (absent["consumer"], absent["outcome"]) == ("mine", "import-failed")
    assert "#error planted" in absent["reason"]
    # Mended, it is compiled, and then found in the cache.
    adapter.with_name("mine.cc").write_text(SOURCE)
    words[-1] = "numpy"
    for is_new, out in ((True, "mended"), (False, "cached")):
        status, _, err = run(tmp_path, *words, *more[:-1], out)
        assert ("compiling mine" in err) is is_new
        found = json.loads((tmp_path / out / "results.json").read_text())
        assert "mine" in [cell["consumer"] for cell in found["benchmarks"]]


BAD = """
import ctypes
import os

import numpy
from dlbench.adapter import call_library, compiled, written_function

DISTRIBUTION = None
BUILDS = {"throws": "mine.cc", "returns-garbage": "mine.cc"}
kept = []


def good(arrays):
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arrays)
    call = kind(call_library().dlbench_call_function(arrays))
    return written_function(arrays, "call({_.ctypes.data})", call=call)


def after(end):
    def made(arrays):
        call = good(arrays)

        def function(*given):
            call(*given)
            return end(*given)

        return function

    return made


def raises(*given):
    raise OSError("planted")


def of_numpy(arrays):
    call = good(arrays)

    def function(*given):
        if any(type(one) is not numpy.ndarray for one in given):
            os.abort()
        call(*given)

    return function


def compiled_function(name, result):
    function = ctypes.CDLL(compiled(__file__, "mine.cc"))[name]
    function.restype = result
    return function()


PROTOCOLS = {"call": good}
CALLS = {
    "raises": {"call": after(raises)},
    "throws": {"call": after(lambda *given: compiled_function("throws", None))},
    "returns-garbage": {"call": after(lambda *given: compiled_function("garbage",
                                                                       ctypes.py_object))},
    "returns-arguments": {"call": after(lambda *given: given)},
    "dies-on-others": {"call": of_numpy},
    "keeps": {"call": after(lambda *given: kept.append([one.copy() for one in given]))},
}
"""
BAD_SOURCE = """
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED void throws() { throw 1; }
EXPORTED void* garbage() { return reinterpret_cast<void*>(16); }
"""


def test_a_bad_function_is_one_reason(adapter: Path, tmp_path: Path) -> None:
    adapter.write_text(BAD)
    adapter.with_name("mine.cc").write_text(BAD_SOURCE)
    words = ["--calls", "--adapters", ".", "--consumers", "mine:all", "--producers", "numpy"]
    more = ["--arrays", "2", "--replicas", "1", "--no-plots", "--out", "made"]
    assert run(tmp_path, *words, *more)[0] == 0
    document = json.loads((tmp_path / "made" / "results.json").read_text())
    cells = {cell["consumer"]: cell for cell in document["benchmarks"] + document["not_measured"]}
    assert {name.partition(":")[2]: cell["outcome"] for name, cell in cells.items()} == {
        "": "zero-copy", "returns-arguments": "zero-copy", "keeps": "zero-copy",
        "raises": "refused", "throws": "crashed", "returns-garbage": "crashed",
        "dies-on-others": "zero-copy",
    }  # fmt: skip
    assert cells["mine:raises"]["reason"] == "planted"
    assert cells["mine:throws"]["signal"] == "SIGABRT"
    assert cells["mine:returns-garbage"]["signal"] == "SIGSEGV"
    found = {
        (warning["code"], name): warning["text"]
        for name, cell in cells.items()
        for warning in cell.get("warnings", ())
    }
    assert [name for code, name in found if code == "memory-grows"] == ["mine:keeps"]
    # It takes NumPy's arrays, but not the proxy of the trial after the rounds.
    assert [name for code, name in found if code == "no-guard"] == ["mine:dies-on-others"]
    assert "a proxy was an argument" in found["no-guard", "mine:dies-on-others"]
    assert "SIGABRT" in found["no-guard", "mine:dies-on-others"]
