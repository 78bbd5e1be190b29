"""Arrays as safetensors reads them from its bytes: NumPy's, over memory of safetensors."""

import numpy as np
from safetensors import numpy as tensors

SCRIPT = {
    "make": "array = tensors.load(tensors.save(dict(array={unsliced})))['array']{slice}",
    "make broadcast": "",
}

DEFAULT = False


def make(case, device):
    saved = tensors.save({"array": case.unsliced(case.numpy())})
    return case.sliced(tensors.load(saved)["array"], np.broadcast_to)
