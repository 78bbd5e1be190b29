"""Warp imports."""

import warp as wp

wp.config.quiet = True
wp.init()

SCRIPT = {"write": "{array}.fill_(0)"}

PROTOCOLS = {"dlpack": wp.from_dlpack, "convert": wp.array}
CALLS = {
    "from_jax": wp.from_jax,
    "from_numpy": wp.from_numpy,
    "from_paddle": wp.from_paddle,
    "from_torch": wp.from_torch,
}


def extras(array):
    return {"grad": True} if array.requires_grad else {}
