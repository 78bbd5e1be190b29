"""What else uses a device before a run, by its driver's counters: on fake drivers."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import fakes
from dlbench import cli
from dlbench.errors import BadInput
from dlbench.machine import device_state, device_use, doctor, drivers, noise
from dlbench.machine.device_use import DeviceUse
from dlbench.machine.noise import Noise

SCHEMA = json.loads((Path(__file__).parents[3] / "results/schema.json").read_text())


def used(monkeypatch: pytest.MonkeyPatch, root: Path, **faults: str) -> list[DeviceUse]:
    for name, value in fakes.environment(**faults).items():
        monkeypatch.setenv(name, value)
    return device_use.read(root)


@pytest.mark.process
@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
def test_nvidias_counters_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reported = {
        "DLBENCH_FAKE_DEVICES": "2",
        "DLBENCH_FAKE_BUSY": "85",
        "DLBENCH_FAKE_PROCESSES": "3",
    }
    assert used(monkeypatch, tmp_path, **reported) == [
        DeviceUse("cuda:0", 0.85, 3),
        DeviceUse("cuda:1", 0.85, 3),
    ]


@pytest.mark.process
@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
def test_a_hidden_device_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reported = {"DLBENCH_FAKE_DEVICES": "3", "CUDA_VISIBLE_DEVICES": "0"}
    assert [one.device for one in used(monkeypatch, tmp_path, **reported)] == ["cuda:0"]


@pytest.mark.process
@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ("nvmlInit_v2=999", []),
        ("nvmlInit_v2=-11", []),
        ("nvmlDeviceGetUtilizationRates=3", [DeviceUse("cuda:0", None, 1)]),
        ("nvmlDeviceGetComputeRunningProcesses_v3=3", [DeviceUse("cuda:0", 0.5, None)]),
    ],
)
def test_what_a_driver_does_not_tell_is_unknown(
    faults: str, found: list[DeviceUse], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reported = {
        "DLBENCH_FAKE_FAIL": faults,
        "DLBENCH_FAKE_BUSY": "50",
        "DLBENCH_FAKE_PROCESSES": "1",
    }
    assert used(monkeypatch, tmp_path, **reported) == found


@pytest.mark.process
@fakes.needs_fakes
@pytest.mark.usefixtures("fresh_drivers")
def test_amds_files_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for card, busy in (("card0", "0"), ("card1", "40")):
        place = tmp_path / device_state.DRM / card / "device"
        place.mkdir(parents=True)
        (place / "gpu_busy_percent").write_text(f"{busy}\n")
    (tmp_path / device_use.KFD_PROCESSES / "4711").mkdir(parents=True)
    for variable in drivers.VISIBLE["rocm"]:
        monkeypatch.delenv(variable, raising=False)
    assert DeviceUse("rocm", 0.4, 1) in used(monkeypatch, tmp_path)
    # Device 0 alone may be ours, and another user's work on device 1 no reason to wait.
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "0")
    assert not [one for one in used(monkeypatch, tmp_path) if one.device == "rocm"]


def busy(*devices: DeviceUse) -> Noise:
    return Noise(0.6, 2, other_processes=0.0, devices=devices)


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        (DeviceUse("cuda:0", 0.04, 0), ""),
        (DeviceUse("cuda:0", None, None), ""),
        (DeviceUse("cuda:0", 0.85, 0), "cuda:0 busy above 5.0 %"),
        (DeviceUse("cuda:0", 0.0, 2), "other processes compute on cuda:0: 2"),
    ],
)
def test_a_device_in_use_makes_the_machine_too_busy(use: DeviceUse, reason: str) -> None:
    found = busy(use)
    assert ", ".join(found.reasons()) == reason
    assert found.to_json()["too_busy"] is bool(reason)
    part = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/noise"}
    jsonschema.Draft202012Validator(part).validate(found.to_json())
    (check,) = (one for one in doctor.noise(found) if one.name == "cuda:0")
    assert bool(check.advice) is bool(reason)


def waited(states: list[Noise], most_s: float) -> tuple[Noise, list[str], float]:
    """The end of a wait for a machine with these states, one after the other."""
    clock, reported = [0.0], list[str]()

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    rest = iter(states[1:])
    found = noise.wait_idle(
        states[0], most_s, lambda: next(rest, states[-1]), reported.append, lambda: clock[0], sleep
    )
    return found, reported, clock[0]


def test_a_wait_ends_when_the_machine_is_idle() -> None:
    first, second = busy(DeviceUse("cuda:0", 0.5, 0)), Noise(0.6, 2, other_processes=0.9)
    found, reported, seconds = waited([first, first, second, busy()], 60)
    assert not list(found.reasons())
    assert [line.partition(": ")[2] for line in reported] == [
        "cuda:0 busy above 5.0 %", "other processes above 20 %",
    ]  # fmt: skip
    assert seconds == 3 * noise.WAIT_S


def test_an_idle_machine_is_not_waited_for() -> None:
    assert waited([busy()], 60)[1:] == ([], 0.0)


def test_a_wait_that_is_too_long_is_one_line() -> None:
    with pytest.raises(BadInput, match=r"did not become idle within 9 s: other processes above"):
        waited([Noise(0.6, 2, other_processes=0.9)], 9)


@pytest.mark.process
def test_a_run_on_a_busy_machine_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(noise, "WAIT_S", 0.01)
    state = Noise(0.6, 2, other_processes=0.9)
    monkeypatch.setattr(noise.NoiseProbe, "finish", lambda self: state)
    words = ["native", "native", "--protocols", "dlpack", "--wait-idle", "50ms", "--out", "run"]
    assert cli.main(words) == 2
    err = capsys.readouterr().err
    assert "waiting until the machine is idle: other processes above 20 %" in err
    assert "nothing was measured" in err
    assert not (tmp_path / "run").exists()
    assert cli.main([*words[:4], "--wait-idle", "soon"]) == 2
    assert "soon" in capsys.readouterr().err
