"""array-api-strict imports."""

import array_api_strict as xp

from dlbench import Call, X

PROTOCOLS = {"dlpack": xp.from_dlpack, "convert": xp.asarray}
CALLS = {
    "asarray-no-copy": Call(xp.asarray, X, copy=False),
    "device1": {
        "dlpack": Call(xp.from_dlpack, X, device=xp.Device("device1")),
        "convert": Call(xp.asarray, X, device=xp.Device("device1")),
    },
}


def extras(array):
    return {}
