"""PyTorch tensors; over NumPy's memory where a case sets the address or the layout."""

import contextlib

import torch

from dlbench.adapter import require, split_device

SCRIPT = {
    "source": "bits",
    "make": "array = torch.from_numpy(source)",
    "make parameter": (
        "array = torch.nn.Parameter(torch.from_numpy(source).clone(), requires_grad=False)"
    ),
    "make meta": "array = torch.from_numpy(source).to('meta')",
    "make usual": "array = torch.from_numpy(source).clone()",
    "make ones": "array = torch.from_numpy(source)",
    "make foreign": "array = torch.from_numpy(source).view(torch.{dtype}).clone()",
    "make grad": "array = torch.from_numpy(source).clone().requires_grad_()",
    "make conj": "array = torch.from_numpy(source.conj()).clone().conj()",
    "make neg": "array = torch._neg_view(torch.from_numpy(-source).clone())",
    "make cuda": "array = torch.from_numpy({unsliced}).to('cuda:{number}'){slice}",
    "own": "array = array.clone(){slice}",
    "bits": (
        "torch.resolve_neg(torch.resolve_conj({array}.detach())).contiguous()"
        ".view(torch.{dtype}).numpy()"
    ),
}

DEVICES = ("cpu", "cuda", "rocm", "npu")
ARGUMENTS = {"parameter": "", "meta": ""}
SPECIAL = ("grad", "pinned", "conj", "neg")


#: Ascend's, which PyTorch loads where torch_npu is installed.
NPU = getattr(torch, "npu", None)


def devices():
    kind = "rocm" if torch.version.hip else "cuda"
    counts = {kind: torch.cuda.device_count()}
    if NPU:
        counts["npu"] = NPU.device_count()
    return ["cpu", *(f"{kind}:{number}" for kind in counts for number in range(counts[kind]))]


def make(case, device):
    content = case.bits()
    is_own = case.own or case.is_usual or device != "cpu"
    array = torch.from_numpy(case.unsliced(content) if is_own else content)
    if case.foreign:
        array = array.view(getattr(torch, case.dtype))
    if device == "cpu":
        array = array.clone() if is_own else array
    else:
        kind, number = split_device(device)
        require(kind != "npu" or NPU, "PyTorch has no npu without torch_npu")
        # PyTorch exports only tensors of its current device.
        (NPU if kind == "npu" else torch.cuda).set_device(number)
        if case.special != "pinned":
            array = array.to(device.replace("rocm", "cuda"))
    array = case.sliced(array, torch.broadcast_to) if is_own else array
    if case.special in ("conj", "neg"):
        # Each element once, also where rows lie in the same memory; by its parts, because PyTorch
        # negates the complex number 0 to 0 or to -0.
        parts = array.as_strided((case.reach[1] // case.itemsize,), (1,))
        parts = torch.view_as_real(parts) if parts.is_complex() else parts
        parts = parts[:, 1] if case.special == "conj" else parts
        torch.neg(parts, out=parts)
        array = array.conj() if case.special == "conj" else torch._neg_view(array)
    if case.special == "pinned":
        require(torch.cuda.is_available(), "pinned memory needs a GPU")
        array = array.pin_memory()
    if ARGUMENT[0] == "parameter":
        array = torch.nn.Parameter(array, requires_grad=False)
    if ARGUMENT[0] == "meta":
        array = array.to("meta")  # a shape and a dtype without memory
    if case.special == "grad":
        array.requires_grad_()
    return array


def stream(device):
    return torch.cuda.current_stream(split_device(device)[1]).cuda_stream


@contextlib.contextmanager
def on_stream(device, handle):
    number = split_device(device)[1]
    # ExternalStream(0) is not the default stream, but a new one of PyTorch's pool.
    default = torch.cuda.default_stream(number)
    with torch.cuda.stream(torch.cuda.ExternalStream(handle, number) if handle else default):
        yield


# A tensor that requires a gradient can be read only without it.
memory = torch.Tensor.detach


def values(array):
    return torch.resolve_neg(torch.resolve_conj(torch.Tensor.detach(array)))


def extras(array):
    found = {"grad": True} if array.requires_grad else {}
    return found if array.layout == torch.strided else found | {"sparsity": True}


def address(array):
    return array.data_ptr()
