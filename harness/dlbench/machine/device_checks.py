"""The lines of `dlbench doctor` about devices: state, reason, and advice."""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from dlbench.machine.device_state import UNKNOWN
from dlbench.machine.drivers import Driver, hiding
from dlbench.text.doctor_check import Check

NAMES = {"cuda": "NVIDIA driver", "rocm": "ROCm runtime"}
#: Device nodes that a user must be able to open, and the file that shows the kernel's driver.
NODES = {
    "cuda": ("dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia[0-9]*"),
    "rocm": ("dev/kfd", "dev/dri/renderD*"),
}
LOADED = {"cuda": "proc/driver/nvidia/version", "rocm": "sys/module/amdgpu"}


MODES = {
    "exclusive": "only one thread may use it: sudo nvidia-smi -i {uuid} -c 0",
    "exclusive-process": "only one process may use it, or the clients of one MPS server: end the"
    " others, start MPS, or sudo nvidia-smi -i {uuid} -c 0",
    "prohibited": "no process may use it: sudo nvidia-smi -i {uuid} -c 0",
}
TO_LOAD = {
    "cuda": "sudo modprobe nvidia; in a container: --gpus all",
    "rocm": "sudo modprobe amdgpu; in a container: --device /dev/kfd --device /dev/dri",
}
TO_LOOK = {"cuda": "try nvidia-smi, and look for NVRM in dmesg", "rocm": "try rocminfo"}


def checks(
    found: tuple[Driver, ...], root: Path = Path("/"), environment: Mapping[str, str] = os.environ
) -> Iterator[Check]:
    """A line for each kind of device, for each device, and for each obstacle."""
    for driver in found:
        yield _kind(driver, root, environment)
        for number, unit in enumerate(driver.units):
            here = f"{driver.kind}:{number}"
            yield Check(here, ", ".join(filter(None, [unit.name or "unnamed", unit.uuid])))
            if unit.mode in MODES:
                advice = MODES[unit.mode].format(uuid=unit.uuid) if driver.kind == "cuda" else ""
                if unit.mode == "exclusive-process" and unit.facts.get("mps") == "on":
                    advice = ""  # workers are clients of the same server
                yield Check(f"{here} mode", unit.mode, advice)
            yield from _state(here, unit.facts)
        yield from _visible(driver, environment)
        yield from _nodes(driver, root)


def _state(here: str, facts: Mapping[str, str]) -> Iterator[Check]:
    """The facts of a device; unknown ones by their source."""
    known = {name: text for name, text in facts.items() if not text.startswith(UNKNOWN)}
    texts = [f"{name.replace('_', ' ')} {text}" for name, text in known.items()]
    missing = sorted({text for name, text in facts.items() if name not in known})
    # dlbench holds no context between workers: it takes memory of the device, and all of a device
    # that one process may use.
    slow = "each process initializes the device again, maybe for seconds: sudo nvidia-smi -pm 1"
    if facts:
        yield Check(
            f"{here} state",
            ", ".join(texts + missing),
            slow if facts.get("persistence") == "off" else "",
        )


def _kind(driver: Driver, root: Path, environment: Mapping[str, str]) -> Check:
    if driver.state == "ok":
        count = len(driver.units)
        there = f"{count} {'device' if count == 1 else 'devices'}, driver {driver.version}"
        return Check(driver.kind, there)
    return Check(
        driver.kind, f"{driver.state} ({driver.message})", _advice(driver, root, environment)
    )


def _advice(driver: Driver, root: Path, environment: Mapping[str, str]) -> str:
    name, kind = NAMES[driver.kind], driver.kind
    loaded = (root / LOADED[kind]).exists()
    if driver.state == "no-library":
        if kind == "rocm" and (root / "dev/kfd").exists():
            return "wheels with their own runtime are measured with it; otherwise install ROCm"
        if loaded:
            where = f"{name}; in a container: --gpus all" if kind == "cuda" else name
            return f"the kernel's driver is loaded and its library is missing: install the {where}"
        return f"install the {name} to measure it"
    if driver.state == "stub":
        return "the CUDA toolkit's stub was found first: take its folder off LD_LIBRARY_PATH"
    if driver.state == "no-driver":
        return f"load or update the kernel's driver to fit the library's version ({name})"
    if driver.state == "no-permission":
        return "see the nodes below"
    if driver.state == "no-device":
        hidden = hiding(kind, environment)
        if hidden:
            return f"{hidden[0]}={environment[hidden[0]]} hides all devices: unset {hidden[0]}"
        return "" if loaded else f"the kernel has no driver loaded: {TO_LOAD[kind]}"
    return TO_LOOK[kind]


def _visible(driver: Driver, environment: Mapping[str, str]) -> Iterator[Check]:
    """The variables that hide devices; none if there is nothing to hide."""
    if driver.state in ("no-library", "stub"):
        return
    for word in hiding(driver.kind, environment):
        yield Check(
            word,
            environment[word] or "empty: none",
            "only these are visible, numbered from 0",
        )


def _nodes(driver: Driver, root: Path) -> Iterator[Check]:
    """Device nodes that this user cannot open."""
    for pattern in NODES[driver.kind]:
        for node in sorted(root.glob(pattern)):
            if os.access(node, os.R_OK | os.W_OK):
                continue
            mode = node.stat()
            rights = f"{stat.filemode(mode.st_mode)} group {_group(mode.st_gid)}"
            join = f"sudo usermod -aG {_group(mode.st_gid)} $USER, then log in again"
            yield Check(f"/{node.relative_to(root)}", f"no permission to open it ({rights})", join)


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
