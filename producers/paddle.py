"""Paddle tensors; on the CPU in Paddle's own memory if it supports the case's layout."""

import contextlib

import paddle

from dlbench.adapter import split_device

SCRIPT = {
    "source": "bits",
    "make": "array = paddle.to_tensor(source)",
    "make own": "array = paddle.to_tensor(source)",
    "make view": "array = paddle.to_tensor({unsliced}){slice}",
    "make offset": "array = paddle.from_dlpack(source)",
    "make fortran": "array = paddle.from_dlpack(source)",
    "make strided": "array = paddle.from_dlpack(source)",
    "make windows": "array = paddle.from_dlpack(source)",
    "make odd": "array = paddle.from_dlpack(source)",
    "make reversed": "array = paddle.from_dlpack(source)",
    "make broadcast": "array = paddle.from_dlpack(source)",
    "make ones": "array = paddle.from_dlpack(source)",
    "make uint16": "array = paddle.to_tensor(source.view('int16')).view(paddle.uint16)",
    "make foreign": "array = paddle.to_tensor(source).view('{dtype}')",
    "write": "{array}.zero_()",
    "make grad": "array = paddle.to_tensor(source, stop_gradient=False)",
}

DISTRIBUTION = ("paddlepaddle", "paddlepaddle-gpu")
DEVICES = ("cpu", "cuda", "rocm")
SPECIAL = ("grad",)


def devices():
    kind = "rocm" if paddle.is_compiled_with_rocm() else "cuda"
    return ["cpu", *(f"{kind}:{number}" for number in range(paddle.device.cuda.device_count()))]


def to_tensor(case, content, place=None):
    if case.dtype != "uint16":
        return paddle.to_tensor(content, place=place)
    # Paddle takes NumPy's uint16 for bfloat16.
    return paddle.to_tensor(content.view("int16"), place=place).view(paddle.uint16)


def make(case, device):
    if device == "cpu":
        # Avoid from_dlpack: Paddle deadlocks if such a tensor is dropped before its own export.
        own = case.own or (case.offset == 0 and case.strides is None)
        content = case.unsliced(case.bits()) if case.own else case.bits()
        array = to_tensor(case, content) if own else paddle.from_dlpack(content)
        if case.foreign:
            array = array.view(case.dtype)
        if case.own:
            array = case.sliced(array, paddle.broadcast_to)
        array.stop_gradient = case.special != "grad"
        return array
    array = to_tensor(case, case.bits(), paddle.CUDAPlace(split_device(device)[1]))
    return array.view(case.dtype) if case.foreign else array


# A tensor that requires a gradient can be read only without it.
memory = paddle.Tensor.detach


def extras(array):
    return {} if array.stop_gradient else {"grad": True}


def address(array):
    return array.data_ptr()


def _place(device):
    return f"gpu:{device.partition(':')[2]}"


def stream(device):
    return paddle.device.current_stream(_place(device)).__cuda_stream__()[1]


@contextlib.contextmanager
def on_stream(device, handle):
    given = paddle.device.get_stream_from_external(handle, _place(device))
    with paddle.device.stream_guard(given):
        yield
