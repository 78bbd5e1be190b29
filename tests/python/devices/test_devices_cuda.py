"""Whole runs on the simulated drivers of CUDA and ROCm, with errors planted in their calls."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_devices import is_timed_or_too_short, name

import dlbench
import fakes
import whole
from samples import warning_codes

pytestmark = [fakes.needs_fakes, pytest.mark.process]

QUICK = ("--quiet", "--out", "run", "--budget", "10s", *whole.QUICK)


def cells(folder: Path, *words: str, **more: str) -> dict[str, dict[str, Any]]:
    """`more`: what the simulated driver reads; DLBENCH_FAKE_FAIL and the like."""
    environment = fakes.environment(**more)
    status, out, err = whole.run(folder, *words, *QUICK, environment=environment)
    assert "Traceback" not in err
    document = whole.document(folder)
    assert status == whole.status_of(document), out + err
    return whole.entries(document)


@pytest.mark.parametrize("device", ["cuda:0", "rocm:0"])
def test_native_to_native_by_every_way(tmp_path: Path, device: str) -> None:
    ways = ["dlpack", "dlpack_legacy", "dlpack_versioned", "dlpack_c", "cuda_array_interface"]
    found = cells(
        tmp_path,
        *("native", "native", "--devices", device, "--protocols", ",".join(ways)),
        *("--sizes", "4KiB", "--phases", "all"),
    )
    for way in ways:
        here = {
            clock: found[name(protocol=way, device=device, clock=clock)]
            for clock in ("call", "ready", "device")
        }
        for clock, entry in here.items():
            # Both streams are one: nothing is put on it, and the events' own time is subtracted.
            if clock == "device" and entry.get("code") == "below-resolution":
                assert (entry["outcome"], entry["found"]) == ("unsupported", "zero-copy"), way
            else:
                assert entry["outcome"] == "zero-copy", (way, clock)
        assert here["call"]["real_time"] != here["ready"]["real_time"], way
        assert here["call"]["evidence"]["write"] == "yes"
    for phase in ("query", "export"):
        assert found[name(phase, device=device)]["real_time"] > 0
    for phase in ("import", "release"):
        assert is_timed_or_too_short(found[name(phase, device=device)])


def test_pinned_and_managed_memory(tmp_path: Path) -> None:
    cases = "f32-pinned,f32-managed"
    words = ("native", "native", "--devices", "cuda:0,cpu,rocm:0", "--cases", cases)
    found = cells(tmp_path, *words, "--sizes", "64KiB", "--protocols", "dlpack")
    size = 64 << 10
    for case in cases.split(","):
        entry = found[name(device="cuda:0", case=case, size=size)]
        assert entry["outcome"] == "zero-copy"
        assert entry["evidence"]["guard"] == "skipped"
        on_cpu = found[name(device="cpu", case=case, size=size)]
        assert on_cpu["outcome"] == "unsupported"
        assert "needs a device" in on_cpu["reason"]
    managed = found[name(device="rocm:0", case="f32-managed", size=size)]
    assert "DLPack has no device type for such memory of rocm" in managed["reason"]


def test_pairs_beside_the_devices_own_memcpy(tmp_path: Path) -> None:
    words = ("native", "native", "--devices", "cuda:0+cpu,cpu+cuda:0", "--sizes", "4MiB")
    found = cells(tmp_path, *words, "--protocols", "dlpack")
    for device, subject in (("cuda:0+cpu", "producer"), ("cpu+cuda:0", "consumer")):
        entry = found[name(device=device, size=4 << 20)]
        assert (entry["outcome"], entry["copied_by"]) == ("device-copy", subject)
        assert entry["gb_per_s"] > 0
    reported = whole.document(tmp_path)["context"]["dlbench"]["environments"]["default"]
    floors = reported["copy_floors_gb_per_s"]
    for pair in ("cuda:0+cpu", "cpu+cuda:0"):
        for kind in ("pinned", "pageable"):
            assert {f"{pair} {kind}", f"{pair} {kind} {4 << 20}"} <= floors.keys()
    shown = ("show", "run", "native", "native")
    text = whole.run(tmp_path, *shown, environment=fakes.environment())[1]
    assert re.search(r"GB/s \(memcpy pinned [\d.]+, memcpy pageable [\d.]+\)", text)


def test_a_script_makes_the_exchange_again(tmp_path: Path) -> None:
    words = ("native", "native", "--devices", "cuda:0,cuda:0+cpu", "--sizes", "4KiB")
    cells(tmp_path, *words, "--protocols", "dlpack")
    for device, target, shown in (
        ("cuda:0", "cuda:0", "expected: zero-copy\nactual: zero-copy"),
        ("cuda:0+cpu", "cpu", "expected: zero-copy or copy\nactual: copy"),
    ):
        status, script, err = whole.run(tmp_path, "repro", "run", "native", "native", device)
        assert status == 0, err
        assert f"calls('cuda:0', '{target}')" in script
        reported = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=fakes.environment()
        )
        assert reported.returncode == 0, reported.stdout + reported.stderr
        assert shown in reported.stdout


def test_version_2_of_the_interface_names_no_stream(tmp_path: Path) -> None:
    words = ("--matrix", "--producers", "native:interface=2,native", "--consumers", "native")
    way = "cuda_array_interface"
    found = cells(tmp_path, *words, "--devices", "cuda", "--protocols", way, "--sizes", "4KiB")
    for producer in ("native", "native:interface=2"):
        entry = found[name(producer=producer, protocol=way, device="cuda:0")]
        assert entry["outcome"] == "zero-copy"


@pytest.mark.parametrize(
    ("fault", "device", "outcome", "message"),
    [
        ("honest", "cuda:0", "zero-copy", ""),
        ("honest", "cuda:0+cpu", "device-copy", ""),
        ("wrong-device", "cuda:0", "refused", "not device (2, 1)"),
        ("wrong-copy", "cuda:0+cpu", "wrong", "element (0,)"),
    ],
)
def test_a_planted_fault_is_found(
    tmp_path: Path, fault: str, device: str, outcome: str, message: str
) -> None:
    producer = f"faulty:{fault}"
    words = ("--matrix", "--producers", producer, "--consumers", "native", "--devices", device)
    found = cells(tmp_path, *words, "--protocols", "dlpack", "--sizes", "4KiB")
    entry = found[name(producer=producer, device=device)]
    assert entry["outcome"] == outcome, entry
    assert message in entry.get("reason", "")


#: An array that tells its address and no device, and a consumer that leaves its thread without a
#: context.
SHOWN = """
from dlbench import _native_producer

