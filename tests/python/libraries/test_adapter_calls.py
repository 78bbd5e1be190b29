"""What adapters of libraries for GPUs call, held against the installed libraries' own signatures:
a wrong name must not wait for a GPU. See adapter_calls.py, which also plants the mistakes."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

HERE = Path(__file__).resolve().parents[1]
#: The adapters that have a device, and what is imported to see whether the library is there.
LIBRARIES = {
    "cuda_core": "cuda.core",
    "cupy": "cupy",
    "jax": "jax",
    "numba": "numba.cuda",
    "paddle": "paddle",
    "tensorflow": "tensorflow",
    "torch": "torch",
    "tvm_ffi": "tvm_ffi",
    "warp": "warp",
}
#: Calls whose signature no library tells.
UNCHECKED = {
    ("consumer", "cuda_core"): ["LaunchConfig"],
    ("consumer", "cupy"): ["kernel"],
    ("consumer", "numba"): [
        "numba.cfunc(signature)",
        "numba.cfunc(signature)(body(arrays, '')).ctypes",
        "numba.njit",
        "overload(as_array)",
    ],
    ("consumer", "torch"): ["torch.asarray"],
    # From Python 3.13 on a method without arguments has a signature.
    ("producer", "torch"): ["array.to", *["torch.Tensor.detach"] * (sys.version_info < (3, 13))],
}
LONGEST_S = 300


def is_installed(library: str) -> bool:
    try:
        return importlib.util.find_spec(LIBRARIES[library]) is not None
    except ModuleNotFoundError:
        return False


def observe(role: str, library: str, *file: str) -> dict[str, Any]:
    if not is_installed(library):
        pytest.skip(f"{LIBRARIES[library]} is not installed")
    ended = subprocess.run(
        [sys.executable, str(HERE / "adapter_calls.py"), role, library, *file],
        capture_output=True, text=True, timeout=LONGEST_S,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    observed: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return observed


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_names_exist_and_calls_bind_and_each_planted_mistake_is_found(
    role: str, library: str
) -> None:
    observed = observe(role, library)
    assert observed["wrong"] == []
    assert observed["unchecked"] == UNCHECKED.get((role, library), [])
    assert observed["missed"] == []
    assert observed["planted"]["attribute"] >= 2
    if role == "producer":
        assert min(observed["planted"].values()) >= 4
