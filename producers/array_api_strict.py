"""array-api-strict arrays: NumPy arrays with the standard's members only, on one of its devices,
which lie in the same memory.
"""

import array_api_strict as xp

SCRIPT = {
    "make": "array = xp.asarray(source)",
    "make device1": "array = xp.asarray(source, device=xp.Device('device1'))",
    "own": "array = xp.asarray(array, copy=True){slice}",
    "memory": "np.from_dlpack({array})",
}

DISTRIBUTION = "array-api-strict"


ARGUMENTS = {"device1": ""}


def make(case, device):
    place = xp.Device("device1") if ARGUMENT[0] else None
    return case.build(
        lambda content: xp.asarray(content, device=place),
        lambda array: xp.asarray(array, copy=True),
        xp.broadcast_to,
    )