DISTRIBUTION = None
DEVICES = ("cuda",)


class Shown:
    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


def make(case, device):
    return Shown(_native_producer.DeviceArray(case.numpy(), device, memory="device"))
"""
LEAVING = """
import ctypes

from dlbench import _native_consumer

DISTRIBUTION = None
PROTOCOLS = {"cuda_array_interface": _native_consumer.Importer("cpu").from_cuda_array_interface}
DRIVER = ctypes.CDLL("libcuda.so.1")


def function(name, argument):
    found = ctypes.c_void_p()
    DRIVER.cuGetProcAddress(name, ctypes.byref(found), 11040, ctypes.c_uint64(0))
    return ctypes.CFUNCTYPE(ctypes.c_int, argument)(found.value)


def calls(source, target):
    take = _native_consumer.Importer(target).from_cuda_array_interface
    own = ctypes.c_void_p()
    function(b"cuCtxGetCurrent", ctypes.POINTER(ctypes.c_void_p))(ctypes.byref(own))
    set_current = function(b"cuCtxSetCurrent", ctypes.c_void_p)

    def take_and_leave(x):
        set_current(own)
        result = take(x)
        set_current(None)
        return result

    return {"cuda_array_interface": take_and_leave}
"""


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_an_address_is_of_its_device_and_so_is_a_wait(tmp_path: Path, device: str) -> None:
    for role, library, text in (("producers", "shown", SHOWN), ("consumers", "leaving", LEAVING)):
        (tmp_path / "own" / role).mkdir(parents=True)
        (tmp_path / "own" / role / f"{library}.py").write_text(text, encoding="utf-8")
    way = "cuda_array_interface"
    words = ("--adapters", "own", "--matrix", "--producers", "shown", "--devices", device)
    more = ("--consumers", "native,leaving", "--protocols", way, "--sizes", "4KiB")
    found = cells(tmp_path, *words, *more, DLBENCH_FAKE_DEVICES="2")
    for consumer in ("native", "leaving"):
        for clock in ("call", "ready"):
            key = name(
                producer="shown", consumer=consumer, protocol=way, device=device, clock=clock
            )
            entry = found[key]
            assert entry["outcome"] == "zero-copy", entry
            assert not {"disagreement", "contradiction"} & {*warning_codes(entry)}, entry


IGNORING = """
from dlbench import _native_producer as native

