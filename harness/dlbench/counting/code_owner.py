"""The owner of a code file: from the file's name and the package folder that holds it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path, PurePath

OWN = "dlbench"
PYTHON = "CPython"
LIBC = "libc"
GENERATED = "generated code"
_LIBC = re.compile(r"(ld-linux.*|ld|libc|libm|libdl|libpthread|librt|libmvec)([-.].*)?")
_STANDARD = re.compile(r"python3\.\d+t?|python3\d+t?\.zip")
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
    """A file of Python code: its package, an adapter's library, the standard library, or how the
    code was made if it has no file."""
    if path.startswith("<"):
        return PYTHON if path.startswith("<frozen ") else GENERATED
    parts = PurePath(path).parts
    # An adapter of another library may lie anywhere, also inside a package.
    if len(parts) > 1 and parts[-2] in ("producers", "consumers"):
        return PurePath(path).stem
    return _package(parts) or (PYTHON if _is_standard(parts) else _top(Path(path)))


def _is_standard(parts: tuple[str, ...]) -> bool:
    """Below lib/python3.11, or in python311.zip."""
    return any(
        above in ("lib", "lib64") and _STANDARD.fullmatch(name)
        for above, name in itertools.pairwise(parts)
    )


def _top(path: Path) -> str:
    """The package of a file that is not installed: its topmost folder with an `__init__.py`, else
    the folder that holds the file."""
    folder = path.parent
    # "." and "/" have no name, even if they hold an `__init__.py`.
    while folder.parent.name and (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder.name or path.stem or "unknown"


def _package(parts: tuple[str, ...]) -> str:
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            inside = parts[len(parts) - parts[::-1].index(folder) :]
            if inside:
                return re.sub(r"\.(libs|py|cpython.*|abi3.*|so)$", "", inside[0])
    return ""
