"""Paddle imports."""

import paddle

PROTOCOLS = {"dlpack": paddle.from_dlpack, "convert": paddle.to_tensor}
CALLS = {
    "as_tensor": paddle.as_tensor,
    "asarray": paddle.asarray,
    "from_numpy": paddle.from_numpy,
    "tensor": paddle.tensor,
}
