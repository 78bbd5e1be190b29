"""JAX arrays."""

import contextlib
import functools
import os
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp

from dlbench.adapter import require, split_device, turns_in_a_second

SCRIPT = {
    # With `device=`, XLA ends the process for an empty array of float6.
    "make": "with jax.default_device(jax.devices('cpu')[0]):\n    array = jax.numpy.array(source)",
    "make fortran": "",
    "make cuda": (
        "with jax.default_device(jax.devices('cuda')[{number}]):\n    array = jnp.array(source)"
    ),
}

DEVICES = ("cpu", "cuda", "rocm")

CPU = jax.devices("cpu")[0]

ready = jax.block_until_ready


def devices():
    found = ["cpu"]
    for kind in ("cuda", "rocm"):
        with contextlib.suppress(RuntimeError):
            found += [f"{kind}:{device.id}" for device in jax.devices(kind)]
    return found


def make(case, device):
    # Every array of JAX's is read-only.
    kind, number = split_device(device)
    with jax.default_device(jax.devices(kind)[number]):
        content = case.numpy()
        if case.storage == "view":
            array = case.sliced(jnp.array(case.unsliced(content)), jnp.broadcast_to)
        else:
            array = jnp.array(content)  # device_put would share NumPy's memory
    require(
        array.dtype == case.dtype,
        f"JAX narrows {case.dtype} to {array.dtype} unless JAX_ENABLE_X64 is set",
    )
    if case.layout == "fortran":
        from jax.experimental.layout import Format, Layout

        array = jax.device_put(array, Format(Layout(major_to_minor=(1, 0)), array.sharding))
    return array


def address(array):
    return array.unsafe_buffer_pointer()


@functools.partial(jax.jit, donate_argnums=0)
def late(zeros, content, turns):
    """`content`, in the memory of `zeros`, after `turns` turns that the compiler cannot remove."""
    first = turns.astype(jnp.uint32) | 1

    def turn(_, state):
        return state * jnp.uint32(1664525) + jnp.uint32(1013904223)

    state = jax.lax.fori_loop(0, turns, turn, first)
    return zeros + content + (state >> 31 >> 1).astype(content.dtype)


@functools.cache
def turns_a_second():
    def spent(turns):
        content = jnp.ones(16, device=CPU)
        zeros = jnp.zeros_like(content)
        count = jnp.asarray(turns, jnp.int32, device=CPU)
        jax.block_until_ready((content, zeros, count))
        begin = time.perf_counter()
        late(zeros, content, count).block_until_ready()
        return time.perf_counter() - begin

    return turns_in_a_second(spent, 1_000_000)


def busy(case, device, seconds):
    # On the CPU only: on a GPU the host drives each turn of a loop and waits for it.
    content = make(case, device)
    zeros = jnp.zeros_like(content)
    turns = jnp.asarray(int(seconds * turns_a_second()), jnp.int32, device=CPU)
    jax.block_until_ready((content, zeros, turns))
    # The result uses this memory; reading the result's own address would wait.
    address = zeros.unsafe_buffer_pointer()
    return late(zeros, content, turns), address


def compute_from(source):
    return jax.dlpack.from_dlpack(source) + 0
