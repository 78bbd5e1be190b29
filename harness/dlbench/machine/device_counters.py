"""Run as a script by device_use.py: NVML's counters of each NVIDIA device, as one line of JSON.

In a process of its own, so that a crashing driver does not end the run.
"""

from __future__ import annotations

import ctypes
import json

MARK = "dlbench device counters: "
INSUFFICIENT_SIZE = 7  #: the count of processes is written all the same


class Utilization(ctypes.Structure):
    """Percent of the last sampling period, up to a second."""

    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


def counters() -> list[tuple[str, float | None, int | None]]:
    """(UUID, busy share, compute processes) of each device; None for a value that NVML does not
    report.

    Raises OSError where there is no NVML or it does not start.
    """
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    if code := nvml.nvmlInit_v2():
        raise OSError(f"nvmlInit_v2: {code}")
    number = ctypes.c_uint()
    nvml.nvmlDeviceGetCount_v2(ctypes.byref(number))
    found = []
    for index in range(number.value):
        device, uuid = ctypes.c_void_p(), ctypes.create_string_buffer(96)
        if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
            continue
        nvml.nvmlDeviceGetUUID(device, uuid, len(uuid))
        rates, processes = Utilization(), ctypes.c_uint(0)
        busy = not nvml.nvmlDeviceGetUtilizationRates(device, ctypes.byref(rates))
        code = nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, ctypes.byref(processes), None)
        known = code in (0, INSUFFICIENT_SIZE)
        share = rates.gpu / 100 if busy else None
        found.append((uuid.value.decode(), share, processes.value if known else None))
    return found


if __name__ == "__main__":
    print(f"\n{MARK}{json.dumps(counters())}", flush=True)
