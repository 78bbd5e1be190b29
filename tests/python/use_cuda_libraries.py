"""Runs cuda-core and numba-cuda on the first libcuda.so.1; used by test_cuda_libraries.py.

Prints what was seen as one JSON object.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

OLD, NEW = 1, 2
DELAY_S = 0.05
KERNEL = Path(__file__).parents[2] / "harness/core/device/kernels/delay.ptx"


def cuda_core() -> dict[str, Any]:
    """A Buffer whose content is still being computed, taken as a StridedMemoryView on another
    stream: by a library that ignores the stream, then by one that waits for an event."""
    from cuda.core import Device, LaunchConfig, ObjectCode, launch
    from cuda.core.utils import StridedMemoryView

    device = Device(0)
    device.set_current()
    producer, consumer = device.create_stream(), device.create_stream()
    kernel = ObjectCode.from_ptx(KERNEL.read_bytes()).get_kernel("dlbench_delay")
    buffer = device.allocate(4, stream=producer)
    observed: dict[str, Any] = {}
    for way in ("ignored", "event"):
        buffer.fill(OLD, stream=producer)
        producer.sync()
        arguments = (
            ctypes.c_longlong(int(DELAY_S * 1e9)),
            ctypes.c_ulonglong(0),
            ctypes.c_ulonglong(int(buffer.handle)),
            ctypes.c_uint(NEW * 0x01010101),
        )
        launch(producer, LaunchConfig(grid=1, block=1), kernel, *arguments)
        begin = time.perf_counter()
        view = StridedMemoryView.from_dlpack(buffer, stream_ptr=int(consumer.handle))
        if way == "event":
            consumer.wait(producer.record())
        blocked = time.perf_counter() - begin
        host = device.allocate(4, stream=consumer)
        buffer.copy_to(host, stream=consumer)
        consumer.sync()
        word = ctypes.string_at(int(host.handle), 1)[0]
        observed[way] = {"content": word, "blocked": blocked > DELAY_S / 2}
        observed["same address"] = view.ptr == int(buffer.handle)
        producer.sync()
        host.close()
    buffer.close()
    return observed


def numba_cuda() -> dict[str, Any]:
    """Copies there and back, and an array of another library's whose stream is busy."""
    from numba import cuda

    array = cuda.to_device(np.arange(16, dtype=np.float32))
    stream = cuda.stream()
    event = cuda.event()
    event.record(stream)
    event.wait(stream)
    pinned = cuda.pinned_array(16, dtype=np.float32)
    pinned[:] = 3
    taken = cuda.as_cuda_array(array, sync=True)
    there = taken.copy_to_host(stream=stream)
    stream.synchronize()
    return {
        "back": there.tolist() == list(range(16)),
        "pinned": float(cuda.to_device(pinned).copy_to_host()[0]),
        "same address": taken.device_ctypes_pointer.value == array.device_ctypes_pointer.value,
        "device": cuda.current_context().device.name,
    }


if __name__ == "__main__":
    library = {"cuda-core": cuda_core, "numba-cuda": numba_cuda}[sys.argv[1]]
    print(json.dumps(library()))
