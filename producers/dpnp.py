"""dpnp arrays on a SYCL device; with intel-opencl-rt the CPU is one."""

import contextlib
import ctypes
import functools
import os
import time

from dlbench.adapter import opencl_cpu, require, split_device, turns_in_a_second

os.environ.setdefault("OCL_ICD_FILENAMES", opencl_cpu())

import dpctl
import dpctl.program
import dpctl.utils
import dpnp

SCRIPT = {
    "before": "os.environ.setdefault('OCL_ICD_FILENAMES', opencl_cpu())",
    "make sycl": "array = dpnp.asarray({unsliced}, device=dpctl.get_devices()[{number}]){slice}",
}

DEVICES = ("sycl:0",)

values = dpnp.asnumpy


def devices():
    return [f"sycl:{number}" for number, _ in enumerate(dpctl.get_devices())]


def where(device):
    number, found = split_device(device)[1], dpctl.get_devices()
    require(number < len(found), f"dpctl finds {len(found)} SYCL devices")
    return found[number]


def make(case, device):
    array = dpnp.asarray(case.unsliced(case.numpy()), device=where(device))
    array = case.sliced(array, dpnp.broadcast_to)
    array.flags["W"] = not case.readonly
    return array


def address(array):
    # `from_dlpack` returns CPU memory as a NumPy array.
    return array.get_array()._pointer if isinstance(array, dpnp.ndarray) else array.ctypes.data


def ready(array):
    # `from_dlpack` returns CPU memory as a NumPy array, which has no queue.
    if isinstance(array, dpnp.ndarray):
        array.sycl_queue.wait()


# Waits for turns of a multiplication, then copies `count` bytes.
SOURCE = """__kernel void late(__global uchar* out, __global ulong* sink, ulong turns,
                           __global const uchar* content, ulong count) {
  ulong x = turns | 1;
  for (ulong i = 0; i < turns; ++i) x = x * 6364136223846793005UL + 1442695040888963407UL;
  sink[0] = x;
  for (ulong i = 0; i < count; ++i) out[i] = content[i];
}"""
CURRENT = []
KEPT = {}


def stream(device):
    return dpnp.empty(1, device=where(device)).sycl_queue


def new_stream(device):
    return dpctl.SyclQueue(where(device))


@contextlib.contextmanager
def on_stream(device, handle):
    CURRENT.append(handle)
    try:
        yield
    finally:
        CURRENT.pop()


@functools.cache
def kernel(queue):
    program = dpctl.program.create_program_from_source(queue, SOURCE)
    sink = dpnp.zeros(1, dtype="uint64", sycl_queue=queue)
    return program.get_sycl_kernel("late"), sink


def submit(queue, out, content, turns):
    function, sink = kernel(queue)
    arguments = [out.get_array().usm_data, sink.get_array().usm_data, ctypes.c_ulonglong(turns)]
    arguments += [content.get_array().usm_data, ctypes.c_ulonglong(content.nbytes)]
    # Like dpnp's own kernels, run after earlier and before later submissions.
    order = dpctl.utils.SequentialOrderManager[queue]
    event = queue.submit_async(function, arguments, [1], [1], list(order.submitted_events))
    order.add_event_pair(event, event)


@functools.cache
def turns_a_second(queue):
    content = dpnp.ones(16, sycl_queue=queue)
    out = dpnp.zeros(16, sycl_queue=queue)

    def spent(turns):
        queue.wait()
        begin = time.perf_counter()
        submit(queue, out, content, turns)
        queue.wait()
        return time.perf_counter() - begin

    return turns_in_a_second(spent, 1_000_000)


def busy(case, device, seconds):
    require(where(device).is_cpu, "the host can read only a CPU's memory while its queue is busy")
    queue = CURRENT[-1] if CURRENT else stream(device)
    turns = int(seconds * turns_a_second(queue))
    content = dpnp.asarray(case.numpy(), sycl_queue=queue)
    array = dpnp.zeros_like(content)
    queue.wait()
    submit(queue, array, content, turns)
    # Freeing memory while its queue is busy waits for the queue.
    KEPT[queue] = content
    return array, array.get_array().usm_data._pointer
