"""`--trace-api`: the CUDA calls of an exchange, on the fake driver and a CUPTI built here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import fakes as fakes_of_drivers
import ranges
import whole
from samples import warning_texts

RENAMED = "libcudart-1a2b3c4d.so.13"  #: as wheels name what they bring
KINDS = ("memcpy", "memset", "alloc", "free", "event", "query", "wait", "sync", "launch")
NONE = dict.fromkeys(KINDS, 0)
MORE = ("--protocols", "dlpack", "--sizes", "4KiB", "--replicas", "1", "--no-plots", "--quiet")

# Its export waits for the device, and says nothing of it.
WAITING = """
import ctypes
import numpy as np

DISTRIBUTION = None
driver = ctypes.CDLL("libcalls.so")


class Waiting:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **wanted):
        driver.cuCtxGetDevice()
        driver.CALL()
        return self.array.__dlpack__(**wanted)


def make(case, device):
    return Waiting(case.numpy())


def address(array):
    return array.array.ctypes.data


def values(array):
    return array.array
"""
# Its import allocates, copies, records an event, and launches; its twins are those of a program
# with a default stream for each thread.
COPYING = """
import ctypes
import numpy as np

DISTRIBUTION = None
driver = ctypes.CDLL("libcalls.so")


def take(x):
    driver.cuMemAlloc_v2()
    driver.cuMemcpyAsync_ptsz()
    driver.cuMemcpyAsync()
    driver.cuEventRecord_ptsz()
    driver.cuStreamWaitEvent()
    driver.cuLaunchKernel_ptsz()
    driver.cuMemFree_v2()
    return np.from_dlpack(x)


PROTOCOLS = {"dlpack": take}
"""
# A library of its own that waits, through whatever driver there is.
CORE = WAITING.replace(
    'driver = ctypes.CDLL("libcalls.so")',
    "from cuda.core import Device\nDevice(0).set_current()\nstream = Device(0).create_stream()",
).replace("        driver.cuCtxGetDevice()\n        driver.CALL()\n", "        stream.sync()\n")
# Loads a CUDA runtime, as CuPy does, and exchanges without it.
RUNTIME = """
import ctypes
import numpy as np

DISTRIBUTION = None
runtime = ctypes.CDLL("libcudart.so.13")


def take(x):
    return np.from_dlpack(x)


PROTOCOLS = {"dlpack": take}
"""
# Makes its array without a call that CUPTI reports, as with a runtime of its own.
UNSEEN = """
from dlbench import _native_producer

DISTRIBUTION = None
DEVICES = ("cuda",)
MADE = {}


def make(case, device):
    if case.name not in MADE:
        MADE[case.name] = _native_producer.DeviceArray(case.numpy(), device)
    return MADE[case.name]
"""
# Leaves no memory on the first device.
GREEDY = """
import numpy as np
from dlbench import _native_producer

DISTRIBUTION = None
DEVICES = ("cuda",)
KEPT = []
for numbers in (1 << 20, 1 << 9):
    try:
        while True:
            KEPT.append(_native_producer.DeviceArray(np.zeros(numbers), "cuda:0"))
    except Exception:
        pass


def make(case, device):
    return _native_producer.DeviceArray(case.numpy(), device)
"""
LAUNCHING = COPYING.replace("    driver.cuMemcpyAsync_ptsz()\n    driver.cuMemcpyAsync()\n", "")
COPIED = NONE | {"alloc": 1, "memcpy": 2, "event": 1, "wait": 1, "launch": 1, "free": 1}


pytestmark = [fakes_of_drivers.needs_fakes, pytest.mark.process]


@pytest.fixture(scope="session")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cuda")
    # The calls alone, without arguments: what an adapter here calls beside the driver.
    ranges.build("driver.cpp", folder / "calls/libcalls.so")
    ranges.build("driver.cpp", folder / "driver/libcuda.so.1")
    ranges.build("cudart.cpp", folder / "calls/libcudart.so.13")
    ranges.build("cudart.cpp", folder / f"calls/{RENAMED}")
    ranges.build("cupti.cpp", folder / "cupti/libcupti.so.13")
    ranges.build("cupti.cpp", folder / "older/libcupti.so.12", "-DWITHOUT_NAMES")
    return folder


@pytest.fixture
def cuda(fakes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{fakes_of_drivers.FOLDER}:{fakes}/calls:{fakes}/cupti")
    return fakes


def measure(folder: Path, *words: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The measured cells of a run with --trace-api, by producer and consumer."""
    whole.plant(folder / "more", "waiting", make=WAITING.replace("CALL", "cuStreamSynchronize"))
    whole.plant(folder / "more", "copying", take=COPYING)
    argv = ("--matrix", *words, *MORE, "--adapters", "more", "--trace-api", "--out", "run")
    status, _, err = whole.run(folder, *argv)
    assert (status, err) == (0, "")
    timed = [e for e in whole.document(folder)["benchmarks"] if e["clock"] == "call"]
    return {(e["producer"], e["consumer"]): e for e in timed}


