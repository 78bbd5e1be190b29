"""The reports about drivers: on a machine without any, and on fake ones that fail."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import fakes
from dlbench.machine import device_checks, drivers
from dlbench.machine.drivers import Driver, Unit
from whole import document, entries, run

pytestmark = pytest.mark.process

SCHEMA = json.loads((Path(__file__).parents[2] / "results/schema.json").read_text())


def requested(monkeypatch: pytest.MonkeyPatch, **faults: str) -> dict[str, Driver]:
    for name, value in fakes.environment(**faults).items():
        monkeypatch.setenv(name, value)
    return {driver.kind: driver for driver in drivers.find_drivers()}


@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
def test_devices_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = requested(monkeypatch, DLBENCH_FAKE_DEVICES="2", DLBENCH_FAKE_MODE="3")
    assert [unit.mode for unit in found["cuda"].units] == ["exclusive-process"] * 2
    assert found["rocm"].units[1] == Unit(
        "Device made of threads", "GPU-000000000000fa4f", "exclusive-process"
    )
    assert found["cuda"].why_not() == ""
    assert found["cuda"].kinds() == [("cuda", 2, "")]
    assert found["cuda"].to_json()["count"] == 2


@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
@pytest.mark.parametrize(
    ("faults", "why"),
    [
        ("*=34", "cuda: stub: cuGetProcAddress: CUDA_ERROR_STUB_LIBRARY (34)"),
        ("cuInit=803", "cuda: no-driver: cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"),
        ("cuInit=100", "cuda: no-device: cuInit: CUDA_ERROR_NO_DEVICE (100)"),
        ("cuInit=999", "cuda: failed: cuInit: CUDA_ERROR_UNKNOWN (999)"),
        ("cuInit=-11", "cuda: failed: the query of its driver ended by SIGSEGV"),
    ],
)
def test_a_driver_says_why(monkeypatch: pytest.MonkeyPatch, faults: str, why: str) -> None:
    cuda = requested(monkeypatch, DLBENCH_FAKE_FAIL=faults)["cuda"]
    assert cuda.why_not() == why
    assert cuda.kinds() == [("cuda", 0, why)]
    assert set(cuda.to_json()) == {"name", "state", "message"}


@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
def test_a_driver_that_hangs_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "TIMEOUT_S", 1.0)
    found = requested(monkeypatch, DLBENCH_FAKE_FAIL="cuInit=-19")
    assert found["cuda"].why_not() == "cuda: failed: its driver did not answer within 1 s"
    assert found["rocm"].state == "ok"


@fakes.needs_fakes
def test_a_run_says_why_and_measures_the_rest(tmp_path: Path) -> None:
    environment = fakes.environment(DLBENCH_FAKE_FAIL="cuInit=803")
    words = ("numpy", "numpy", "--devices", "cpu,cuda", "--sizes", "4KiB", "--budget", "1s")
    status, out, err = run(tmp_path, *words, "--out", "run", "--no-plots", environment=environment)
    assert (status, err) == (0, "")
    written = document(tmp_path)
    jsonschema.validate(written, SCHEMA)
    kinds = {one["name"]: one for one in written["context"]["dlbench"]["machine"]["devices"]}
    message = "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"
    assert kinds["cuda"] == {"name": "cuda", "state": "no-driver", "message": message}
    missing = [e for e in entries(written).values() if e["device"] == "cuda:0"]
    assert {(e["outcome"], e["reason"]) for e in missing} == {
        ("no-device", f"cuda: no-driver: {message}")
    }
    assert any(e["device"] == "cpu" for e in written["benchmarks"])
    reported = " ".join(out.split())
    assert "cuda: no-driver: cuInit: CUDA_ERROR" in reported


@fakes.needs_fakes
def test_nothing_but_what_is_missing_is_bad_usage(tmp_path: Path) -> None:
    environment = fakes.environment(DLBENCH_FAKE_FAIL="cuInit=803")
    status, out, err = run(tmp_path, "numpy", "numpy", "--devices", "cuda", environment=environment)
    assert (status, out) == (2, "")
    assert err == (
        "dlbench: nothing to measure: no-device: cuda: no-driver: cuInit: "
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)\n"
    )


def plant(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


def advice(root: Path, driver: Driver, **environment: str) -> dict[str, str]:
    return {c.name: c.advice for c in device_checks.checks((driver,), root, environment)}


def test_the_doctor_knows_what_to_do(tmp_path: Path) -> None:
    nothing = Driver("cuda", "no-library", "libcuda.so.1 not found")
    none = Driver("cuda", "no-device", "cuInit: CUDA_ERROR_NO_DEVICE (100)")
    assert advice(tmp_path, nothing)["cuda"] == "install the NVIDIA driver to measure it"
    assert "modprobe nvidia" in advice(tmp_path, none)["cuda"]
    hidden = advice(tmp_path, none, CUDA_VISIBLE_DEVICES="")
    assert "unset CUDA_VISIBLE_DEVICES" in hidden["cuda"]
    assert "CUDA_VISIBLE_DEVICES" in hidden
    plant(tmp_path, "proc/driver/nvidia/version")
    assert "--gpus all" in advice(tmp_path, nothing)["cuda"]
    assert "stub" in advice(tmp_path, Driver("cuda", "stub", ""))["cuda"]
    assert "nvidia-smi" in advice(tmp_path, Driver("cuda", "failed", ""))["cuda"]
    plant(tmp_path, "dev/kfd")
    assert "wheels" in advice(tmp_path, Driver("rocm", "no-library", ""))["rocm"]


@pytest.mark.parametrize(
    ("variable", "value", "hides"),
    [
        ("ROCR_VISIBLE_DEVICES", "", True),
        ("ROCR_VISIBLE_DEVICES", "7", True),
        ("HIP_VISIBLE_DEVICES", "7", True),
        # HIP reads it where its own is empty, and takes an empty list as none at all.
        ("CUDA_VISIBLE_DEVICES", "7", True),
        ("HIP_VISIBLE_DEVICES", "", False),
        ("CUDA_VISIBLE_DEVICES", "", False),
        # OpenCL's alone.
        ("GPU_DEVICE_ORDINAL", "7", False),
    ],
)
def test_what_hides_an_amd_device(tmp_path: Path, variable: str, value: str, hides: bool) -> None:
    none = Driver("rocm", "no-device", "hipGetDeviceCount: hipErrorNoDevice (100)")
    reported = advice(tmp_path, none, **{variable: value})
    assert (f"unset {variable}" in reported["rocm"]) == hides
    assert (variable in reported) == hides


def test_the_doctor_sees_nodes_that_may_not_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "dev/kfd", "dev/dri/renderD128")
    denied = tmp_path / "dev/kfd"
    monkeypatch.setattr(device_checks.os, "access", lambda path, _: path != denied)
    reported = advice(tmp_path, Driver("rocm", "no-permission", "hipErrorNoDevice (100)"))
    assert "usermod -aG" in reported["/dev/kfd"]
    assert "/dev/dri/renderD128" not in reported


def test_a_runtime_that_wheels_bring_is_left_to_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Driver("rocm", "no-library", "libamdhip64.so.7 not found")
    monkeypatch.setattr(drivers, "KFD", tmp_path / "kfd")
    assert absent.kinds() == [("rocm", 0, "rocm: no-library: libamdhip64.so.7 not found")]
    (tmp_path / "kfd").touch()
    assert absent.kinds() == []


def test_exclusive_process_mode_is_reported() -> None:
    unit = Unit("GPU", "GPU-1", "exclusive-process")
    driver = Driver("cuda", "ok", "", "libcuda.so.1", "13.0", (Unit("A", "GPU-0", "default"), unit))
    reported = {
        c.name: (c.state, c.advice) for c in device_checks.checks((driver,), Path("/nowhere"), {})
    }
    assert reported["cuda"] == ("2 devices, driver 13.0", "")
    assert reported["cuda:0"] == ("A, GPU-0", "")
    assert "cuda:0 mode" not in reported
    assert "nvidia-smi -i 1" in reported["cuda:1 mode"][1]
