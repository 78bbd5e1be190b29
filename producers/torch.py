"""PyTorch tensors; on the CPU in memory that NumPy laid out."""

import torch

from dlbench.adapter import require, require_own_layout


def devices():
    kind = "rocm" if torch.version.hip else "cuda"
    return ["cpu", *(f"{kind}:{number}" for number in range(torch.cuda.device_count()))]


def make(case, device):
    require(not case.readonly, "PyTorch has no read-only tensors")
    if device == "cpu":
        return torch.from_numpy(case.numpy())
    require_own_layout(case, "PyTorch")
    return torch.from_numpy(case.numpy()).to(device.replace("rocm", "cuda"))


def address(array):
    return array.data_ptr()
