"""JAX imports."""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp

from dlbench import Call, X
from dlbench.adapter import split_device

SCRIPT = {
    "dlpack cuda": "jax.dlpack.from_dlpack(array)",
    "dlpack to cuda": "jax.dlpack.from_dlpack(array, device=jax.devices('cuda')[{number}])",
}

PROTOCOLS = {
    "dlpack": jax.dlpack.from_dlpack,
    "cuda_array_interface": jnp.asarray,
    "convert": jnp.asarray,
}
CALLS = {
    "array": jnp.array,
    "asarray-no-copy": Call(jnp.asarray, X, copy=False),
    "device_put": jax.device_put,
    "numpy.from_dlpack": {"dlpack": jnp.from_dlpack},
}


def calls(source, target):
    if source == target:
        return {}
    kind, number = split_device(target)
    place = jax.devices(kind)[number]
    return {"dlpack": Call(jax.dlpack.from_dlpack, X, device=place)}


def snapshot(array):
    # No public function names the stream that JAX works on. Its import passes another one, which
    # `Device.get_stream_for_external_ready_events` returns: the next of four in each call.
    return array + 0


def extras(array):
    return {}
