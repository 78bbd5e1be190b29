"""The lines of `doctor` about tools for ranges and hidden work; all of them are optional."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from dlbench import _core
from dlbench.profiling import places
from dlbench.text.doctor_check import Check


def checks() -> Iterator[Check]:
    if _core.nvtx:
        yield Check("nvtx", f"built with version {_core.nvtx}")
    else:
        advice = "no ranges for NVIDIA's tools: build with nvidia-nvtx installed"
        yield Check("nvtx", "built without", advice)
    yield _library("roctx", places.ROCTX, "optional: ranges for AMD's tools")
    yield _library("cupti", places.cupti(), "optional: counts CUDA calls (--trace-api)")


def _library(name: str, libraries: tuple[str, ...] | list[str], advice: str) -> Check:
    found = next((one for one in libraries if _loads(one)), None)
    if found is None:
        return Check(name, f"no library ({libraries[0]})", advice)
    return Check(name, found)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
