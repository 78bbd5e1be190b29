"""Warp imports."""

import warp as wp

wp.config.quiet = True
wp.init()

SCRIPT = {"write": "{array}.fill_(0)"}

PROTOCOLS = {"dlpack": wp.from_dlpack, "convert": wp.array}


def extras(array):
    return {"grad": True} if array.requires_grad else {}