DISTRIBUTION = None
DEVICES = ("cpu", "cuda")


def make(case, device):
    return case.numpy() if device == "cpu" else {made}
"""
STATING = """
class Stating:
    def __init__(self, array, device):
        self.array = array
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)


def address(array):
    return array.array.address if isinstance(array, Stating) else None
"""
ON_FIRST = "native.DeviceArray(case.numpy(), 'cuda:0', memory='device')"


@pytest.mark.parametrize(
    ("device", "made", "place"),
    [
        ("cuda:0", "case.numpy()", "its __dlpack_device__() returns (1, 0)"),
        ("cuda:1", ON_FIRST, "its __dlpack_device__() returns (2, 0)"),
        # The driver knows better than the array.
        (
            "cuda:0",
            "Stating(native.Array(case.numpy()), (2, 0))",
            "the driver finds it in host memory",
        ),
        ("cuda:1", f"Stating({ON_FIRST}, (2, 1))", "the driver finds it on cuda:0"),
        ("cuda:0", f"Stating({ON_FIRST}, (2, 1))", ""),
    ],
)
def test_a_library_that_ignores_the_device_has_one_reason(
    tmp_path: Path, device: str, made: str, place: str
) -> None:
    (tmp_path / "own/producers").mkdir(parents=True)
    text = IGNORING.replace("{made}", made) + STATING * made.startswith("Stating")
    (tmp_path / "own/producers/ignoring.py").write_text(text, encoding="utf-8")
    words = ("--adapters", "own", "--matrix", "--producers", "ignoring", "--consumers", "native")
    more = ("--devices", f"cpu,{device}", "--protocols", "dlpack", "--sizes", "4KiB")
    found = cells(tmp_path, *words, *more, DLBENCH_FAKE_DEVICES="2")
    [entry] = [e for e in found.values() if e["device"] == device and e["clock"] == "call"]
    if place:
        assert (entry["outcome"], entry["code"]) == ("no-device", "no-arrays-there")
        assert entry["reason"] == f"ignoring was asked for an array on {device}: {place}"
    else:
        assert entry["outcome"] == "zero-copy"
    cpu = found[name(producer="ignoring", consumer="native", device="cpu")]
    assert cpu["outcome"] == "zero-copy"


@pytest.mark.parametrize(
    ("devices", "call", "place"),
    [
        ("cpu+cuda:0", "np.from_dlpack", "its __dlpack_device__() returns (1, 0)"),
        ("cuda:0+cpu", "native.Importer('cuda:0').from_dlpack", "the driver finds it on cuda:0"),
    ],
)
def test_a_consumer_that_ignores_the_device_has_one_reason(
    tmp_path: Path, devices: str, call: str, place: str
) -> None:
    (tmp_path / "own/consumers").mkdir(parents=True)
    (tmp_path / "own/consumers/ignoring.py").write_text(f"""
import numpy as np
from dlbench import _native_consumer as native

DISTRIBUTION = None
DEVICES = ("cpu", "cuda")
PROTOCOLS = {{"dlpack": {call}}}


def calls(source, target):
    return PROTOCOLS


def address(array):
    return getattr(array, "address", None)
