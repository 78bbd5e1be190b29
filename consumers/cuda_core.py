"""cuda.core imports; stream_ptr=-1 means no stream."""

import functools

from cuda.core import Device, LaunchConfig, ObjectCode, launch
from cuda.core.utils import StridedMemoryView

from dlbench import Call, X
from dlbench.adapter import split_device, written_function
from dlbench.call_kernel import ptx

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


LAUNCHES = {"launch": "cuda", "launch-data_ptr": "cuda"}


def launching(arrays, place):
    """A function that takes the address from each array, and passes them to `launch`."""
    kernel = ObjectCode.from_ptx(ptx(arrays).encode()).get_kernel("dlbench_call")
    return written_function(
        arrays,
        f"launch(stream, config, kernel, {{{place}}})",
        launch=launch,
        stream=own_stream(f"cuda:{Device().device_id}"),
        config=LaunchConfig(grid=1, block=1),
        kernel=kernel,
    )


CALLS = {
    "launch": {"call": lambda n: launching(n, "_.__cuda_array_interface__['data'][0]")},
    "launch-data_ptr": {"call": lambda n: launching(n, "_.data_ptr()")},
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
