"""array-api-strict arrays: NumPy arrays with the standard's members only."""

import array_api_strict as xp

SCRIPT = {
    "make": "array = xp.asarray(source)",
    "own": "array = xp.asarray(array, copy=True){slice}",
    "memory": "np.from_dlpack({array})",
}

DISTRIBUTION = "array-api-strict"


def make(case, device):
    return case.build(xp.asarray, lambda array: xp.asarray(array, copy=True), xp.broadcast_to)