""")
    words = ("--adapters", "own", "--matrix", "--producers", "native", "--consumers", "ignoring")
    more = ("--devices", f"cpu,{devices}", "--protocols", "dlpack", "--sizes", "4KiB")
    found = cells(tmp_path, *words, *more)
    entry = found[name(producer="native", consumer="ignoring", device=devices)]
    assert (entry["outcome"], entry["code"]) == ("no-device", "no-arrays-there")
    target = devices.partition("+")[2]
    assert entry["reason"] == f"ignoring was asked for an array on {target}: {place}"


OUT_OF_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"


@pytest.mark.parametrize(
    ("fails", "outcome", "message"),
    [
        ("cuInit=100", "no-device", "100"),
        ("cuDevicePrimaryCtxRetain=2", "out-of-memory", OUT_OF_MEMORY),
        ("cuMemAlloc=2", "out-of-memory", OUT_OF_MEMORY),
        ("cuStreamCreate=304", "unsupported", "(304)"),
        pytest.param("cuEventCreate=2", "out-of-memory", OUT_OF_MEMORY, marks=pytest.mark.thorough),
        pytest.param("cuEventRecord=700", "refused", "700", marks=pytest.mark.thorough),
        # The first import succeeds; the proxy's does not, and it is not the cause.
        ("cuEventRecord=700@2", "refused", "700"),
        ("cuStreamWaitEvent=700", "refused", "700"),
        pytest.param("cuMemcpyAsync=719", "unsupported", "719", marks=pytest.mark.thorough),
        ("cuStreamSynchronize=719", "unsupported", "719"),
        pytest.param("cuCtxSynchronize=719", "unsupported", "719", marks=pytest.mark.thorough),
        ("cuMemAlloc=-11", "crashed", "SIGSEGV"),
    ],
)
def test_an_error_of_the_driver_is_a_reason_in_its_cells(
    tmp_path: Path, fails: str, outcome: str, message: str
) -> None:
    words = ("native", "native", "--devices", "cpu,cuda:0", "--protocols", "dlpack")
    found = cells(tmp_path, *words, "--sizes", "4KiB", DLBENCH_FAKE_FAIL=fails)
    entry = found[name(device="cuda:0")]
    assert entry["outcome"] == outcome, entry
    assert message in entry["reason"] + entry.get("signal", ""), entry
    # The rest of the run goes on.
    assert found[name(device="cpu")]["outcome"] == "zero-copy"


@pytest.mark.parametrize("library", ["numba", "cuda_core"])
def test_a_real_library_on_the_simulated_driver(tmp_path: Path, library: str) -> None:
    pytest.importorskip({"cuda_core": "cuda.core"}.get(library, library))
    ways = "dlpack,cuda_array_interface,convert"
    words = ("--matrix", "--producers", f"{library},native", "--consumers", f"{library},native")
    found = cells(tmp_path, *words, "--devices", "cuda:0", "--protocols", ways, "--sizes", "4KiB")
    shared = {
        (entry["producer"], entry["consumer"], entry["protocol"])
        for entry in found.values()
        if entry["outcome"] == "zero-copy"
    }
    wanted = {
        "numba": {
            ("native", "numba", "cuda_array_interface"),
            ("numba", "native", "cuda_array_interface"),
            ("numba", "numba", "cuda_array_interface"),
        },
        "cuda_core": {
            ("native", "cuda_core", "dlpack"),
            ("native", "cuda_core", "cuda_array_interface"),
            ("cuda_core", "native", "dlpack"),
            ("cuda_core", "cuda_core", "dlpack"),
        },
    }[library]
    reasons = {name: e.get("reason") for name, e in found.items() if e["outcome"] != "zero-copy"}
    assert wanted <= shared, reasons
    assert not [e for e in found.values() if e["outcome"] in ("crashed", "wrong", "timed-out")]


@pytest.mark.parametrize(("free_mb", "block"), [(128, 16 << 20), (512, 64 << 20)])
def test_copy_floors_copy_as_much_as_the_devices_memory_permits(
    tmp_path: Path, free_mb: int, block: int
) -> None:
    memory = {"DLBENCH_FAKE_CONTEXT_MB": "400", "DLBENCH_FAKE_MEMORY_MB": str(400 + free_mb)}
    words = ("native", "native", "--devices", "cuda:0", "--sizes", "4KiB")
    cells(tmp_path, *words, "--protocols", "dlpack", **memory)
    reported = whole.document(tmp_path)["context"]["dlbench"]["environments"]["default"]
    assert reported["copy_floors_bytes"] == {"cuda:0": block}
    assert reported["copy_floors_gb_per_s"]["cuda:0"] > 0


FLAGGED = """
import ctypes

