"""Libraries that are not dlbench's run on the fake CUDA driver: so a verdict on one of them in CI
is a verdict on the library. CuPy, Warp and torch ask for more than a driver says of itself."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fakes

SCRIPT = Path(__file__).parents[1] / "use_cuda_libraries.py"
LIBRARIES = {"cuda-core": "cuda.core", "numba-cuda": "numba_cuda"}

pytestmark = [fakes.needs_fakes, pytest.mark.process]


def has(library: str) -> bool:
    try:
        return importlib.util.find_spec(LIBRARIES[library]) is not None
    except ModuleNotFoundError:
        return False


def use(library: str) -> dict[str, Any]:
    if not has(library):
        pytest.skip(f"{library} is not installed")
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), library],
        env=fakes.environment(), capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    observed: dict[str, Any] = json.loads(ended.stdout)
    return observed


def test_cuda_core_ignores_the_stream_that_it_is_given() -> None:
    assert use("cuda-core") == {
        "same address": True,
        "ignored": {"content": 1, "blocked": False},
        "event": {"content": 2, "blocked": False},
    }


def test_numba_cuda_copies_and_takes_arrays() -> None:
    assert use("numba-cuda") == {
        "back": True,
        "pinned": 3.0,
        "same address": True,
        "device": "Device made of threads",
    }
