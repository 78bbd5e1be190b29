"""PyTorch imports."""

import torch

from dlbench import Call, X

SCRIPT = {
    "dlpack cuda": "torch.from_dlpack(array)",
    "convert cuda": "torch.as_tensor(array, device='cuda:{number}')",
    "dlpack to cuda": "torch.from_dlpack(array, device='cuda:{number}')",
}

PROTOCOLS = {
    "dlpack": torch.from_dlpack,
    "cuda_array_interface": torch.as_tensor,
    "convert": torch.as_tensor,
}

CALLS = {
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
