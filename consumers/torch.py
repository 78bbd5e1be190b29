"""PyTorch imports."""

import ctypes
import functools

import torch

from dlbench import Call, X, _native_consumer
from dlbench.adapter import (
    compiled,
    compiled_module,
    function_of,
    keywords,
    one_list,
    scalars,
    written_function,
)

SCRIPT = {
    "dlpack cuda": "torch.from_dlpack(array)",
    "convert cuda": "torch.as_tensor(array, device='cuda:{number}')",
    "dlpack to cuda": "torch.from_dlpack(array, device='cuda:{number}')",
    "call": """
made = torch.library.Library("repro", "DEF")
made.define("call([[Tensor _]]) -> ()")
made.impl("call", lambda [[_]]: body([[_.data_ptr()]]), "CPU")
function = torch.ops.repro.call.default
""",
    "call custom_op": """
def kernel([[_: torch.Tensor]]) -> None:
    body([[_.data_ptr()]])
function = torch.library.custom_op("repro::call", kernel, mutates_args=())
""",
    "call op|packet": """
built('''
#include <torch/library.h>
static void run([[const at::Tensor &_]]) { body({[[_.data_ptr()]]}); }
TORCH_LIBRARY(repro, m) { m.def("call([[Tensor _]]) -> ()"); }
TORCH_LIBRARY_IMPL(repro, CPU, m) { m.impl("call", &run); }
''', f"-I{folder_of('torch')}/include", f"-I{folder_of('torch')}/include/torch/csrc/api/include",
  f"-L{folder_of('torch')}/lib", "-ltorch", "-ltorch_cpu", "-lc10", is_module=False)
function = torch.ops.repro.call[[.default|]]
""",
    "call pybind11": """
binding = built('''
#include <torch/csrc/utils/pybind.h>
PYBIND11_MODULE(binding, m) {
  m.def("call", []([[const at::Tensor &_]]) { body({[[_.data_ptr()]]}); });
}
''', f"-I{folder_of('torch')}/include", f"-I{folder_of('torch')}/include/torch/csrc/api/include",
  f"-L{folder_of('torch')}/lib", "-ltorch", "-ltorch_cpu", "-lc10", "-ltorch_python")
function = binding.call
""",
    "call stable": """
built('''
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
static void run([[torch::stable::Tensor _]]) { body({[[_.data_ptr()]]}); }
STABLE_TORCH_LIBRARY(repro, m) { m.def("call([[Tensor _]]) -> ()"); }
STABLE_TORCH_LIBRARY_IMPL(repro, CPU, m) { m.impl("call", TORCH_BOX(&run)); }
''', f"-I{folder_of('torch')}/include", f"-I{folder_of('torch')}/include/torch/csrc/api/include",
  f"-L{folder_of('torch')}/lib", "-ltorch", "-ltorch_cpu", "-lc10", is_module=False)
function = torch.ops.repro.call.default
""",
}


NAMESPACE = "dlbench"


@functools.cache
def library():
    return torch.library.Library(NAMESPACE, "DEF")


def body(arrays):
    """The body of an operator that is written in Python."""
    empty = _native_consumer.call_dlpack_c
    return written_function(arrays, "empty({_})", "_: Tensor", empty=empty, Tensor=torch.Tensor)


@functools.cache
def operator(arrays):
    """An operator by `define` and `impl`."""
    name = f"defined_{arrays}"
    library().define(f"{name}({', '.join(f'Tensor a{i}' for i in range(arrays))}) -> ()")
    library().impl(name, body(arrays), "CPU")
    return getattr(getattr(torch.ops, NAMESPACE), name).default


@functools.cache
def custom_operator(arrays):
    name = f"{NAMESPACE}::custom_{arrays}"
    return torch.library.custom_op(name, body(arrays), mutates_args=())


def in_inference(function, arrays):
    """The call in `torch.inference_mode`."""
    call = Call(function, *[X] * arrays)
    call.within = torch.inference_mode
    return call


BUILDS = {
    "op": "call/torch_op.cc",
    "op-inference": "call/torch_op.cc",
    "op-keywords": "call/torch_op.cc",
    "op-list": "call/torch_op.cc",
    "op-output": "call/torch_op.cc",
    "op-scalars": "call/torch_op.cc",
    "packet": "call/torch_op.cc",
    "pybind11": "call/torch_pybind11.cc",
    "stable": "call/torch_stable.cc",
}


@functools.cache
def compiled_operators(name, namespace):
    ctypes.CDLL(compiled(__file__, BUILDS[name]))  # which registers them
    return getattr(torch.ops, namespace)


def compiled_operator(name, namespace, prefix="call", spelled=None):
    """The only overload of an operator, which is found faster than the operator finds it."""

    def overload(operator, arrays):
        return spelled(operator.default, arrays) if spelled else operator.default

    return function_of(lambda: compiled_operators(name, namespace), prefix, overload)


def of_list(arrays):
    return one_list(compiled_operators("op", "dlbench_compiled").list.default, arrays)


@functools.cache
def extension():
    return compiled_module(__file__, BUILDS["pybind11"])


PROTOCOLS = {
    "dlpack": torch.from_dlpack,
    "cuda_array_interface": torch.as_tensor,
    "convert": torch.as_tensor,
    "call": operator,
}

CALLS = {
    "custom_op": {"call": custom_operator},
    "custom_op-inference": {"call": lambda n: in_inference(custom_operator(n), n)},
    "op": {"call": compiled_operator("op", "dlbench_compiled")},
    "op-inference": {"call": compiled_operator("op", "dlbench_compiled", "call", in_inference)},
    "op-keywords": {"call": compiled_operator("op", "dlbench_compiled", "call", keywords)},
    "op-list": {"call": of_list},
    "op-output": {"call": compiled_operator("op", "dlbench_compiled", "output")},
    "op-scalars": {"call": compiled_operator("op", "dlbench_compiled", "scalars", scalars)},
    "packet": {"call": function_of(lambda: compiled_operators("op", "dlbench_compiled"), "call")},
    "pybind11": {"call": function_of(extension, "call")},
    "stable": {"call": compiled_operator("stable", "dlbench_stable")},
    "Tensor": torch.Tensor,
    "asarray": torch.asarray,
    "asarray-no-copy": Call(torch.asarray, X, copy=False),
    "from_numpy": torch.from_numpy,
    "tensor": torch.tensor,
}


def calls(source, target):
    place = target.replace("rocm", "cuda")
    if source != target:
        return {"dlpack": Call(torch.from_dlpack, X, device=place)}
    # Without `device`, as_tensor copies to the CPU.
    here = Call(torch.as_tensor, X, device=place)
    return {"cuda_array_interface": here, "convert": here}
