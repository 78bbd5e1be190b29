"""Warp imports."""

import warp as wp

wp.config.quiet = True
wp.init()

PROTOCOLS = {"dlpack": wp.from_dlpack, "convert": wp.array}
