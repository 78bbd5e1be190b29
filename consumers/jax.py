"""JAX imports."""

import ctypes
import functools
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp
import jaxlib  # noqa: F401  (its machine code is JAX's)

from dlbench import Call, X
from dlbench.adapter import compiled, split_device, written_function

SCRIPT = {
    "dlpack cuda": "jax.dlpack.from_dlpack(array)",
    "dlpack to cuda": "jax.dlpack.from_dlpack(array, device=jax.devices('cuda')[{number}])",
    "call ffi": """
library = built('''
#include <vector>
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
static ffi::Error run(ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer>) {
  std::vector<const void *> places;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    places.push_back(arguments.get<ffi::AnyBuffer>(i)->untyped_data());
  called(places.data(), places.size());
  return ffi::Error::Success();
}
extern "C" __attribute__((visibility("default"))) XLA_FFI_Error *call(XLA_FFI_CallFrame *frame) {
  static auto *handler = ffi::Ffi::Bind().RemainingArgs().Ret<ffi::AnyBuffer>().To(run).release();
  return handler->Call(frame);
}
''', f"-I{folder_of('jaxlib')}/include", is_module=False)
jax.ffi.register_ffi_target("call", jax.ffi.pycapsule(library.call), platform="cpu")
made = jax.jit(jax.ffi.ffi_call("call", jax.ShapeDtypeStruct((1,), jnp.uint32)))
function = lambda *arrays: jax.block_until_ready(made(*arrays))
""",
}

BUILDS = {"ffi": "call/jax.cc"}


@functools.cache
def target():
    """The name of a handler of XLA's FFI."""
    handler = ctypes.CDLL(compiled(__file__, BUILDS["ffi"]))["dlbench_jax_call"]
    jax.ffi.register_ffi_target("dlbench_call", jax.ffi.pycapsule(handler), platform="cpu")
    return "dlbench_call"


def handled(arrays):
    """A jitted call of the handler, which returns when the handler has run."""
    call = jax.ffi.ffi_call(target(), jax.ShapeDtypeStruct((1,), jnp.uint32))
    made = jax.jit(lambda *arrays: call(*arrays))
    return written_function(arrays, "wait(made({_}))", made=made, wait=jax.block_until_ready)


PROTOCOLS = {
    "dlpack": jax.dlpack.from_dlpack,
    "cuda_array_interface": jnp.asarray,
    "convert": jnp.asarray,
}
CALLS = {
    "array": jnp.array,
    "ffi": {"call": handled},
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