find = ctypes.CDLL("libcuda.so.1").cuGetProcAddress
for name, given in ((b"cuInit", (0,)), (b"cuDevicePrimaryCtxSetFlags", (0, {flags}))):
    found = ctypes.c_void_p()
    find(name, ctypes.byref(found), 11040, ctypes.c_uint64(0))
    assert ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int] * len(given))(found.value)(*given) == 0
"""


@pytest.mark.parametrize(("flags", "waits"), [(0, "auto"), (4 | 8, "blocking-sync")])
def test_how_the_host_waits_in_a_context_is_recorded(
    tmp_path: Path, flags: int, waits: str
) -> None:
    """A library sets it in its import; 8 is another flag."""
    (tmp_path / "own" / "producers").mkdir(parents=True)
    native = (Path(dlbench.__file__).parent / "producers" / "native.py").read_text()
    text = native + FLAGGED.format(flags=flags)
    (tmp_path / "own" / "producers" / "mine.py").write_text(text)
    words = ("--matrix", "--producers", "mine", "--consumers", "native", "--adapters", "own")
    cells(tmp_path, *words, "--devices", "cuda:0", "--sizes", "4KiB", "--protocols", "dlpack")
    reported = whole.document(tmp_path)["context"]["dlbench"]["environments"]["default"]
    assert reported["context_flags"] == {"cuda:0": waits}


def test_no_more_workers_live_than_fit_into_the_device(tmp_path: Path) -> None:
    """Three contexts fit; six pairs are measured."""
    names = ("one", "two", "three")
    own = Path(dlbench.__file__).parent
    for role in ("producers", "consumers"):
        (tmp_path / "more" / role).mkdir(parents=True)
        for each in names:
            text = (own / role / "native.py").read_text()
            (tmp_path / "more" / role / f"{each}.py").write_text(text)
    status, out, err = whole.run(
        tmp_path,
        *("--matrix", "--producers", ",".join(names), "--consumers", ",".join(names)),
        *("--devices", "cuda:0", "--protocols", "dlpack", "--sizes", "4KiB", *whole.QUICK),
        *("--adapters", "more", "--out", "run"),
        environment=fakes.environment(
            DLBENCH_FAKE_MEMORY_FILE=str(tmp_path / "memory"),
            DLBENCH_FAKE_MEMORY_MB="1350",
            DLBENCH_FAKE_CONTEXT_MB="400",
        ),
    )
    assert status == 0, out + err
    found = whole.entries(whole.document(tmp_path))
    timed = [entry for entry in found.values() if entry["clock"] == "call"]
    assert len(timed) == 9
    assert {entry["outcome"] for entry in timed} == {"zero-copy"}, timed


@pytest.mark.parametrize(("context_mb", "is_full"), [("700", True), ("300", False)])
def test_a_device_that_holds_one_worker_at_a_time_is_reported(
    tmp_path: Path, context_mb: str, *, is_full: bool
) -> None:
    words = ("native", "native", "--devices", "cuda:0", "--protocols", "dlpack")
    found = cells(
        tmp_path,
        *(*words, "--sizes", "4KiB"),
        DLBENCH_FAKE_MEMORY_FILE=str(tmp_path / "memory"),
        DLBENCH_FAKE_MEMORY_MB="1024",
        DLBENCH_FAKE_CONTEXT_MB=context_mb,
    )
    warnings = found[name(device="cuda:0")]["warnings"]
    reported = [each for each in warnings if each["code"] == "one-worker-on-device"]
    assert bool(reported) == is_full, warnings
    assert all("of 1024 MiB are free" in each["text"] for each in reported)
