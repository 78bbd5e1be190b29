"""The messages of a build for missing headers; it downloads nothing by default."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[3]
#: A system without Google Benchmark and GoogleTest. Programs are named, not searched.
BARE = (
    "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON",
    "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON",
    "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
    "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF",
)


def configure(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja",
         f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}",
         f"-DCMAKE_CXX_COMPILER={shutil.which('c++')}",
         f"-DPython_EXECUTABLE={sys.executable}", *options],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_what_is_missing_is_named_with_its_packages(tmp_path: Path) -> None:
    done = configure(tmp_path, *BARE, "-DDLBENCH_TESTS=ON")
    assert done.returncode != 0
    words = " ".join(done.stderr.split())
    for part in (
        "dlbench's build needs: Google Benchmark, GoogleTest",
        "Debian, Ubuntu: apt-get install libbenchmark-dev libgtest-dev",
        "Fedora, RHEL: dnf install google-benchmark-devel gtest-devel",
        "conda: conda install -c conda-forge benchmark gtest",
        "Homebrew: brew install google-benchmark googletest",
    ):
        assert part in words, done.stderr
    assert "DLBENCH_FETCH=ON" in done.stderr
    assert not (tmp_path / "_deps").exists()


def bundled(folder: Path, *options: str) -> dict[str, str]:
    """Component -> version, as the SBOM of a wheel's build has it."""
    done = configure(folder, f"-DSKBUILD_METADATA_DIR={folder}", *options)
    assert done.returncode == 0, done.stderr
    sbom = json.loads((folder / "bundled/sboms/dlbench.cdx.json").read_text())
    return {component["name"]: component["version"] for component in sbom["components"]}


def test_the_sbom_has_the_version_of_the_systems_google_benchmark(tmp_path: Path) -> None:
    config = tmp_path / "system/lib/cmake/benchmark"
    config.mkdir(parents=True)
    (config / "benchmarkConfig.cmake").write_text(
        "add_library(benchmark::benchmark INTERFACE IMPORTED)\n"
    )
    (config / "benchmarkConfigVersion.cmake").write_text(
        "set(PACKAGE_VERSION 1.99.7)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
    )
    found = bundled(tmp_path / "build", f"-Dbenchmark_DIR={config}")
    assert found["google-benchmark"] == "1.99.7"
    assert found.keys() >= {"dlpack", "nlohmann-json", "pybind11"}


def plant_dlpack(folder: Path, major: int, minor: int) -> str:
    """The option for a header of this version."""
    header = folder / f"{major}.{minor}/dlpack/dlpack.h"
    header.parent.mkdir(parents=True)
    lines = f"#define DLPACK_MAJOR_VERSION {major}\n\n#define DLPACK_MINOR_VERSION {minor}\n"
    header.write_text(lines)
    return f"-DDLPACK_INCLUDE_DIR={header.parents[1]}"


def test_the_header_of_dlpack_has_the_version_that_is_measured(tmp_path: Path) -> None:
    newer = bundled(tmp_path / "newer", plant_dlpack(tmp_path, 1, 4))
    assert newer["dlpack"] == "1.4"
    assert bundled(tmp_path / "own")["dlpack"] == "1.3"
    for major, minor in ((1, 2), (2, 0)):
        option = plant_dlpack(tmp_path, major, minor)
        done = configure(tmp_path / f"build-{major}", option)
        assert done.returncode != 0
        assert f"version {major}.{minor}. Install it" in " ".join(done.stderr.split())
