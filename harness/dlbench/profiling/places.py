"""Places of profiling tools for this interpreter; runs in a worker, so in any environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

#: As in trace/roctx.cpp.
ROCTX = (
    "librocprofiler-sdk-roctx.so.1",
    "librocprofiler-sdk-roctx.so.0",
    "librocprofiler-sdk-roctx.so",
    "libroctx64.so.4",
    "libroctx64.so",
)
MAJORS = ("13", "12")  #: of CUDA, the newest first
FOLDERS = ("/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64", "/opt/cuda/lib64")


def cupti() -> list[str]:
    """Names and paths to try, in this order: $DLBENCH_CUPTI alone where it is set; else the
    loader's, NVIDIA's packages in this environment, the toolkit.
    """
    requested = os.environ.get("DLBENCH_CUPTI")
    return [requested] if requested else list(dict.fromkeys(_found()))


def _found() -> Iterator[str]:
    names = [f"libcupti.so.{major}" for major in MAJORS]
    yield from names
    for entry in sys.path:
        for name in names:
            for path in sorted(Path(entry or ".").glob(f"nvidia/*/lib/{name}")):
                yield str(path)
    for folder in FOLDERS:
        for name in names:
            if (Path(folder) / name).exists():
                yield str(Path(folder) / name)
