"""Warp arrays; on the CPU in memory that NumPy laid out."""

import warp as wp

from dlbench.adapter import require, require_own_layout

DISTRIBUTION = "warp-lang"

wp.config.quiet = True
wp.init()


def devices():
    return [str(device) for device in wp.get_devices()]


def make(case, device):
    require(not case.dtype.startswith("complex"), "Warp has no complex numbers")
    require(not case.readonly, "Warp has no read-only arrays")
    if device == "cpu":
        return wp.array(case.numpy(), copy=False, device=device)
    require_own_layout(case, "Warp")
    return wp.array(case.numpy(), device=device)


def address(array):
    return array.ptr
