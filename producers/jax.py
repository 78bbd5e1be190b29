"""JAX arrays."""

import contextlib
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp

from dlbench.adapter import require, require_own_layout

ready = jax.block_until_ready


def devices():
    found = ["cpu"]
    for kind in ("cuda", "rocm"):
        with contextlib.suppress(RuntimeError):
            found += [f"{kind}:{device.id}" for device in jax.devices(kind)]
    return found


def make(case, device):
    require_own_layout(case, "JAX")
    kind, _, number = device.partition(":")
    # device_put would take over NumPy's memory.
    array = jnp.array(case.numpy(), device=jax.devices(kind)[int(number or 0)])
    require(
        array.dtype == case.dtype,
        f"JAX narrows {case.dtype} to {array.dtype} unless JAX_ENABLE_X64 is set",
    )
    return array


def address(array):
    return array.unsafe_buffer_pointer()
