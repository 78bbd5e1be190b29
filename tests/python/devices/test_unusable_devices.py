"""A device that cannot be used: one reason for its cells, with the driver's word, while the CPU's
cells are measured."""

from __future__ import annotations

from ctypes.util import find_library
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import fakes
import whole

pytestmark = [fakes.needs_fakes, pytest.mark.process]

WORDS = ("--matrix", "--producers", "native,numpy", "--consumers", "native,numpy")


class Case(NamedTuple):
    """What is planted in the fake driver's environment, and what the cells of a device become."""

    planted: dict[str, str]
    outcome: str
    reason: str
    device: str = "cuda:0"


def hidden_by(variable: str, value: str, device: str = "cuda:0") -> Case:
    first = {
        "cuda:0": "cuda: no-device: cuInit: CUDA_ERROR_NO_DEVICE (100)",
        "rocm:0": "rocm: no-device: hipGetDeviceCount: hipErrorNoDevice (100)",
    }[device]
    return Case({variable: value}, "no-device", f"{first}; {variable}='{value}'", device)


def failing(faults: str, **more: str) -> dict[str, str]:
    return {"DLBENCH_FAKE_FAIL": faults, **more}


UNAVAILABLE = "cuda: context: CUDA_ERROR_DEVICE_UNAVAILABLE (46)"
CASES = {
    "old-library": Case(failing("cuGetProcAddress=500@4"), "no-device", "older than CUDA 11.4"),
    "old-driver": Case(
        failing("cuInit=35"),
        "no-device",
        "cuda: no-driver: cuInit: CUDA_ERROR_INSUFFICIENT_DRIVER (35)",
    ),
    "stub": Case(
        failing("*=34"),
        "no-device",
        "cuda: stub: cuGetProcAddress: CUDA_ERROR_STUB_LIBRARY (34)",
    ),
    "busy": Case(failing("cuDevicePrimaryCtxRetain=46"), "no-device", UNAVAILABLE),
    "exclusive-process": Case(
        failing("cuDevicePrimaryCtxRetain=46", DLBENCH_FAKE_MODE="3"), "no-device", UNAVAILABLE
    ),
    "prohibited": Case({"DLBENCH_FAKE_MODE": "2"}, "no-device", UNAVAILABLE),
    "no-memory-for-a-context": Case(
        failing("cuDevicePrimaryCtxRetain=2"),
        "out-of-memory",
        "cuda: context: CUDA_ERROR_OUT_OF_MEMORY (2)",
    ),
    "no-memory-for-an-array": Case(
        failing("cuMemAlloc=2"),
        "out-of-memory",
        "native cannot make the array: MemoryError: cuda: memory: CUDA_ERROR_OUT_OF_MEMORY (2)",
    ),
    "operating-system": Case(
        failing("cuInit=304"),
        "no-device",
        "cuda: failed: cuInit: CUDA_ERROR_OPERATING_SYSTEM (304)",
    ),
    "operating-system-in-a-context": Case(
        failing("cuDevicePrimaryCtxRetain=304"),
        "no-device",
        "cuda: context: CUDA_ERROR_OPERATING_SYSTEM (304)",
    ),
    "hidden": hidden_by("CUDA_VISIBLE_DEVICES", ""),
    "unknown-number": hidden_by("CUDA_VISIBLE_DEVICES", "7"),
    "unknown-mig-name": hidden_by("CUDA_VISIBLE_DEVICES", "MIG-a1"),
    "hidden-by-rocr": hidden_by("ROCR_VISIBLE_DEVICES", "", "rocm:0"),
    "unknown-number-for-rocr": hidden_by("ROCR_VISIBLE_DEVICES", "7", "rocm:0"),
    "unknown-number-for-hip": hidden_by("HIP_VISIBLE_DEVICES", "7", "rocm:0"),
    # HIP reads CUDA's variable where its own is not set.
    "unknown-number-of-cuda-for-hip": hidden_by("CUDA_VISIBLE_DEVICES", "7", "rocm:0"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_its_cells_have_one_reason_and_the_cpus_are_measured(tmp_path: Path, case: Case) -> None:
    status, out, err = whole.run(
        tmp_path,
        *(*WORDS, "--devices", f"cpu,{case.device}", "--protocols", "dlpack", "--sizes", "4KiB"),
        *("--out", "run", "--budget", "20s", *whole.QUICK),
        environment={**fakes.environment(**case.planted), "COLUMNS": "250"},
    )
    assert status == 0, out + err
    found = list(whole.entries(whole.document(tmp_path)).values())
    # NumPy has no arrays on a GPU: where there is one, that is its cells' reason.
    its = [e for e in found if (e["device"], e["producer"]) == (case.device, "native")]
    assert {e["outcome"] for e in its} == {case.outcome}, its
    [reason] = {e["reason"] for e in its}
    assert case.reason in reason
    assert sum(case.reason in line for line in out.splitlines()) == 1, out
    on_cpu = [e for e in found if e["device"] == "cpu"]
    assert len(on_cpu) == 4
    assert {e["outcome"] for e in on_cpu} == {"zero-copy"}


def measure_on(
    folder: Path, device: str, consumers: str = "native,numpy", **planted: str
) -> dict[tuple[str, str, str], Any]:
    """The cells of the clock `call` by device, producer and consumer."""
    status, out, err = whole.run(
        folder,
        *("--matrix", "--producers", "native,numpy", "--consumers", consumers),
        *("--devices", f"cpu,{device}", "--protocols", "dlpack", "--sizes", "4KiB"),
        *("--out", "run", "--budget", "20s", "--replicas", "3", "--no-plots"),
        environment=fakes.environment(**planted),
    )
    assert status == 0, out + err
    found = whole.entries(whole.document(folder)).values()
    calls = [entry for entry in found if entry["clock"] == "call"]
    return {(entry["device"], entry["producer"], entry["consumer"]): entry for entry in calls}


@pytest.mark.parametrize("device", ["cuda:0", "rocm:0"])
def test_a_device_that_is_lost_is_one_reason(tmp_path: Path, device: str) -> None:
    lost = {"DLBENCH_FAKE_LOST": f"{tmp_path / 'lost'}@900"}
    found = measure_on(tmp_path, device, "native,nanobind", **lost)
    assert (tmp_path / "lost").exists()
    its = [e for key, e in found.items() if key[:2] == (device, "native") and "reason" in e]
    [reason] = {e["reason"] for e in its}
    assert {(e["outcome"], e["code"]) for e in its} == {("no-device", "no-device")}
    assert reason.startswith(f"{device} was lost in the middle of the run: ")
    assert "(999)" in reason
    on_cpu = [entry for (where, _, _), entry in found.items() if where == "cpu"]
    assert {entry["outcome"] for entry in on_cpu} <= {"zero-copy", "copy"}


@pytest.mark.parametrize("device", ["cuda:0", "rocm:0"])
def test_a_device_for_one_process_is_used_by_one_worker_after_another(
    tmp_path: Path, device: str
) -> None:
    """A worker holds all libraries and ends before the next one needs the device."""
    memory = {"DLBENCH_FAKE_MEMORY_FILE": str(tmp_path / "memory"), "DLBENCH_FAKE_MODE": "3"}
    found = measure_on(tmp_path, device, "native,numpy,nanobind", **memory)
    for consumer in ("native", "numpy", "nanobind"):
        assert found[device, "native", consumer]["outcome"] != "no-device"
    assert found[device, "native", "native"]["outcome"] == "zero-copy"
    assert len(found[device, "native", "native"]["workers"]) == 3
    on_cpu = [entry for (where, _, _), entry in found.items() if where == "cpu"]
    assert "no-device" not in {entry["outcome"] for entry in on_cpu}


@pytest.mark.parametrize(
    ("code", "advice"),
    [(221, "libnvidia-ptxjitcompiler.so.1"), (223, "unset CUDA_DISABLE_PTX_JIT")],
)
def test_without_a_compiler_of_the_driver_the_device_clock_has_the_reason(
    tmp_path: Path, code: int, advice: str
) -> None:
    environment = fakes.environment(DLBENCH_FAKE_FAIL=f"cuModuleLoadData={code}")
    words = ("native", "native", "--devices", "cuda:0", "--sizes", "4KiB", "--protocols", "dlpack")
    whole.run(tmp_path, *words, *whole.QUICK, "--out", "run", environment=environment)
    found = {entry["clock"]: entry for entry in whole.entries(whole.document(tmp_path)).values()}
    assert found["call"]["outcome"] == "zero-copy"
    assert found["device"]["outcome"] == "unsupported"
    assert advice in found["device"]["reason"]
    assert f"({code})" in found["device"]["reason"]


def test_an_empty_variable_of_hips_hides_nothing(tmp_path: Path) -> None:
    found = measure_on(tmp_path, "rocm:0", HIP_VISIBLE_DEVICES="", CUDA_VISIBLE_DEVICES="")
    assert found["rocm:0", "native", "native"]["outcome"] == "zero-copy"


@pytest.mark.skipif(find_library("cuda") is not None, reason="this machine has an NVIDIA driver")
def test_without_a_driver_the_reason_is_the_loaders(tmp_path: Path) -> None:
    words = ("native", "native", "--devices", "cpu,cuda:0", "--sizes", "4KiB", "--budget", "3s")
    _, out, _ = whole.run(tmp_path, *words, "--protocols", "dlpack", *whole.QUICK, "--out", "run")
    found = list(whole.entries(whole.document(tmp_path)).values())
    its = {(e["outcome"], e["reason"]) for e in found if e["device"] == "cuda:0"}
    assert its == {("no-device", "cuda: no-library: libcuda.so.1 not found")}
    assert {e["outcome"] for e in found if e["device"] == "cpu"} == {"zero-copy"}
    assert " ".join(out.split()).count("libcuda.so.1 not found") == 1


@pytest.mark.parametrize("word", ["MIG-c7384736-a75d-5afc-978f-d2f1294409fd", "GPU-0f1e2d3c"])
def test_a_devices_uuid_belongs_into_the_drivers_variable(tmp_path: Path, word: str) -> None:
    status, out, err = whole.run(tmp_path, "native", "native", "--devices", f"cpu,{word}")
    assert (status, out) == (2, "")
    assert err == (
        f"dlbench: '{word}' is the UUID of a device; set CUDA_VISIBLE_DEVICES to it and measure "
        "cuda:0, or for AMD set ROCR_VISIBLE_DEVICES and measure rocm:0\n"
    )


def test_an_instance_that_the_variable_names_is_the_first_device(tmp_path: Path) -> None:
    instance = "MIG-c7384736-a75d-5afc-978f-d2f1294409fd"
    environment = fakes.environment(CUDA_VISIBLE_DEVICES=instance, DLBENCH_FAKE_INSTANCE=instance)
    words = ("native", "native", "--devices", "cuda:0", "--sizes", "4KiB", "--protocols", "dlpack")
    whole.run(tmp_path, *words, *whole.QUICK, "--out", "run", environment=environment)
    entry = whole.entries(whole.document(tmp_path))[
        "exchange/producer:native/consumer:native/protocol:dlpack/device:cuda:0/case:f32/bytes:4096"
    ]
    assert entry["outcome"] == "zero-copy"
