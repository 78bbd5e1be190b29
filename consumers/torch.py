"""PyTorch imports."""

import torch

PROTOCOLS = {"dlpack": torch.from_dlpack, "convert": torch.as_tensor}
