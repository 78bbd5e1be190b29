"""The facts of this machine for a results document. Every function has the root of the file system
as an argument, so that tests can fake a machine.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dlbench.machine import drivers

CPU = "sys/devices/system/cpu"
#: Vendors in the firmware of virtual machines.
VIRTUAL_VENDORS = ("QEMU", "VMware, Inc.", "Xen", "innotek GmbH", "Parallels")


def read(root: Path, path: str) -> str:
    """A small file's text without surrounding blanks; empty where there is none."""
    try:
        return (root / path).read_text(errors="replace").strip()
    except OSError:
        return ""


def core_numbers() -> set[int]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def cores() -> int:
    """Cores that this process may use."""
    return len(core_numbers())


def cpuinfo(root: Path, key: str) -> str:
    match = re.search(rf"^{re.escape(key)}\s*:\s*(.*)$", read(root, "proc/cpuinfo"), re.MULTILINE)
    return match[1].strip() if match else ""


def mhz(root: Path) -> int:
    """The highest known clock frequency; 0 if unknown."""
    highest = read(root, f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq")
    if highest.isdigit():
        return int(highest) // 1000
    now = re.match(r"\d+", cpuinfo(root, "cpu MHz"))
    return int(now[0]) if now else 0


def caches(root: Path) -> list[dict[str, Any]]:
    """cpu0's caches in Google Benchmark's form; sizes in bytes."""
    return list(_caches(root))


def _caches(root: Path) -> Iterator[dict[str, Any]]:
    for folder in sorted((root / CPU / "cpu0/cache").glob("index[0-9]*")):
        kind, level = read(folder, "type"), read(folder, "level")
        size = re.fullmatch(r"(\d+)([KM]?)", read(folder, "size"))
        if not kind or not level.isdigit() or size is None:
            continue
        scale = {"": 1, "K": 1 << 10, "M": 1 << 20}[size[2]]
        mask = read(folder, "shared_cpu_map").replace(",", "")
        sharing = bin(int(mask, 16)).count("1") if re.fullmatch(r"[0-9a-fA-F]+", mask) else 1
        yield {
            "type": kind,
            "level": int(level),
            "size": int(size[1]) * scale,
            "num_sharing": sharing,
        }


def governor(root: Path) -> str:
    return read(root, f"{CPU}/cpu0/cpufreq/scaling_governor") or "unknown"


def turbo(root: Path) -> str:
    """ "on", "off" or "unknown"."""
    intel = read(root, f"{CPU}/intel_pstate/no_turbo")
    if intel in ("0", "1"):
        return "on" if intel == "0" else "off"
    boost = read(root, f"{CPU}/cpufreq/boost")
    return {"0": "off", "1": "on"}.get(boost, "unknown")


def aslr(root: Path) -> str:
    level = read(root, "proc/sys/kernel/randomize_va_space")
    return {"": "unknown", "0": "off"}.get(level, "on")


def smt(root: Path) -> str:
    return {"0": "off", "1": "on"}.get(read(root, f"{CPU}/smt/active"), "unknown")


def is_virtual(root: Path) -> bool:
    # x86 processors report it; elsewhere the kernel or the firmware may.
    return (
        "hypervisor" in cpuinfo(root, "flags").split()
        or read(root, "sys/hypervisor/type") != ""
        or (root / "proc/device-tree/hypervisor").is_dir()
        or read(root, "sys/class/dmi/id/sys_vendor") in VIRTUAL_VENDORS
    )


def processor(root: Path) -> str:
    """The processor's name; on ARM, where the kernel has none, its maker and part number."""
    made, part = cpuinfo(root, "CPU implementer"), cpuinfo(root, "CPU part")
    numbers = f"{platform.machine()} implementer {made} part {part}" if made else ""
    return cpuinfo(root, "model name") or numbers or platform.processor() or platform.machine()


def processes_at_a_time(process_bytes: int) -> int:
    """One for each core and each part of the free memory; at least 1, and 1 for 0 bytes."""
    free = memory_bytes(Path("/"), "MemAvailable")
    return max(1, min(cores(), free // process_bytes)) if process_bytes else 1


def memory_bytes(root: Path, key: str = "MemTotal") -> int:
    match = re.search(rf"^{key}:\s*(\d+) kB", read(root, "proc/meminfo"), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def huge_pages(root: Path) -> str:
    match = re.search(r"\[(\w+)\]", read(root, "sys/kernel/mm/transparent_hugepage/enabled"))
    return match[1] if match else "unknown"


def numa_nodes(root: Path) -> str:
    """The NUMA nodes of the cores that this process may use: "0,1"."""
    found = {
        int(node.name.removeprefix("node"))
        for core in core_numbers()
        for node in (root / CPU / f"cpu{core}").glob("node[0-9]*")
    }
    return ",".join(map(str, sorted(found))) or "unknown"


def load() -> list[float]:
    """Load averages over 1, 5 and 15 minutes; empty where the system has none."""
    try:
        return [round(value, 2) for value in os.getloadavg()]
    except OSError:
        return []


def devices() -> list[dict[str, Any]]:
    """The kinds of device with their states: `name`, `state`, and `message` or what there is."""
    return [
        {"name": "cpu", "state": "ok"},
        *(driver.to_json() for driver in drivers.find_drivers()),
    ]


def describe(root: Path = Path("/")) -> dict[str, Any]:
    """The facts of `context.dlbench.machine`; memory in bytes, unknown facts as "unknown"."""
    return {
        "cpu": processor(root),
        "architecture": platform.machine(),
        "cores": cores(),
        "memory_bytes": memory_bytes(root),
        "kernel": f"{platform.system()} {platform.release()}",
        "governor": governor(root),
        "turbo": turbo(root),
        "aslr": aslr(root),
        "smt": smt(root),
        "virtual": is_virtual(root),
        "huge_pages": huge_pages(root),
        "numa_nodes": numa_nodes(root),
        "devices": devices(),
    }


def benchmark_context(root: Path = Path("/")) -> dict[str, Any]:
    """The keys that readers of Google Benchmark's JSON expect in `context`."""
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "host_name": socket.gethostname(),
        "executable": "dlbench",
        "num_cpus": os.cpu_count() or 1,
        "mhz_per_cpu": mhz(root),
        "cpu_scaling_enabled": governor(root) not in ("performance", "unknown"),
        "aslr_enabled": aslr(root) == "on",
        "caches": caches(root),
        "load_avg": load(),
        "library_build_type": "release",
        "json_schema_version": 1,
    }
