"""Public functions that import arrays, and those that no adapter calls: a new one of a
library is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dlbench.libraries import discover

pytestmark = [pytest.mark.process, pytest.mark.libraries]

LOOK = Path(__file__).parent / "look_at_entry_points.py"
BYTES = "reads bytes in one dimension, with the dtype as an argument"
FORMAT = "another format of the same content"
NOTHING = "makes no array of an array"
TABLE = "makes a table of one column"
#: The functions that no adapter calls, with the reason.
LEFT_OUT = {
    "awkward": {"from_jax": "needs a registration and a setting of JAX, and is deprecated"},
    "cuda_core": {"core.utils.StridedMemoryView.from_buffer": BYTES},
    "cupy": {"frombuffer": BYTES},
    "duckdb": {"from_arrow": "makes a query; the adapter fetches its column", "lit": NOTHING},
    "dpnp": {"as_usm_ndarray": "makes an array of another type", "frombuffer": BYTES},
    "jax": {"numpy.frombuffer": BYTES},
    "numba": {
        "cuda.from_cuda_array_interface": "accepts the dict of an interface",
        "cuda.to_device": "copies from the host to a device",
    },
    "numpy": {"frombuffer": BYTES},
    "numpy_ma": {"ma.frombuffer": BYTES},
    "paddle": {"Tensor": NOTHING},
    "pandas": {"DataFrame": TABLE, "array": "makes an extension's array, which is no series"},
    "pillow": {
        "Image.fromarrow": "needs the mode and the size of the image",
        "Image.frombuffer": "needs the mode and the size of the image",
    },
    "pint": {"Quantity": "the adapter calls that of the application's registry"},
    "polars": {"DataFrame": TABLE, "from_numpy": TABLE, "from_torch": TABLE, "lit": NOTHING},
    "pyarrow": {
        "Array.to_tensor": "exports",
        "Tensor": NOTHING,
        "chunked_array": "accepts a list of arrays",
    },
    "scipy_sparse": {
        "sparse.dia_array": FORMAT,
        "sparse.dok_array": FORMAT,
        "sparse.eye_array": NOTHING,
        "sparse.lil_array": FORMAT,
    },
    "sparse": {"COO.to_device": NOTHING, "GCXS": FORMAT},
    "tensorflow": {"Tensor": NOTHING},
    "tinygrad": {"Tensor.from_blob": "accepts an address", "Variable": NOTHING},
    "torch": {"frombuffer": BYTES},
    "tvm": {"runtime.Tensor": NOTHING},
    "tvm_ffi": {"Tensor": NOTHING},
    "warp": {"constant": NOTHING},
    "xarray": {"Index": NOTHING, "Variable": "needs the names of the dimensions"},
}
#: Consumers of dlbench's own, Python's types, bindings, whose functions are dlbench's, and
#: safetensors, which imports bytes.
NO_LIBRARY = {"bytearray", "cffi", "ctypes", "cython", "faulty", "memoryview", "nanobind",
              "native", "pybind11", "safetensors"}  # fmt: skip
CONSUMERS = {name for name, roles in discover.catalogue().files.items() if "consumer" in roles}


@pytest.mark.parametrize("library", sorted(CONSUMERS - NO_LIBRARY))
def test_each_public_import_is_called_or_left_out_for_a_reason(library: str) -> None:
    if not discover.library(library, discover.catalogue().roles(library)).installed:
        pytest.skip(f"{library} is not installed")
    done = subprocess.run(
        [sys.executable, str(LOOK), library], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, bool] = json.loads(done.stdout.splitlines()[-1])
    assert found
    unused = {name.partition(".")[2] for name, is_called in found.items() if not is_called}
    assert unused == LEFT_OUT.get(library, {}).keys()