def message(entry: dict[str, Any]) -> str:
    """Why its calls were not counted."""
    (warning,) = [text for text in warning_texts(entry) if text.startswith("API calls: ")]
    assert "api_calls" not in entry
    return str(warning)


def test_the_calls_of_an_exchange_by_kind_and_phase(
    tmp_path: Path, cuda: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = "numpy,waiting,copying"
    entries = measure(tmp_path, "--producers", both, "--consumers", both)
    honest = entries["numpy", "numpy"]["api_calls"]
    assert {kind: honest[kind] for kind in KINDS} == NONE
    assert all(counts == NONE for counts in honest["phases"].values())
    # The planted wait is found, in the phase that hides it.
    waiting = entries["waiting", "numpy"]["api_calls"]
    assert {kind: waiting[kind] for kind in KINDS} == NONE | {"sync": 1}
    assert waiting["phases"]["export"] == NONE | {"sync": 1}
    assert all(waiting["phases"][phase] == NONE for phase in ("query", "import", "release"))
    copying = entries["numpy", "copying"]["api_calls"]
    assert {kind: copying[kind] for kind in KINDS} == COPIED
    assert copying["phases"]["import"] == COPIED
    assert copying["phases"]["export"] == NONE
    both_of = entries["waiting", "copying"]["api_calls"]
    assert {kind: both_of[kind] for kind in KINDS} == COPIED | {"sync": 1}
    status, out, _ = whole.run(tmp_path, "show", "run", "waiting", "numpy")
    assert status == 0
    assert re.search(r"CUDA calls +1 sync \(export: 1 sync\)", out)
    status, out, _ = whole.run(tmp_path, "show", "run", "numpy", "numpy")
    assert re.search("CUDA calls +none", out)
    monkeypatch.setenv("COLUMNS", "200")
    status, out, _ = whole.run(tmp_path, "show", "run")
    (sync,) = [line for line in out.splitlines() if line.startswith("hidden sync")]
    assert "the host waits for a device: waiting -> " in sync
    assert "numpy -> numpy" not in sync
    (copy,) = [line for line in out.splitlines() if line.startswith("hidden copy")]
    assert "-> copying" in copy
    assert "hidden kernel" not in out


def test_a_kernel_in_a_zero_copy_exchange_is_a_finding(
    tmp_path: Path, cuda: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole.plant(tmp_path / "more", "launching", take=LAUNCHING)
    entries = measure(tmp_path, "--producers", "numpy", "--consumers", "launching,numpy")
    counted = entries["numpy", "launching"]["api_calls"]
    assert (counted["launch"], counted["memcpy"]) == (1, 0)
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = whole.run(tmp_path, "show", "run")
    (kernel,) = [line for line in out.splitlines() if line.startswith("hidden kernel")]
    assert "zero-copy on the host, but a kernel runs, which may copy: numpy -> launching" in kernel
    assert "hidden copy" not in out


@pytest.mark.parametrize(
    ("deaf", "reason"),
    [
        ("", ""),
        ("cupti", "API calls: CUPTI did not report a known copy through the driver"),
        ("cudart", "API calls: CUPTI did not report a known copy through .*/libcudart.so.13"),
        ("renamed", f"API calls: CUPTI did not report a known copy through .*/{RENAMED}"),
    ],
)
def test_a_count_that_misses_a_known_copy_is_not_given(
    tmp_path: Path, cuda: Path, monkeypatch: pytest.MonkeyPatch, deaf: str, reason: str
) -> None:
    """No call is not the same as no call that was seen."""
    name = RENAMED if deaf == "renamed" else "libcudart.so.13"
    whole.plant(tmp_path / "more", "runtime", take=RUNTIME.replace("libcudart.so.13", name))
    monkeypatch.setenv("DLBENCH_FAKE_CUPTI", "deaf" if deaf == "cupti" else "")
    monkeypatch.setenv("DLBENCH_FAKE_CUDART", "deaf" if deaf in ("cudart", "renamed") else "")
    entries = measure(tmp_path, "--producers", "numpy", "--consumers", "runtime")
    entry = entries["numpy", "runtime"]
    if not reason:
        assert {kind: entry["api_calls"][kind] for kind in KINDS} == NONE
        return
    assert re.fullmatch(reason, message(entry))
    assert "CUDA calls" not in whole.run(tmp_path, "show", "run", "numpy", "runtime")[1]


def test_a_library_whose_calls_are_not_seen_has_no_count(tmp_path: Path, cuda: Path) -> None:
    whole.plant(tmp_path / "more", "unseen", make=UNSEEN)
    words = ("--producers", "unseen,native", "--consumers", "native", "--devices", "cuda:0")
    entries = measure(tmp_path, *words)
    assert message(entries["unseen", "native"]).startswith(
        "API calls: CUPTI reported no call while unseen made an array on cuda:0"
    )
    assert "api_calls" in entries["native", "native"]


def test_the_known_copy_is_made_on_the_measured_device(
    tmp_path: Path, cuda: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole.plant(tmp_path / "more", "greedy", make=GREEDY)
    monkeypatch.setenv("DLBENCH_FAKE_DEVICES", "2")
    monkeypatch.setenv("DLBENCH_FAKE_MEMORY_MB", "500")
    words = ("--producers", "greedy", "--consumers", "native")
    on_other = measure(tmp_path, *words, "--devices", "cuda:1")["greedy", "native"]
    assert "api_calls" in on_other, on_other["warnings"]


@pytest.mark.parametrize(
    ("memory", "case"),
    [
        ("device", "f32-empty"),
        pytest.param("managed", "f32", marks=pytest.mark.thorough),
        pytest.param("pinned", "f32", marks=pytest.mark.thorough),
    ],
)
def test_an_array_that_needs_no_call_does_not_stop_the_counts(
    tmp_path: Path, cuda: Path, memory: str, case: str
) -> None:
    """Without elements nothing is copied; the host writes managed and pinned memory itself."""
    make = UNSEEN.replace("device)\n    return", f'device, memory="{memory}")\n    return')
    assert make != UNSEEN
    whole.plant(tmp_path / "more", "unseen", make=make)
    words = ("--producers", "unseen", "--consumers", "native", "--devices", "cuda:0")
    entries = measure(tmp_path, *words, "--cases", case)
    assert "api_calls" in entries["unseen", "native"], entries["unseen", "native"]["warnings"]


def test_without_a_device_nothing_is_counted(
    tmp_path: Path, cuda: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DLBENCH_FAKE_DEVICES", "0")
    (entry,) = measure(tmp_path, "--producers", "numpy", "--consumers", "numpy").values()
    assert message(entry).startswith(
        "API calls: the counts cannot be checked with a known copy: cuda: "
    )


@pytest.mark.parametrize(
    "call", ["cuStreamSynchronize_ptsz", "cuEventSynchronize", "cuCtxSynchronize"]
)
def test_every_way_to_wait_is_found(tmp_path: Path, cuda: Path, call: str) -> None:
    whole.plant(tmp_path / "more", "other", make=WAITING.replace("CALL", call))
    entries = measure(tmp_path, "--producers", "other", "--consumers", "numpy")
    assert entries["other", "numpy"]["api_calls"]["sync"] == 1


@pytest.mark.libraries
def test_a_library_that_waits_on_the_simulated_device_is_found(
    tmp_path: Path, fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{fakes_of_drivers.FOLDER}:{fakes}/cupti")
    whole.plant(tmp_path / "more", "core", make=CORE)
    entries = measure(tmp_path, "--producers", "core", "--consumers", "numpy")
    counted = entries["core", "numpy"]["api_calls"]
    assert {kind: counted[kind] for kind in KINDS} == NONE | {"sync": 1}
    assert counted["phases"]["export"]["sync"] == 1


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("taken", "API calls: CUPTI is in use by Nsight Systems; run without that tool"),
        ("broken", "API calls: CUPTI does not start: CUPTI_ERROR_UNKNOWN (999)"),
    ],
)
def test_a_cupti_that_cannot_be_had_is_named(
    tmp_path: Path, cuda: Path, monkeypatch: pytest.MonkeyPatch, how: str, reason: str
) -> None:
    monkeypatch.setenv("DLBENCH_FAKE_CUPTI", how)
    entries = measure(tmp_path, "--producers", "numpy", "--consumers", "numpy,native")
    assert {message(entry) for entry in entries.values()} == {reason}
    assert len(entries) == 2
    monkeypatch.setenv("COLUMNS", "200")
    shown = whole.run(tmp_path, "show", "run")[1]
    assert f"2 cells: {reason}" in shown
    assert "hidden" not in shown


def test_an_older_cupti_does_not_report_its_owner(
    tmp_path: Path, fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{fakes}/driver")
    monkeypatch.setenv("DLBENCH_CUPTI", f"{fakes}/older/libcupti.so.12")
    monkeypatch.setenv("DLBENCH_FAKE_CUPTI", "taken")
    (entry,) = measure(tmp_path, "--producers", "numpy", "--consumers", "numpy").values()
    assert message(entry) == "API calls: CUPTI is in use by another tool; run without that tool"


def test_without_a_driver_or_without_cupti_it_says_which(
    tmp_path: Path, fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DLBENCH_CUPTI", str(tmp_path / "none.so"))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{fakes}/driver")
    (entry,) = measure(tmp_path, "--producers", "numpy", "--consumers", "numpy").values()
    assert message(entry) == f"API calls: no CUPTI: none of these can be loaded: {tmp_path}/none.so"
    resumed = ("--resume", "run", "--adapters", "more", "--quiet", "--no-plots")
    assert whole.run(tmp_path, *resumed)[0] == 0
    # A failed count is not repeated, as with instructions.
    (entry,) = whole.document(tmp_path)["benchmarks"]
    assert message(entry).startswith("API calls: no CUPTI")


def test_a_measuring_run_never_holds_cupti(
    tmp_path: Path, cuda: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts and times are of different processes: without --trace-api CUPTI is not loaded."""
    looking = "DISTRIBUTION = None\nimport numpy as np\ndef take(x):\n"
    looking += "    assert 'libcupti' not in open('/proc/self/maps').read()\n"
    looking += "    return np.from_dlpack(x)\nPROTOCOLS = {'dlpack': take}\n"
    whole.plant(tmp_path / "more", "looking", take=looking)
    entries = measure(tmp_path, "--producers", "numpy", "--consumers", "looking")
    # Its own call fails only where it is counted: the time stands, and the word beside it.
    assert entries["numpy", "looking"]["real_time"] > 0
    assert "AssertionError" in message(entries["numpy", "looking"])


def test_a_profiled_cell_is_what_a_cuda_profiler_is_reported_to_capture(
    tmp_path: Path, fakes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{fakes}/driver:{fakes}/calls:{fakes}/cupti")
    log = tmp_path / "driver"
    monkeypatch.setenv("DLBENCH_DRIVER_LOG", str(log))
    make = WAITING.replace("CALL", "cuStreamSynchronize").replace("libcalls.so", "libcuda.so.1")
    whole.plant(tmp_path / "more", "waiting", make=make)
    words = ("--producers", "waiting", "--consumers", "numpy,native", "--adapters", "more")
    more = ("--protocols", "dlpack", "--sizes", "4KiB", "--profile", "--quiet")
    assert whole.run(tmp_path, "--matrix", *words, *more)[0] == 0
    assert log.read_text().split() == ["start", "stop"] * 2
