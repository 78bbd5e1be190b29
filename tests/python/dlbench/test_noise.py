"""The noise that a run reports before it begins, on planted machines and on this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dlbench import cli
from dlbench.document import Run
from dlbench.findings.noise import noise as findings_of_noise
from dlbench.machine import noise
from dlbench.machine.device_use import DeviceUse
from dlbench.machine.noise import PROBE_S, Noise, NoiseProbe

CPU = "sys/devices/system/cpu"
IDLE = (0, 0, 0, 100, 0, 0, 0, 0)
Row = Sequence[int]


def plant(root: Path, cores: Sequence[Row], own: int = 0, highest: int = 0, now: int = 0) -> None:
    """A machine's counters: user nice system idle iowait irq softirq steal, by core."""
    whole = [sum(column) for column in zip(*cores, strict=True)]
    rows = [("cpu", whole), *((f"cpu{number}", row) for number, row in enumerate(cores))]
    files = {
        # Time of guests is in user already.
        "proc/stat": "".join(f"{name} {' '.join(map(str, row))} 7 7\n" for name, row in rows),
        "proc/self/stat": f"12 (a ) name) S 1 1 1 0 -1 0 0 0 0 0 {own} 0 0 0 20 0 1 0 9 9\n",
    }
    if highest:
        files |= {
            f"{CPU}/cpu{number}/cpufreq/{name}_freq": f"{value}\n"
            for number in range(len(cores))
            for name, value in (("cpuinfo_max", highest), ("scaling_cur", now))
        }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def probed(
    root: Path, change: Callable[[], object] = lambda: None, cores: Sequence[int] = (0, 1)
) -> Noise:
    """The noise of a probe at whose end `change` plants the later counters."""
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        change()

    found = NoiseProbe(
        root,
        cores,
        now=lambda: clock[0],
        sleep=sleep,
        time_reference=lambda _: (44.0, 0.01),
        devices=lambda _: [],
    )
    return found.finish()


def add(first: Row, second: Row) -> list[int]:
    return [sum(pair) for pair in zip(first, second, strict=True)]


def observed(root: Path, *more: Row, own: int = 0, cores: Sequence[int] = (0, 1)) -> Noise:
    """After the cores have counted so much more."""
    before = [(900, 9, 90, 5000, 40, 3, 2, 11)] * len(more)
    plant(root, before)
    after = [add(*rows) for rows in zip(before, more, strict=True)]
    return probed(root, lambda: plant(root, after, own), cores)


def test_an_idle_machine_is_not_too_busy(tmp_path: Path) -> None:
    found = observed(tmp_path, IDLE, IDLE)
    assert (found.other_processes, found.stolen, found.frequency) == (0, 0, None)
    assert not list(found.reasons())
    assert found.seconds == pytest.approx(PROBE_S)


@pytest.mark.parametrize(
    ("busy", "share", "is_too_busy"), [(30, 0.15, False), (50, 0.25, True), (100, 0.5, True)]
)
def test_other_processes_are_counted(
    tmp_path: Path, busy: int, share: float, is_too_busy: bool
) -> None:
    system = busy // 5
    found = observed(tmp_path, (busy - system, 0, system, 100 - busy, 0, 0, 0, 0), IDLE)
    assert found.other_processes == pytest.approx(share)
    assert bool(list(found.reasons())) is is_too_busy is found.to_json()["too_busy"]


def test_waiting_for_a_disk_is_idle(tmp_path: Path) -> None:
    assert observed(tmp_path, (0, 0, 0, 10, 90, 0, 0, 0), IDLE).other_processes == 0


def test_our_own_work_is_not_others(tmp_path: Path) -> None:
    found = observed(tmp_path, (90, 0, 0, 10, 0, 0, 0, 0), IDLE, own=80)
    assert found.other_processes == pytest.approx(0.05)


def test_cores_of_others_do_not_count(tmp_path: Path) -> None:
    busy = (100, 0, 0, 0, 0, 0, 0, 0)
    assert observed(tmp_path, busy, IDLE, cores=[1]).other_processes == 0
    assert observed(tmp_path, busy, IDLE, cores=[0]).other_processes == 1
    # A container may number them in its own way.
    assert observed(tmp_path, busy, IDLE, cores=[77]).other_processes == pytest.approx(0.5)


