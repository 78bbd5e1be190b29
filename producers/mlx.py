"""MLX arrays."""

import ctypes
import functools
import time

import mlx.core as mx

from dlbench.adapter import require, turns_in_a_second

SCRIPT = {
    "make": "array = mx.array({unsliced}, dtype=mx.{dtype}){slice}",
    "make bool": "array = mx.array(source)",
    "make broadcast": "array = mx.broadcast_to(mx.array(source[:1], dtype=mx.{dtype}), {shape})",
    "memory": (
        "np.asarray({array}) if {array}.dtype != mx.bfloat16"
        " else np.asarray({array}.view(mx.uint16)).view('bfloat16')"
    ),
}

DISTRIBUTION = ("mlx[cpu]", "mlx", "mlx-cpu")

DEVICES = ("cpu", "metal")

ready = mx.eval


def devices():
    # With Metal, MLX states the GPU of each array.
    return ["metal:0" if mx.metal.is_available() else "cpu"]


def make(case, device):
    require(device in devices(), "MLX has arrays on metal:0 on macOS only, and no others there")
    dtype = mx.bool_ if case.dtype == "bool" else getattr(mx, case.dtype)
    content = case.unsliced(case.bits())
    # Before 0.31 MLX takes no array of ml_dtypes. Without `dtype` it converts float64 to float32.
    array = mx.array(content).view(dtype) if case.foreign else mx.array(content, dtype=dtype)
    return case.sliced(array, mx.broadcast_to)


SIDE = 128


@functools.cache
def rows_a_second():
    square = mx.full((SIDE, SIDE), 1 / SIDE)

    def spent(rows):
        tall = mx.full((rows, SIDE), 1 / SIDE)
        mx.eval(tall, square)
        begin = time.perf_counter()
        mx.eval(mx.matmul(tall, square)[0, 0])
        return time.perf_counter() - begin

    return turns_in_a_second(spent, 2_000)


def busy(case, device, seconds):
    tall = mx.full((1 + int(seconds * rows_a_second()), SIDE), 1 / SIDE)
    square = mx.full((SIDE, SIDE), 1 / SIDE)
    content = make(case, device)
    zeros = mx.zeros_like(content)
    mx.eval(tall, square, content, zeros)
    with memoryview(zeros) as shown:
        place = ctypes.addressof(ctypes.c_char.from_buffer(shown))
    # Use one product, because the call waits if several operations are queued. Drop `zeros`, so
    # that the result reuses its memory.
    nothing = (mx.matmul(tall, square)[0, 0] * 0).astype(content.dtype)
    result = mx.add(zeros, content + nothing)
    del zeros
    mx.async_eval(result)
    return result, place
