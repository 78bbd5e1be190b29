"""The state of each device before a run: clocks, power, link and modes, from NVML and sysfs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.errors import last_line, marked_line, signal_name
from dlbench.machine import device_counters

TIMEOUT_S = 30.0
PCI = "sys/bus/pci/devices"
DRM = "sys/class/drm"
#: Where the MPS daemon listens unless a variable names another folder.
MPS = ("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps")
UNKNOWN = "unknown: "

Facts = dict[str, str]


def read_nvml() -> tuple[list[dict[str, Any]], str]:
    """What device_counters.py reports of each NVIDIA device, and why it reports nothing."""
    ended = _core.run_program([sys.executable, "-I", "-S", device_counters.__file__], TIMEOUT_S)
    if line := marked_line(ended.out, device_counters.MARK):
        return json.loads(line.removeprefix(device_counters.MARK)), ""
    if ended.status is None:
        return [], f"NVML did not answer within {TIMEOUT_S:g} s"
    return [], signal_name(ended.status) or last_line(ended.err) or "NVML reported nothing"


def nvidia(uuids: Sequence[str], root: Path) -> list[tuple[str, Facts]]:
    """The name that CUDA_VISIBLE_DEVICES accepts, and the facts, of each device with these UUIDs.

    The driver's UUID of a part of a device is that of the part, without its prefix.
    """
    reported, failure = read_nvml()
    by_number = {each["uuid"].partition("-")[2]: each for each in reported}
    devices = {number: f"cuda:{i}" for i, number in enumerate(u.partition("-")[2] for u in uuids)}
    found = []
    for uuid in uuids:
        one = by_number.get(uuid.partition("-")[2])
        missing = UNKNOWN + (failure or f"NVML has no {uuid}")
        facts = (
            dict.fromkeys((*device_counters.FACTS, "bus"), missing)
            if one is None
            else {"bus": f"{UNKNOWN}nvmlDeviceGetPciInfo_v3", **one["facts"]}
        )
        pipes = os.environ.get(MPS[0], MPS[1])
        facts["mps"] = "on" if (root / pipes.lstrip("/") / "control").exists() else "off"
        if one is None or one["peers"] is None:
            facts["peers"] = missing if one is None else f"{UNKNOWN}nvmlDeviceGetP2PStatus"
        else:
            names = [devices.get(peer.partition("-")[2], peer) for peer in one["peers"]]
            facts["peers"] = ", ".join(names) or "none"
        folder = None if facts["bus"].startswith(UNKNOWN) else root / PCI / facts["bus"]
        found.append((uuid if one is None else one["uuid"], {**facts, **_link(folder)}))
    return found


def amd(uuids: Sequence[str], root: Path) -> list[tuple[str, Facts]]:
    """The same of AMD's devices, by the files of their driver."""
    folders = {_text(path): path.parent for path in (root / DRM).glob("card*/device/unique_id")}
    found = []
    for uuid in uuids:
        folder = folders.get(uuid.partition("-")[2])
        facts = {}
        for name, file in (("sm_clock", "pp_dpm_sclk"), ("memory_clock", "pp_dpm_mclk")):
            steps = _text(folder / file) if folder else ""
            now, most = re.search(r"(\d+)Mhz \*", steps), re.findall(r"(\d+)Mhz", steps)
            facts[name] = f"{now[1]} MHz" if now else UNKNOWN + file
            facts[f"max_{name}"] = f"{max(map(int, most))} MHz" if most else UNKNOWN + file
        caps = map(_text, folder.glob("hwmon/hwmon*/power1_cap")) if folder else ()
        watts = next((f"{int(cap) / 1e6:g} W" for cap in caps if cap.isdigit()), "")
        facts["power_limit"] = watts or f"{UNKNOWN}power1_cap"
        found.append((uuid, {**facts, **_link(folder)}))
    return found


def _link(folder: Path | None) -> Facts:
    """The link and the place of a device on the PCI bus."""
    facts = {}
    for name, files in (
        ("pcie", ("current_link_speed", "current_link_width")),
        ("max_pcie", ("max_link_speed", "max_link_width")),
        ("numa_node", ("numa_node",)),
    ):
        words = [_text(folder / file) if folder else "" for file in files]
        # The kernel writes -1 on a machine without NUMA.
        is_known = all(words) and words != ["-1"]
        facts[name] = " x".join(words) if is_known else UNKNOWN + files[0]
    return facts


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
