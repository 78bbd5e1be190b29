"""array-api-strict arrays: NumPy arrays with the standard's members only."""

import array_api_strict as xp

SCRIPT = {"make": "array = xp.asarray(source)", "memory": "np.from_dlpack({array})"}

DISTRIBUTION = "array-api-strict"


def make(case, device):
    return xp.asarray(case.numpy())
