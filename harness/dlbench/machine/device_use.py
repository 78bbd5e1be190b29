"""Other use of this machine's devices, from the counters of their drivers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dlbench.machine import device_state, drivers, machine

KFD_PROCESSES = "sys/class/kfd/kfd/proc"


@dataclass(frozen=True)
class DeviceUse:
    """The use of one device before the run, or of all of a kind. None: the driver does not report
    it."""

    device: str  #: "cuda:0", "rocm"
    busy: float | None  #: share of the last sampling period in which it worked
    processes: int | None  #: that compute on it


def read(root: Path) -> list[DeviceUse]:
    """The use of each device that this process may use; empty without a driver. Also empty for AMD
    if a variable hides devices, because the files of the visible ones are not known."""
    found: list[DeviceUse] = []
    for driver in drivers.find_drivers():
        if driver.state == "ok" and driver.kind == "cuda":
            found += _nvidia([unit.uuid for unit in driver.units])
        if driver.state == "ok" and driver.kind == "rocm":
            hides = any(name in os.environ for name in drivers.VISIBLE["rocm"])
            found += [] if hides else _amd(root)
    return found


def _nvidia(uuids: list[str]) -> Iterator[DeviceUse]:
    for found in device_state.read_nvml()[0]:
        # CUDA_VISIBLE_DEVICES renumbers them; a device that it hides is not measured.
        if found["uuid"] in uuids:
            device = f"cuda:{uuids.index(found['uuid'])}"
            yield DeviceUse(device, found["busy"], found["processes"])


def _amd(root: Path) -> Iterator[DeviceUse]:
    """The use of all AMD devices together: the numbers in these files are not those of the
    driver."""
    shares = [
        int(word) / 100
        for path in sorted(root.glob(f"{device_state.DRM}/card*/device/gpu_busy_percent"))
        if (word := machine.read(root, str(path.relative_to(root)))).isdigit()
    ]
    folder = root / KFD_PROCESSES
    processes = len(list(folder.iterdir())) if folder.is_dir() else None
    if shares or processes is not None:
        yield DeviceUse("rocm", max(shares, default=None), processes)
