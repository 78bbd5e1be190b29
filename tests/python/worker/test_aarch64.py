"""The page guard on another processor: built for aarch64, its C++ tests run in an emulator.

It alone reads a processor's registers. All else is the same source on each.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[3]
GTEST = Path("/usr/src/googletest/googletest")
LIBRARIES = Path("/usr/aarch64-linux-gnu")
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
#: Those that ask the kernel for nothing that the emulator answers otherwise (mappings, masks).
READS = (
    "CountsEveryPageOnce",
    "LateReadersAreCountedAndNamedAsAnotherThread",
    "ReadsThroughAnotherMappingAreNotSeen",
    "SeesNothingWhereNothingIsTouched",
    "TheCallerOfLibcsCopyIsNamed",
)
WRITES = ("KeepsStagesApart", "RestoresWhatEachPartWas", "SeesWritesAlsoAfterReads")
#: The first emulator that says, as Linux does, whether a fault was a write.
KNOWS_WRITES = (8, 2)
CONDITION = "#elif defined(__aarch64__)"


def compile_for_it(source: Path, folder: Path) -> Path:
    launcher = [word for word in [shutil.which("ccache")] if word]
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror"]
    flags += [f"-I{path}" for path in (ROOT / "harness/core", ROOT / "tests")]
    flags += ["-isystem", str(GTEST / "include"), "-isystem", str(GTEST)]
    made = folder / f"{source.stem}.o"
    line = [*launcher, COMPILER, *flags, "-c", str(source), "-o", str(made)]
    subprocess.run(line, check=True)
    return made


def link(objects: list[Path], folder: Path) -> Path:
    tests = folder / "exchange_tests"  # a test expects this name
    line = [COMPILER, *map(str, objects), "-ldl", "-lpthread", "-o", str(tests)]
    subprocess.run(line, check=True)
    return tests


def run(tests: Path, names: tuple[str, ...]) -> tuple[int, str]:
    words = [EMULATOR, "-L", str(LIBRARIES), str(tests)]
    words += ["--gtest_filter=" + ":".join(f"Guard.{name}" for name in names)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


def emulator_version() -> tuple[int, ...]:
    shown = subprocess.run([EMULATOR, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"version (\d+)\.(\d+)", shown.stdout)
    assert found, shown.stdout
    return tuple(map(int, found.groups()))


def test_the_guard_counts_pages_on_aarch64(tmp_path: Path) -> None:
    for what, there in (
        ("g++-aarch64-linux-gnu", shutil.which(COMPILER)),
        ("qemu-user", shutil.which(EMULATOR)),
        ("libgtest-dev", GTEST.exists()),
    ):
        if not there:
            pytest.skip(f"there is no {what} (apt-get install {what})")
    guard = ROOT / "harness/core/exchange/guard"
    fault = guard / "guard_fault.cpp"
    sources = {*guard.glob("guard*.cpp"), guard / "maps.cpp"}
    sources |= {ROOT / "tests/core/exchange/guard_test.cpp"}
    sources |= {GTEST / "src/gtest-all.cc", GTEST / "src/gtest_main.cc"}
    others = [compile_for_it(source, tmp_path) for source in sorted(sources - {fault})]
    names = READS if emulator_version() < KNOWS_WRITES else READS + WRITES
    status, text = run(link([*others, compile_for_it(fault, tmp_path)], tmp_path), names)
    assert status == 0, text
    assert f"[  PASSED  ] {len(names)} tests." in text
    # Planted: a processor whose registers cannot be read.
    content = fault.read_text()
    assert content.count(CONDITION) == 1
    faulty = tmp_path / "guard_fault.cpp"
    faulty.write_text(content.replace(CONDITION, "#elif 0"))
    status, text = run(link([*others, compile_for_it(faulty, tmp_path)], tmp_path), READS)
    assert status != 0, text
