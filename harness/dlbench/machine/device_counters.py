"""Run as a script by device_state.py: NVML's facts of each NVIDIA device, as one line of JSON.

In a process of its own, so that a crashing driver does not end the run.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator
from typing import Any

MARK = "dlbench device counters: "
INSUFFICIENT_SIZE = 7  #: the count of processes is written all the same
SM, MEMORY = 1, 2  #: of nvmlClockType_t
READ = 0  #: of nvmlGpuP2PCapsIndex_t


class Utilization(ctypes.Structure):
    """Percent of the last sampling period, up to a second."""

    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class Pci(ctypes.Structure):
    """nvmlPciInfo_t."""

    _fields_ = [
        ("legacy", ctypes.c_char * 16),
        *((name, ctypes.c_uint) for name in ("domain", "bus", "device", "id", "subsystem")),
        ("text", ctypes.c_char * 32),
    ]


def _switch(value: int) -> str:
    return "on" if value else "off"


def _mhz(value: int) -> str:
    return f"{value} MHz"


#: NVML's function of each fact, its arguments, how many numbers it writes, and the first as a text.
FACTS: dict[str, tuple[str, tuple[int, ...], int, Callable[[int], str]]] = {
    "sm_clock": ("nvmlDeviceGetClockInfo", (SM,), 1, _mhz),
    "max_sm_clock": ("nvmlDeviceGetMaxClockInfo", (SM,), 1, _mhz),
    "memory_clock": ("nvmlDeviceGetClockInfo", (MEMORY,), 1, _mhz),
    "max_memory_clock": ("nvmlDeviceGetMaxClockInfo", (MEMORY,), 1, _mhz),
    "power_limit": ("nvmlDeviceGetPowerManagementLimit", (), 1, lambda mw: f"{mw / 1000:g} W"),
    "persistence": ("nvmlDeviceGetPersistenceMode", (), 1, _switch),
    "ecc": ("nvmlDeviceGetEccMode", (), 2, _switch),
    "mig": ("nvmlDeviceGetMigMode", (), 2, _switch),
}


def numbers(nvml: Any, function: str, device: Any, *arguments: Any, count: int = 1) -> list[int]:
    """The numbers that a function writes. Raises OSError with the function and NVML's code."""
    values = [ctypes.c_uint() for _ in range(count)]
    if not hasattr(nvml, function):
        raise OSError(f"this NVML has no {function}")
    if code := getattr(nvml, function)(device, *arguments, *map(ctypes.byref, values)):
        raise OSError(f"{function}: {code}")
    return [value.value for value in values]


def facts(nvml: Any, device: Any) -> dict[str, str]:
    """The texts of FACTS, and the address on the bus; "unknown: SOURCE" where NVML has none."""
    found = {}
    for name, (function, arguments, count, text) in FACTS.items():
        try:
            found[name] = text(numbers(nvml, function, device, *arguments, count=count)[0])
        except OSError as error:
            found[name] = f"unknown: {error}"
    pci = Pci()
    if not nvml.nvmlDeviceGetPciInfo_v3(device, ctypes.byref(pci)):
        found["bus"] = f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"
    return found


def peers(nvml: Any, device: Any, others: list[Any]) -> list[str] | None:
    """The UUIDs of the devices whose memory this one can read; None where NVML does not report
    it."""
    try:
        able = [
            other
            for other in others
            if other is not device
            and numbers(nvml, "nvmlDeviceGetP2PStatus", device, other, READ) == [0]
        ]
    except OSError:
        return None
    return [uuid_of(nvml, other) for other in able]


def uuid_of(nvml: Any, device: Any) -> str:
    uuid = ctypes.create_string_buffer(96)
    nvml.nvmlDeviceGetUUID(device, uuid, len(uuid))
    return uuid.value.decode()


def instances(nvml: Any, device: Any) -> Iterator[Any]:
    """The parts of a device in MIG mode."""
    try:
        most = numbers(nvml, "nvmlDeviceGetMaxMigDeviceCount", device)[0]
    except OSError:
        return
    for index in range(most):
        part = ctypes.c_void_p()
        if not nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, index, ctypes.byref(part)):
            yield part


def counters() -> list[dict[str, Any]]:
    """`uuid`, `busy` share, compute `processes`, `peers` and `facts` of each device and of each
    part of one, which has the facts of its device. None for a value that NVML does not report.

    Raises OSError where there is no NVML or it does not start.
    """
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    if code := nvml.nvmlInit_v2():
        raise OSError(f"nvmlInit_v2: {code}")
    number = ctypes.c_uint()
    nvml.nvmlDeviceGetCount_v2(ctypes.byref(number))
    devices = []
    for index in range(number.value):
        device = ctypes.c_void_p()
        if not nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
            devices.append(device)
    found = []
    for device in devices:
        common = {"peers": peers(nvml, device, devices), "facts": facts(nvml, device)}
        for part in (device, *instances(nvml, device)):
            rates, processes = Utilization(), ctypes.c_uint(0)
            busy = not nvml.nvmlDeviceGetUtilizationRates(part, ctypes.byref(rates))
            code = nvml.nvmlDeviceGetComputeRunningProcesses_v3(part, ctypes.byref(processes), None)
            counted = code in (0, INSUFFICIENT_SIZE)
            own = {
                "uuid": uuid_of(nvml, part),
                "busy": rates.gpu / 100 if busy else None,
                "processes": processes.value if counted else None,
            }
            found.append({**own, **common})
    return found


if __name__ == "__main__":
    print(f"\n{MARK}{json.dumps(counters())}", flush=True)
