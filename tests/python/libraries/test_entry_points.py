"""Public functions that import arrays, and those that no adapter calls: a new one of a
library is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.libraries]

LOOK = Path(__file__).parents[1] / "look_at_entry_points.py"
COPIES = "copies unless it is asked not to; `convert` is the call that shares where it can"
SAME = "does what the adapter's `convert` does for arrays of other libraries"
BYTES = "reads bytes in one dimension, with the dtype as an argument"
NUMPYS = "accepts NumPy's arrays only"
UNUSED = {
    "numpy": {"frombuffer": BYTES},
    "torch": {"frombuffer": BYTES},
    "jax": {
        "device_put": "places an array on a device",
        "numpy.array": COPIES,
        "numpy.from_dlpack": "the adapter calls it as jax.dlpack.from_dlpack",
        "numpy.frombuffer": BYTES,
    },
    "mlx": {"core.asarray": SAME},
    "pyarrow": {
        "Array.to_tensor": "exports",
        "Tensor.from_dlpack": "one call for a protocol: an array is what others import",
        "Tensor.from_numpy": NUMPYS,
    },
    "tensorflow": {"constant": COPIES},
    "paddle": {"as_tensor": SAME, "asarray": SAME, "from_numpy": NUMPYS, "tensor": SAME},
    "warp": {"constant": "a constant of kernels", "from_numpy": NUMPYS},
    "tvm_ffi": {},
    "tvm": {"runtime.convert": "converts any object"},
    "dpnp": {"array": COPIES, "asanyarray": SAME, "frombuffer": BYTES},
    "array_api_strict": {},
    "awkward": {"from_numpy": NUMPYS},
    "ndonnx": {},
    "onnxruntime": {},
}


@pytest.mark.parametrize("library", sorted(UNUSED))
def test_each_public_import_is_called_or_left_out_for_a_reason(library: str) -> None:
    done = subprocess.run(
        [sys.executable, str(LOOK), library], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, bool] = json.loads(done.stdout.splitlines()[-1])
    assert any(found.values())
    unused = {name.partition(".")[2] for name, is_called in found.items() if not is_called}
    assert unused == UNUSED[library].keys()
