"""Dask's arrays: one chunk, a NumPy array that is computed on request."""

import dask.array as da

from dlbench.adapter import require_own_layout

DISTRIBUTION = "dask[array]"
DEFAULT = False

# An array's data is what it computes: memory of its own, each time.
memory = ready = da.Array.compute


def make(case, device):
    require_own_layout(case, "Dask")
    return da.from_array(case.numpy())
