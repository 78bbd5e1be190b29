"""The fake vendor libraries, made of threads, that the C++ build leaves in BUILD/fake."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlbench import _device


def _folder() -> Path | None:
    """$DLBENCH_FAKES, as tests/run sets it; else beside extension modules that lie in a build."""
    named = os.environ.get("DLBENCH_FAKES")
    folder = Path(named) if named else Path(_device.__file__).resolve().parent / "fake"
    return folder if (folder / "libcuda.so.1").exists() else None


FOLDER = _folder()

needs_fakes = pytest.mark.skipif(
    FOLDER is None, reason="DLBENCH_FAKES names no build with -DDLBENCH_FAKE_DRIVERS=ON"
)


def environment(**more: str) -> dict[str, str]:
    """This process's environment with the fake drivers in it; `more` as tests/fake/calls.hpp says:
    DLBENCH_FAKE_FAIL, DLBENCH_FAKE_DEVICES, DLBENCH_FAKE_MODE."""
    paths = [str(FOLDER), os.environ.get("LD_LIBRARY_PATH", "")]
    # Copy floors copy an eighth of it at a time: of a large device that takes seconds.
    small = {"DLBENCH_FAKE_MEMORY_MB": "512"}
    return {**os.environ, **small, "LD_LIBRARY_PATH": ":".join(filter(None, paths)), **more}
