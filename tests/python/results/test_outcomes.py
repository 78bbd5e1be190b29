"""The outcomes between each library and NumPy or native, compared with a table."""

from __future__ import annotations

import ctypes.util
import importlib.util
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import dlbench
import fakes
from dlbench import adapter
from dlbench.libraries import facts
from fakes import needs_fakes
from outcomes import CONDITIONAL, OUTCOMES
from samples import warning_codes
from whole import QUICK, left_alive, run
from wire import F32, prepare, send_request

PACKAGE = Path(dlbench.__file__).parent
pytestmark = [pytest.mark.libraries, pytest.mark.process]


def file_of(role: str, name: str) -> Path:
    return PACKAGE / f"{role}s" / f"{name}.py"


def load(role: str, name: str) -> dict[str, Any]:
    return {"do": "load", "role": role, "library": name, "path": str(file_of(role, name))}


def word(answer: dict[str, Any]) -> str:
    """An outcome with what it changed, or what was raised."""
    if "error" in answer:
        error = answer["error"]
        assert error["reason"]
        return f"{error['outcome']} {error['exception']}".strip()
    ok = answer["ok"]
    # What stands beside a number of these is no failure to look.
    if ok["outcome"] != "unproven":
        assert not [code for code in warning_codes(ok) if "-not-c" in code], ok["warnings"]
    return " ".join([ok["outcome"], *ok["changed"]])


def outcomes(folder: Path, library: str, other: str) -> dict[str, dict[str, str]]:
    """The words of all protocols, both ways, of two libraries in one worker."""
    files = [(role, name) for name in (library, other) for role in ("producer", "consumer")]
    requests = [load(role, name) for role, name in files if file_of(role, name).exists()]
    loads, requested = len(requests), []
    for way, producer, consumer in (("to", library, other), ("from", other, library)):
        path = file_of("consumer", consumer)
        if not path.exists():
            continue
        protocols = facts.read_adapter("consumer", consumer, path).protocols
        for protocol in sorted({*protocols} - {"call"}):  # it imports no array
            requested.append((f"{way} {other}", protocol))
            requests.append(prepare(len(requested), producer, consumer, protocol, F32))
    answers = send_request(folder, *requests)
    for answer in answers[:loads]:
        assert "ok" in answer, answer
    found: dict[str, dict[str, str]] = {f"{way} {other}": {} for way in ("to", "from")}
    for (way, protocol), answer in zip(requested, answers[loads:], strict=True):
        if word(answer) != "no-protocol":
            found[way][protocol] = word(answer)
    return found


def check(folder: Path, library: str, expected: dict[str, dict[str, str]], aside: str = "") -> None:
    """`aside` is a protocol whose outcome hangs on the machine's drivers."""
    for other in ("numpy", "native"):
        found = outcomes(folder, library, other)
        for way, words in found.items():
            words.pop(aside, None)
            assert words == expected.get(way, {}), f"{library} {way}"


@pytest.mark.parametrize("library", sorted(OUTCOMES))
def test_a_library_with_numpy_and_native(tmp_path: Path, library: str) -> None:
    check(tmp_path, library, OUTCOMES[library])


def test_cuda_core_needs_cuda_bindings(tmp_path: Path) -> None:
    if importlib.util.find_spec("cuda.bindings") is not None:
        check(tmp_path, "cuda_core", CONDITIONAL["cuda_core"], aside="array_interface")
        return
    error = send_request(tmp_path, load("producer", "cuda_core"))[0]["error"]
    assert (error["outcome"], error["exception"]) == ("import-failed", "ImportError")
    assert "bindings" in error["reason"]


@pytest.mark.skipif(shutil.which(adapter.clang()) is None, reason="there is no clang")
def test_tinygrad_with_a_clang(tmp_path: Path) -> None:
    check(tmp_path, "tinygrad", CONDITIONAL["tinygrad"])


def test_tinygrad_without_a_clang_has_no_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-clang")
    # What it has compiled once it never compiles again.
    monkeypatch.setenv("CACHEDB", str(tmp_path / "cache.db"))
    error = send_request(tmp_path, load("producer", "tinygrad"))[0]["error"]
    assert error["outcome"] == "no-device"
    assert "no-such-clang" in error["reason"]


needs_no_gpu = pytest.mark.skipif(
    ctypes.util.find_library("cuda") is not None, reason="there is a CUDA driver"
)


NO_DRIVER = "libcuda.so.1 not found"


@needs_no_gpu
def test_cupy_without_a_gpu_says_so_itself(tmp_path: Path) -> None:
    options = ("--devices", "cpu,cuda:0", "--sizes", "4KiB", *QUICK, "--out", "out")
    status, _, err = run(tmp_path, "numpy", "cupy", *options)
    assert status == 2, err
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    cells = {
        (cell["producer"], cell["consumer"], cell["device"], cell["protocol"]): cell
        for cell in document["not_measured"]
    }
    # Where a machine lacks the device itself no worker is asked: the reason is its driver's state.
    there = cells["cupy", "numpy", "cuda:0", "dlpack"]
    assert (there["outcome"], there["reason"]) == ("no-device", f"cuda: no-library: {NO_DRIVER}")
    assert "exception" not in there
    devices = document["context"]["dlbench"]["machine"]["devices"]
    assert {"name": "cuda", "state": "no-library", "message": NO_DRIVER} in devices
    for cell in (
        cells["numpy", "cupy", "cpu", "dlpack"],
        cells["numpy", "cupy", "cpu", "convert"],
    ):
        assert cell["outcome"] == "no-device"
        assert cell["exception"] == "CUDARuntimeError"
        assert re.fullmatch(r"cudaError\w+: \S.*", cell["reason"]), cell["reason"]
    none = cells["cupy", "numpy", "cpu", "dlpack"]
    assert none["outcome"] == "no-device"
    assert none["reason"] == "cupy has no arrays on cpu; its devices: cuda, rocm"


@needs_no_gpu
def test_numbas_device_arrays_want_a_device(tmp_path: Path) -> None:
    there = prepare(1, "numba", "numpy", "dlpack", F32)
    there["exchange"]["device"] = "cuda:0"
    error = send_request(tmp_path, load("producer", "numba"), load("consumer", "numpy"), there)[-1][
        "error"
    ]
    assert (error["outcome"], error["exception"]) == ("no-device", "")
    assert error["reason"] == f"cuda: no-library: {NO_DRIVER}"


@needs_fakes
def test_numba_says_itself_that_it_has_no_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver has one: what the library says is the reason."""
    for name, value in fakes.environment(NUMBA_DISABLE_CUDA="1").items():
        monkeypatch.setenv(name, value)
    there = prepare(1, "numba", "numpy", "cuda_array_interface", F32)
    there["exchange"]["device"] = "cuda:0"
    error = send_request(tmp_path, load("producer", "numba"), load("consumer", "numpy"), there)[-1][
        "error"
    ]
    assert (error["outcome"], error["exception"]) == ("no-device", "CudaSupportError")
    assert "Error at driver init: CUDA is disabled due to setting" in error["reason"]


def test_mpi_leaves_no_process_behind(tmp_path: Path) -> None:
    before = set(Path("/dev/shm").iterdir())
    options = ("--protocols", "buffer,convert", "--sizes", "4KiB", "--budget", "1s", *QUICK)
    status, _, err = run(tmp_path, "mpi4py", "numpy", *options)
    assert status == 0, err
    assert left_alive(tmp_path) == []
    assert set(Path("/dev/shm").iterdir()) <= before
