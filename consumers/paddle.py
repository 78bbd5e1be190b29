"""Paddle imports."""

import paddle

PROTOCOLS = {"dlpack": paddle.from_dlpack, "convert": paddle.to_tensor}
