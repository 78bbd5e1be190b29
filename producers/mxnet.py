"""MXNet arrays, for version 1.9.1, which needs Python 3.10 and NumPy 1.23."""

import functools
import time

import mxnet as mx

from dlbench.adapter import (
    capsule_pointer,
    require,
    split_device,
    turns_in_a_second,
    word_at,
)

SCRIPT = {"make": "array = mx.nd.array(source, dtype='{dtype}')"}

DEVICES = ("cpu", "cuda")
EXPORTS = {"dlpack_legacy": mx.nd.NDArray.to_dlpack_for_read}

values = mx.nd.NDArray.asnumpy
ready = mx.nd.NDArray.wait_to_read


def devices():
    return ["cpu", *(f"cuda:{number}" for number in range(mx.context.num_gpus()))]


def make(case, device):
    kind, number = split_device(device)
    where = mx.cpu() if kind == "cpu" else mx.gpu(number)
    return mx.nd.array(case.numpy(), ctx=where, dtype=case.dtype)


def address(array):
    capsule = array.to_dlpack_for_read()
    return word_at(capsule_pointer(capsule, b"dltensor"))


SIDE = 128


def late(out, content, tall, square):
    """Queues on the engine: a product, then `content` into the memory of `out`."""
    nothing = mx.nd.dot(tall, square)[0:1, 0].reshape((1,)) * 0
    mx.nd.broadcast_add(content, nothing.astype(content.dtype), out=out)


def factors(rows):
    return mx.nd.full((rows, SIDE), 1 / SIDE), mx.nd.full((SIDE, SIDE), 1 / SIDE)


@functools.cache
def rows_a_second():
    content, out = mx.nd.ones(16), mx.nd.zeros(16)

    def spent(rows):
        tall, square = factors(rows)
        mx.nd.waitall()
        begin = time.perf_counter()
        late(out, content, tall, square)
        out.wait_to_read()
        return time.perf_counter() - begin

    return turns_in_a_second(spent, 2_000)


def busy(case, device, seconds):
    require(device == "cpu", "the host can read only a CPU's memory while its engine is busy")
    tall, square = factors(1 + int(seconds * rows_a_second()))
    content = make(case, device)
    zeros = mx.nd.zeros_like(content)
    mx.nd.waitall()
    # Read the address now: that of an array that is being written would wait.
    place = address(zeros)
    late(zeros, content, tall, square)
    return zeros, place
