"""Facts from the drivers of devices, each queried in a process of its own, never in ours.

No context is made and no device is woken.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from dlbench import _core, _device
from dlbench.errors import last_line, marked_line, signal_name
from dlbench.machine import device_facts, device_state

KINDS = ("cuda", "rocm")
#: Variables that limit the devices that a process sees.
VISIBLE = {
    "cuda": ("CUDA_VISIBLE_DEVICES",),
    "rocm": ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
}
#: An empty value hides all devices; ROCm ignores the other variables if they are empty.
HIDES_ALL = {"cuda": ("CUDA_VISIBLE_DEVICES",), "rocm": ("ROCR_VISIBLE_DEVICES",)}
KFD = Path("/dev/kfd")
#: Initializing a driver wakes sleeping GPUs, which takes seconds on large machines.
TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Unit:
    """One device. `uuid` and `mode` are empty where the driver does not report it."""

    name: str
    uuid: str
    mode: str  #: "default", "exclusive", "prohibited" or "exclusive-process"
    #: its state, as device_state.py reads it; "unknown: SOURCE" where SOURCE is missing
    facts: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Driver:
    """`message` is one line of the loader's or the driver's; empty where `state` is "ok".

    `state` is a word of harness/core/device/table.hpp: ok, no-library, stub, no-driver, no-device,
    no-permission, failed.
    """

    kind: str
    state: str
    message: str
    library: str = ""
    version: str = ""
    units: tuple[Unit, ...] = ()

    def why_not(self) -> str:
        """Why no device can be measured; empty if one can."""
        return "" if self.state == "ok" else f"{self.kind}: {self.state}: {self.message}"

    def kinds(self) -> list[tuple[str, int, str]]:
        """The argument of `_core.Axes`; None if only a worker can find out."""
        # Wheels for ROCm have their own runtime, which is found after the import.
        if self.kind == "rocm" and self.state == "no-library" and KFD.exists():
            return []
        return [(self.kind, len(self.units), self.why_not())]

    def to_json(self) -> dict[str, object]:
        """The item of `machine.devices`."""
        facts: dict[str, object] = {"name": self.kind, "state": self.state}
        if self.state != "ok":
            return {**facts, "message": self.message}
        units = [asdict(unit) for unit in self.units]
        return {**facts, "count": len(units), "version": self.version, "units": units}


@functools.cache
def find_drivers() -> tuple[Driver, ...]:
    """The drivers of KINDS, queried once for this process."""
    with ThreadPoolExecutor(len(KINDS)) as pool:
        return tuple(map(_with_state, pool.map(_answer, KINDS)))


def _with_state(driver: Driver, root: Path = Path("/")) -> Driver:
    read = device_state.nvidia if driver.kind == "cuda" else device_state.amd
    if driver.state != "ok":
        return driver
    found = read([unit.uuid for unit in driver.units], root)
    units = (
        replace(unit, uuid=_visible_name(unit, uuid), facts=facts)
        for unit, (uuid, facts) in zip(driver.units, found, strict=True)
    )
    return replace(driver, units=tuple(units))


def _visible_name(unit: Unit, uuid: str) -> str:
    """The UUID with its prefix; without NVML the driver's name tells a part of a device."""
    return re.sub("^GPU-", "MIG-", uuid) if " MIG " in unit.name else uuid


def hiding(kind: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The variables that are set and may hide devices of this kind."""
    return [
        word
        for word in VISIBLE[kind]
        if environment.get(word) or (word in environment and word in HIDES_ALL[kind])
    ]


def _answer(kind: str) -> Driver:
    words = [sys.executable, "-I", "-S", device_facts.__file__, _device.__file__, kind, *sys.path]
    ended = _core.run_program(words, TIMEOUT_S)
    if ended.status is None:
        return Driver(kind, "failed", f"its driver did not answer within {TIMEOUT_S:g} s")
    if line := marked_line(ended.out, device_facts.MARK):
        return _read(kind, json.loads(line.removeprefix(device_facts.MARK)))
    message = last_line(ended.err)
    last = f": {message}" if message else ""
    return Driver(kind, "failed", f"the query of its driver ended by {_end(ended.status)}{last}")


def _end(status: int) -> str:
    return signal_name(status) or f"exit status {status}"


def _read(kind: str, answer: dict[str, Any]) -> Driver:
    units = tuple(Unit(*unit) for unit in answer["units"])
    message = answer["message"]
    if answer["state"] == "no-device":
        message = "; ".join([message, *(f"{word}='{os.environ[word]}'" for word in hiding(kind))])
    return Driver(kind, answer["state"], message, answer["library"], answer["version"], units)
