"""Arrays as safetensors reads them from its bytes: NumPy's, over memory of safetensors."""

import numpy as np
from safetensors import numpy as tensors

SCRIPT = {
    "make": (
        "saved = tensors.save(dict(array=np.copy({unsliced}, order='C')))\n"
        "array = tensors.load(saved)['array']{slice}"
    ),
    "make readonly": (
        "saved = tensors.save(dict(array=np.copy({unsliced}, order='C')))\n"
        "array = tensors.load(saved)['array']{slice}\n"
        "array.flags.writeable = False"
    ),
    "make broadcast": "",
}

DEFAULT = False


def make(case, device):
    # safetensors saves the memory of an array as if it were in C order.
    saved = tensors.save({"array": np.copy(case.unsliced(case.numpy()), order="C")})
    return case.sliced(tensors.load(saved)["array"], np.broadcast_to)
