"""Warp imports."""

import warp as wp

wp.config.quiet = True
wp.init()

PROTOCOLS = {"dlpack": wp.from_dlpack, "convert": wp.array}


def extras(array):
    return {"grad": True} if array.requires_grad else {}
