"""Whose code a file is: from the file's name and the package folder that holds it."""

from __future__ import annotations

import re
from pathlib import PurePath

OWN = "dlbench"
PYTHON = "CPython"
LIBC = "libc"
_LIBC = re.compile(r"(ld-linux.*|ld|libc|libm|libdl|libpthread|librt|libmvec)([-.].*)?")
_PYTHON = re.compile(r"(libpython|python)[\d.]+.*|python3?")


def of_object(path: str) -> str:
    """A file of machine code: "numpy", "CPython", "libc", or the file's own name."""
    parts = PurePath(path).parts
    if not parts or "?" in path:
        return "unknown"
    name = parts[-1]
    if name.startswith("_worker."):
        return OWN
    if name.startswith(("_native_producer.", "_native_consumer.")):
        return "native"
    package = _package(parts)
    if package:
        return package
    if _PYTHON.fullmatch(name) or "lib-dynload" in parts:
        return PYTHON
    if _LIBC.fullmatch(name):
        return LIBC
    return re.sub(r"\.so(\..*)?$", "", name)


def of_python(path: str) -> str:
    """A file of Python code: its package, an adapter's library, else the standard library's."""
    parts = PurePath(path).parts
    # An adapter of another library may lie anywhere, also inside a package.
    if len(parts) > 1 and parts[-2] in ("producers", "consumers"):
        return PurePath(path).stem
    return _package(parts) or PYTHON


def _package(parts: tuple[str, ...]) -> str:
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            inside = parts[len(parts) - parts[::-1].index(folder) :]
            if inside:
                return re.sub(r"\.(libs|py|cpython.*|abi3.*|so)$", "", inside[0])
    return ""
