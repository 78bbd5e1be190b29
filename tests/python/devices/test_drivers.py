"""The reports about drivers: on a machine without any, and on fake ones that fail."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import fakes
import samples
from dlbench.machine import device_checks, device_state, device_use, drivers
from dlbench.machine.drivers import Driver, Unit
from dlbench.plots.report import facts
from typed import doc
from whole import document, entries, run

pytestmark = pytest.mark.process

SCHEMA = json.loads((Path(__file__).parents[3] / "results/schema.json").read_text())


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
    # CUDA's numbers are not those of nvidia-smi.
    advice = reported["cuda:1 mode"][1]
    assert "nvidia-smi -i GPU-1 -c 0" in advice
    assert "MPS" in advice


def test_the_clients_of_mps_share_a_device_for_one_process() -> None:
    unit = Unit("GPU", "GPU-1", "exclusive-process", {"mps": "on"})
    driver = Driver("cuda", "ok", "", "libcuda.so.1", "13.0", (unit,))
    found = {c.name: c.advice for c in device_checks.checks((driver,), Path("/nowhere"), {})}
    assert found["cuda:0 mode"] == ""


STATE = {
    "sm_clock": "345 MHz",
    "max_sm_clock": "1980 MHz",
    "memory_clock": "1593 MHz",
    "max_memory_clock": "2619 MHz",
    "power_limit": "700 W",
    "persistence": "off",
    "ecc": "on",
    "mig": "off",
    "bus": "0000:02:00.0",
    "mps": "off",
    "peers": "cuda:0",
    "pcie": "32.0 GT/s PCIe x16",
    "max_pcie": "unknown: max_link_speed",
    "numa_node": "1",
}


@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
@pytest.mark.parametrize(
    ("faults", "changed"),
    [
        ("", {}),
        ("nvmlDeviceGetEccMode=3", {"ecc": "unknown: nvmlDeviceGetEccMode: 3"}),
        ("nvmlDeviceGetP2PStatus=3", {"peers": "unknown: nvmlDeviceGetP2PStatus"}),
        ("nvmlInit_v2=999", "unknown: OSError: nvmlInit_v2: 999"),
        ("nvmlInit_v2=-11", "unknown: SIGSEGV"),
    ],
)
def test_a_devices_state_is_read_where_it_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, faults: str, changed: dict[str, str] | str
) -> None:
    folder = tmp_path / device_state.PCI / "0000:02:00.0"
    folder.mkdir(parents=True)
    for name, text in (("speed", "32.0 GT/s PCIe"), ("width", "16")):
        (folder / f"current_link_{name}").write_text(text + "\n")
    (folder / "numa_node").write_text("1\n")
    found = requested(monkeypatch, DLBENCH_FAKE_DEVICES="2", DLBENCH_FAKE_FAIL=faults)["cuda"]
    state_of = device_state.nvidia([unit.uuid for unit in found.units], tmp_path)[1][1]
    if isinstance(changed, dict):
        assert state_of == STATE | changed
    else:
        by_bus = {
            name: f"unknown: {file}"
            for name, file in (
                ("pcie", "current_link_speed"),
                ("max_pcie", "max_link_speed"),
                ("numa_node", "numa_node"),
            )
        }
        assert state_of == dict.fromkeys(STATE, changed) | {"mps": "off"} | by_bus
    state = {c.name: c for c in device_checks.checks((found,), tmp_path, {})}["cuda:1 state"]
    assert ("nvidia-smi -pm 1" in state.advice) == isinstance(changed, dict)


def test_the_state_of_an_amd_device_is_that_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / device_state.DRM / "card1/device"
    (folder / "hwmon/hwmon4").mkdir(parents=True)
    for name, text in {
        "unique_id": "fa4e", "pp_dpm_sclk": "0: 132Mhz *\n1: 2100Mhz", "numa_node": "-1",
        "hwmon/hwmon4/power1_cap": "750000000", "max_link_speed": "32.0 GT/s PCIe",
        "max_link_width": "16",
    }.items():  # fmt: skip
        (folder / name).write_text(text + "\n")
    (_, facts), (_, nothing) = device_state.amd(["GPU-fa4e", "GPU-0001"], tmp_path)
    assert facts == {
        "sm_clock": "132 MHz",
        "max_sm_clock": "2100 MHz",
        "memory_clock": "unknown: pp_dpm_mclk",
        "max_memory_clock": "unknown: pp_dpm_mclk",
        "power_limit": "750 W",
        "pcie": "unknown: current_link_speed",
        "max_pcie": "32.0 GT/s PCIe x16",
        "numa_node": "unknown: numa_node",
    }
    assert all(text.startswith("unknown: ") for text in nothing.values())


def test_the_report_has_the_state_of_each_device_and_the_seconds_of_imports() -> None:
    unit = Unit("H100", "GPU-1", "default", {"sm_clock": "345 MHz", "ecc": "unknown: nvml"})
    driver = Driver("cuda", "ok", "", "libcuda.so.1", "13.0", (unit,))
    written = samples.document(samples.measured("numpy", "torch", 100.0))
    own = written["context"]["dlbench"]
    own["machine"] = {**own["machine"], "devices": [driver.to_json()]}
    own["environments"]["default"]["import_seconds"] = {"torch": 3.25}
    jsonschema.validate(written, SCHEMA)
    (found,) = facts.of(doc(written))
    text = "H100, GPU-1, sm clock 345 MHz, ecc unknown: nvml"
    assert dict(found.machine)["cuda:0"] == text
    assert dict(found.environments[0].facts)["imports took"] == "torch 3.2 s"


@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
def test_a_part_of_a_device_has_the_name_that_the_variable_accepts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unit = requested(monkeypatch, DLBENCH_FAKE_MIG="1")["cuda"].units[0]
    assert unit.uuid == "MIG-00102030-4050-6070-8090-a0b0c0d0e0f0"
    assert unit.facts["mig"] == "on"
    (use,) = device_use.read(Path("/nowhere"))
    assert use.device == "cuda:0"
    renamed = drivers._visible_name(Unit("A100 MIG 1g.5gb", "", ""), "GPU-1")
    assert renamed == "MIG-1"  # without NVML
