"""TVM tensors."""

import tvm

from dlbench.adapter import split_device

SCRIPT = {
    "make": "array = tvm.runtime.tensor(source, device=tvm.cpu())",
    "make cuda": "array = tvm.runtime.tensor(source, device=tvm.cuda({number}))",
    "values": "{array}.numpy()",
}

DISTRIBUTION = "apache-tvm"
DEVICES = ("cpu", "cuda", "rocm")
# Its import reads the symbols of every loaded library. After TensorFlow's it takes 2 s longer.
IMPORT_FIRST = True


def devices():
    kinds = {"cuda": tvm.cuda, "rocm": tvm.rocm}
    return ["cpu", *(f"{kind}:0" for kind, device in kinds.items() if device(0).exist)]


def make(case, device):
    kind, number = split_device(device)
    return tvm.runtime.tensor(case.numpy(), device=tvm.device(kind, number))


def address(tensor):
    return tensor.data_ptr()
