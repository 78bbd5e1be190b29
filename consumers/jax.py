"""JAX imports."""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp

PROTOCOLS = {"dlpack": jax.dlpack.from_dlpack, "convert": jnp.asarray}
