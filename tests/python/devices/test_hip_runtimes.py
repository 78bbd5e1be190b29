"""The choice of the HIP runtime of a process, with copies of the fake one in the places of
wheels."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fakes
import whole
from samples import warning_codes

pytestmark = [fakes.needs_fakes, pytest.mark.process]

OPEN = """
import ctypes, json, sys
for path in sys.argv[1:]:
    ctypes.CDLL(path)
from dlbench import _device
print(json.dumps([*_device.backend("rocm"), _device.about("rocm")[0]]))
"""


def install(folder: Path, *names: str) -> Path:
    """The fake runtime under each of these names; the first one's path."""
    assert fakes.FOLDER is not None
    folder.mkdir(parents=True)
    for name in names:
        shutil.copy(fakes.FOLDER / "libamdhip64.so.6", folder / name)
    return folder / names[0]


def without_system(folder: Path) -> dict[str, str]:
    """An environment in which the loader can load no runtime, whatever is installed here: it finds
    files that are no libraries first."""
    folder.mkdir()
    for ending in (".7", ".6", ".5", ""):
        (folder / f"libamdhip64.so{ending}").write_text("no library")
    return {**os.environ, "LD_LIBRARY_PATH": str(folder)}


def opened(
    *loaded: Path, packages: Path | None = None, environment: dict[str, str] | None = None
) -> tuple[str, str, str]:
    """The backend's state, message and file, in a process that has loaded these files."""
    environment = environment or fakes.environment()
    if packages is not None:
        environment["PYTHONPATH"] = str(packages)
    words = [sys.executable, "-c", OPEN, *map(str, loaded)]
    ended = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    state, message, _, path = json.loads(ended.stdout)
    return state, message, path


@pytest.mark.parametrize(
    "part", ["torch/lib/libamdhip64.so", "_rocm_sdk_core/lib/libamdhip64.so.7"]
)
def test_a_wheels_runtime_serves_where_the_loader_has_none(tmp_path: Path, part: str) -> None:
    environment = without_system(tmp_path / "no libraries")
    runtime = install((tmp_path / part).parent, Path(part).name)
    state, message, _ = opened(environment=environment)
    assert (state, "file too short" in message) == ("failed", True)
    assert opened(environment=environment, packages=tmp_path) == ("ok", "", str(runtime))


def test_the_loaders_runtime_comes_before_one_of_a_wheel_that_is_not_loaded(tmp_path: Path) -> None:
    install(tmp_path / "torch/lib", "libamdhip64.so")
    state, _, path = opened(packages=tmp_path)
    assert (state, Path(path).parent) == ("ok", fakes.FOLDER)


def test_a_wheels_runtime_that_is_loaded_comes_before_the_loaders(tmp_path: Path) -> None:
    runtime = install(tmp_path / "torch/lib", "libamdhip64.so")
    assert opened(runtime, packages=tmp_path) == ("ok", "", str(runtime))


def test_two_runtimes_in_a_process_are_refused_by_their_paths(tmp_path: Path) -> None:
    of_torch = install(tmp_path / "torch/lib", "libamdhip64.so")
    of_system = install(tmp_path / "rocm/lib", "libamdhip64.so.6")
    state, message, _ = opened(of_torch, of_system, packages=tmp_path)
    assert state == "failed"
    assert f"{of_torch} and {of_system}" in message


ROOT = Path(__file__).parents[3]
ROLES = ("producers", "consumers")
RUN = ("--devices", "rocm:0", "--sizes", "4KiB", "--quiet", *whole.QUICK, "--out", "run")


def test_a_run_needs_no_other_runtime_and_compiler_than_a_wheels(tmp_path: Path) -> None:
    environment = without_system(tmp_path / "no libraries")
    (tmp_path / "no libraries/libhiprtc.so.6").write_text("no library")
    environment |= {"PYTHONPATH": str(tmp_path), "DLBENCH_FAKE_QUEUES": "0"}
    install(tmp_path / "torch/lib", "libamdhip64.so")
    shutil.copy(fakes.FOLDER / "libhiprtc.so.6", tmp_path / "torch/lib/libhiprtc.so")  # type: ignore[operator]
    words = ("native", "native", *RUN, "--sync")
    status, out, err = whole.run(tmp_path, *words, environment=environment)
    assert status == 0, out + err
    entry = next(e for e in whole.entries(whole.document(tmp_path)).values() if "sync" in e)
    assert entry["outcome"] == "zero-copy"
    # The kernel that keeps the producer busy is what the compiler is for.
    assert "sync-failed" not in warning_codes(entry)
    assert {"own", None, -1} <= {trial["stream"] for trial in entry["sync"]}


def libraries_with_runtimes(tmp_path: Path) -> dict[str, Path]:
    """Adapters in the folder `more`, copies of the native one, that load a runtime each."""
    runtimes = {name: install(tmp_path / name, "libamdhip64.so.6") for name in ("one", "other")}
    for name, path in runtimes.items():
        load = f"import ctypes\nctypes.CDLL({str(path)!r})\n"
        make, take = (load + (ROOT / role / "native.py").read_text() for role in ROLES)
        whole.plant(tmp_path / "more", name, make=make, take=take)
    return runtimes


def test_libraries_with_runtimes_of_their_own_are_measured_in_workers_of_their_own(
    tmp_path: Path,
) -> None:
    runtimes = libraries_with_runtimes(tmp_path)
    names = "one,other,native"
    words = ("--matrix", "--producers", names, "--consumers", names, "--adapters", "more")
    devices = ("--devices", "cpu,rocm:0", *RUN[2:])
    status, out, err = whole.run(tmp_path, *words, *devices, environment=fakes.environment())
    assert status == 0, out + err
    document = whole.document(tmp_path)
    seconds = document["context"]["dlbench"]["environments"]["default"]["import_seconds"]
    assert set(seconds) == set(names.split(","))
    assert all(value > 0 for value in seconds.values())
    entries = whole.entries(document).values()
    reasons = {
        (e["producer"], e["consumer"], e["device"]): e["reason"]
        for e in entries
        if e["outcome"] == "no-device"
    }
    assert set(reasons) == {("one", "other", "rocm:0"), ("other", "one", "rocm:0")}
    for reason in reasons.values():
        assert reason.startswith("rocm: failed: this process has loaded more than one libamdhip64")
        assert all(str(path) in reason for path in runtimes.values())
    measured = {(e["producer"], e["consumer"], e["device"]) for e in entries if "real_time" in e}
    every = set(itertools.product(names.split(","), names.split(","), ("cpu", "rocm:0")))
    assert measured == every - set(reasons)


def test_a_pair_with_two_runtimes_is_not_measured(tmp_path: Path) -> None:
    runtimes = libraries_with_runtimes(tmp_path)
    words = ("one", "other", *RUN, "--adapters", "more")
    status, out, err = whole.run(tmp_path, *words, environment=fakes.environment())
    assert (status, out) == (2, "")
    both = f"{runtimes['one']} and {runtimes['other']}"
    assert f"rocm: failed: this process has loaded more than one libamdhip64: {both}" in err
