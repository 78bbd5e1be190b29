"""cuda.core imports; stream_ptr=-1 means no stream."""

import functools

from cuda.core import Device
from cuda.core.utils import StridedMemoryView

from dlbench import Call, X
from dlbench.adapter import split_device

PROTOCOLS = {
    "dlpack": Call(StridedMemoryView.from_dlpack, X, stream_ptr=-1),
    "array_interface": StridedMemoryView.from_array_interface,
    "cuda_array_interface": Call(StridedMemoryView.from_cuda_array_interface, X, stream_ptr=-1),
    "convert": Call(StridedMemoryView.from_any_interface, X, stream_ptr=-1),
}


def calls(source, target):
    if source != target:
        return {}
    handle = stream(target)
    return {
        "dlpack": Call(StridedMemoryView.from_dlpack, X, stream_ptr=handle),
        "cuda_array_interface": Call(
            StridedMemoryView.from_cuda_array_interface, X, stream_ptr=handle
        ),
        "convert": Call(StridedMemoryView.from_any_interface, X, stream_ptr=handle),
    }


@functools.cache
def own_stream(device):
    place = Device(split_device(device)[1])
    place.set_current()
    return place.create_stream()


def stream(device):
    return int(own_stream(device).handle)


def extras(array):
    return {}
