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

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
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
    ("consumer", "numba"): ["overload(as_array)"],
    ("producer", "torch"): ["array.to"],
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


@pytest.mark.parametrize(
    ("role", "library", "right", "wrong", "message"),
    [
        ("producer", "cupy", "get_current_stream()", "current_stream()", "no attribute"),
        ("producer", "cupy", "array.data.ptr", "array.data.pointer", "no pointer"),
        ("producer", "cupy", ").use()", ").use(0)", "too many positional"),
        ("producer", "cupy", "cupy.cuda.malloc_managed)", "cupy.cuda.managed)", "no attribute"),
        ("consumer", "cupy", "cupy.from_dlpack", "cupy.fromdlpack", "no attribute"),
        ("producer", "warp", "pinned=True", "pin=True", "unexpected keyword argument 'pin'"),
        ("producer", "warp", "get_stream(device)", "get_stream(device, 0)", "too many positional"),
        ("producer", "cuda_core", "stream=queue)", "queue=queue)", "argument"),
        ("producer", "cuda_core", "place.create_stream()", "place.stream()", "no stream"),
        ("consumer", "cuda_core", "X, stream_ptr=handle", "X, stream=handle", "'stream'"),
        ("producer", "numba", "external_stream(handle)", "external_stream()", "missing a required"),
        ("producer", "numba", "stream=STREAMS", "on=STREAMS", "unexpected keyword argument 'on'"),
        ("consumer", "numba", "cuda.as_cuda_array", "cuda.as_array", "no attribute"),
        ("producer", "torch", "set_device(", "set_devise(", "no attribute"),
        ("producer", "torch", ".pin_memory()", ".pin_memory(0)", "too many positional"),
        ("consumer", "torch", "X, device=place)", "X, place=place)", "'place'"),
    ],
)
def test_a_mistake_in_the_text_is_found(
    role: str, library: str, right: str, wrong: str, message: str, tmp_path: Path
) -> None:
    text = (ROOT / f"{role}s/{library}.py").read_text()
    assert right in text
    copy = tmp_path / f"{library}.py"
    copy.write_text(text.replace(right, wrong))
    found = observe(role, library, str(copy))["wrong"]
    assert any(message in line for line in found), found
