"""MLX arrays."""

import mlx.core as mx

from dlbench.adapter import require_own_layout

DISTRIBUTION = ("mlx[cpu]", "mlx", "mlx-cpu")

ready = mx.eval


def make(case, device):
    require_own_layout(case, "MLX")
    # Without a dtype of its own float64 would be narrowed.
    dtype = mx.bool_ if case.dtype == "bool" else getattr(mx, case.dtype)
    return mx.array(case.numpy(), dtype=dtype)