def test_stolen_time_is_the_hypervisors(tmp_path: Path) -> None:
    found = observed(tmp_path, (0, 0, 0, 90, 0, 0, 0, 10), IDLE)
    assert (found.other_processes, found.stolen) == (0, pytest.approx(0.05))
    assert list(found.reasons()) == ["stolen time above 2.0 %"]


@pytest.mark.parametrize(("now", "is_slow"), [(4400, False), (1500, True)])
def test_a_slowed_core_is_seen(tmp_path: Path, now: int, is_slow: bool) -> None:
    plant(tmp_path, [IDLE, IDLE], highest=4500, now=now)
    found = probed(tmp_path)
    assert found.frequency == pytest.approx(now / 4500)
    assert bool(list(found.reasons())) is is_slow


def test_what_the_system_does_not_tell_is_absent(tmp_path: Path) -> None:
    found = probed(tmp_path)
    assert found.to_json() == {
        "seconds": PROBE_S,
        "reference_ns": 44.0,
        "reference_spread": 0.01,
        "too_busy": False,
    }
    assert list(found.facts()) == ["reference exchange 44.0..44.4 ns"]


def test_a_probe_waits_only_for_the_rest(tmp_path: Path) -> None:
    plant(tmp_path, [IDLE])
    times, slept = [0.0, 99.0, 99.0], list[float]()
    NoiseProbe(
        tmp_path,
        [0],
        now=lambda: times.pop(0),
        sleep=slept.append,
        time_reference=lambda _: (44.0, 0.0),
        devices=lambda _: [],
    ).finish()
    assert not slept


def test_a_busy_machine_is_a_finding() -> None:
    run = {"noise": {"other_processes": 0.9, "stolen": 0.0, "too_busy": True}}
    (found,) = findings_of_noise(Run(run))
    assert found.text == "busy before the run (other processes 90 %)"
    run["noise"]["too_busy"] = False
    assert not list(findings_of_noise(Run(run)))


def test_the_finding_names_a_busy_device() -> None:
    """A device alone may have made the machine too busy."""
    devices = (
        DeviceUse("cuda:0", 0.85, 0),
        DeviceUse("cuda:1", 0.0, 2),
        DeviceUse("rocm", None, 0),
    )
    noise = Noise(0.6, 2, other_processes=0.03, devices=devices).to_json()
    assert noise["too_busy"]
    (found,) = findings_of_noise(Run({"noise": noise}))
    assert found.text == (
        "busy before the run (other processes 3.0 %, cuda:0 busy 85 %, processes on cuda:1: 2)"
    )


def spin() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


@pytest.mark.process
def test_busy_loops_are_seen_on_this_machine() -> None:
    loops = [spin() for _ in os.sched_getaffinity(0)]
    try:
        found = NoiseProbe().finish()
    finally:
        for each in loops:
            each.kill()
            each.wait()
    assert list(found.reasons()), found
    assert found.seconds < 2


RUN = ["native", "numpy", "--protocols", "dlpack", "--sizes", "4KiB", "--no-plots"]


@pytest.mark.process
@pytest.mark.parametrize("share", [0.01, 0.9])
def test_a_run_reports_the_noise_and_goes_on(
    share: float,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    planted = Noise(
        0.6, 2, other_processes=share, stolen=0.0, reference_ns=44.0, reference_spread=0.01
    )
    monkeypatch.setattr(noise.NoiseProbe, "finish", lambda _: planted)
    monkeypatch.chdir(tmp_path)
    assert cli.main([*RUN, "--out", "run"]) == 0
    first, *lines = capsys.readouterr().err.splitlines()
    percent = f"{share * 100:.1f}" if share < 0.1 else "90"
    assert first == f"machine: other processes {percent} %, reference exchange 44.0..44.4 ns"
    warning = "dlbench: the machine is busy (other processes above 20 %): see 'dlbench doctor'"
    assert (warning in lines) is (share > 0.2)
    document = json.loads(Path("run/results.json").read_text())
    assert document["context"]["dlbench"]["noise"] == planted.to_json()
    assert cli.main([*RUN, "--out", "silent", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert json.loads(Path("silent/results.json").read_text())["context"]["dlbench"]["noise"]
