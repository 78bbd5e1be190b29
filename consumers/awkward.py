"""Awkward's arrays."""

import awkward as ak

DEFAULT = False

PROTOCOLS = {"dlpack": ak.from_dlpack, "convert": ak.Array}
CALLS = {
    "from_arrow": ak.from_arrow,
    "from_cupy": ak.from_cupy,
    "from_numpy": ak.from_numpy,
    "from_tensorflow": ak.from_tensorflow,
    "from_torch": ak.from_torch,
}
