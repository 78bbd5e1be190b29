"""Adapters with a queue of their own, and one without, for the tests of --sync."""

from __future__ import annotations

# Its queue is a thread that sleeps and then writes.
QUEUED = """
import os
import threading
import time

import numpy as np

DISTRIBUTION = None
ARGUMENTS = {"waiting": "", "careless": "", "lazy": "", "hanging": ""}
WAY = ARGUMENT[0]
WORK = []


class Queued:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **wanted):
        if stream is not None:
            raise ValueError("no stream on the CPU")
        if WAY == "waiting":
            finish()
        if WAY == "hanging" and WORK:
            time.sleep(1000)
        exported = self.array.copy() if WAY == "lazy" else self.array
        if WAY == "lazy":
            finish()
        return exported.__dlpack__(**wanted)


def finish():
    for thread in WORK:
        thread.join()
    WORK.clear()


def make(case, device):
    return Queued(case.numpy())


def ready(array):
    if isinstance(array, Queued) and WAY != "hanging":
        finish()


def address(array):
    return array.array.ctypes.data if isinstance(array, Queued) else None


def values(array):
    return array.array if isinstance(array, Queued) else array


def late(array, content, seconds):
    time.sleep(seconds)
    array[:] = content


def busy(case, device, seconds):
    content = case.numpy()
    array = np.zeros_like(content)
    thread = threading.Thread(target=late, args=(array, content, seconds), daemon=True)
    thread.start()
    WORK.append(thread)
    return Queued(array), array.ctypes.data
"""

# A consumer that is none of NumPy's names, so that it has no `ready`.
PLAIN = """
import numpy as np

DISTRIBUTION = None
PROTOCOLS = {"dlpack": np.from_dlpack}
"""
