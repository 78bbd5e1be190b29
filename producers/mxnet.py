"""MXNet arrays: version 1.9.1, for which tests/environments/mxnet310 makes an environment."""

import mxnet as mx

from dlbench.adapter import capsule_pointer, require, require_own_layout, word_at

EXPORTS = {"dlpack_legacy": mx.nd.NDArray.to_dlpack_for_read}

values = mx.nd.NDArray.asnumpy
ready = mx.nd.NDArray.wait_to_read


def devices():
    return ["cpu", *(f"cuda:{number}" for number in range(mx.context.num_gpus()))]


def make(case, device):
    require_own_layout(case, "MXNet")
    require(not case.dtype.startswith("complex"), "MXNet has no complex numbers")
    kind, _, number = device.partition(":")
    where = mx.cpu() if kind == "cpu" else mx.gpu(int(number))
    return mx.nd.array(case.numpy(), ctx=where, dtype=case.dtype)


def address(array):
    capsule = array.to_dlpack_for_read()
    return word_at(capsule_pointer(capsule, b"dltensor"))
