"""cuda.core's StridedMemoryView of NumPy's memory, and of buffers on a device."""

import contextlib
import functools

import numpy as np
from cuda.core import Buffer, Device, Stream
from cuda.core.utils import StridedMemoryView

from dlbench.adapter import split_device

SCRIPT = {"make": "array = StridedMemoryView.from_dlpack(source, stream_ptr=-1)"}

DISTRIBUTION = ("cuda-core[cu13]", "cuda-core[cu12]", "cuda-core")
DEVICES = ("cpu", "cuda")
DEFAULT = False
QUEUES = []  # streams for new buffers: the last one is used; if empty, `own_stream`


def make(case, device):
    if device == "cpu":
        return StridedMemoryView.from_dlpack(case.numpy(), stream_ptr=-1)
    content = np.array(case.numpy(), order="C")
    ours = own_stream(device)
    queue = QUEUES[-1] if QUEUES else ours
    buffer = ours.device.allocate(max(content.nbytes, 1), stream=queue)
    host = Buffer.from_handle(content.ctypes.data, content.nbytes, owner=content)
    if content.nbytes:
        buffer.copy_from(host, stream=queue)
    queue.sync()
    return StridedMemoryView.from_buffer(buffer, content.shape, dtype=content.dtype)


@functools.cache
def own_stream(device):
    place = Device(split_device(device)[1])
    place.set_current()
    return place.create_stream()


@contextlib.contextmanager
def on_stream(device, handle):
    # cuda.core has no current stream; each call has a stream argument.
    own_stream(device)
    QUEUES.append(Stream.from_handle(handle))
    try:
        yield
    finally:
        QUEUES.pop()


def address(view):
    return view.ptr
