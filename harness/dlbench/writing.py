"""Files that a person named: written whole or not at all, and never over another by accident."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from dlbench.errors import BadInput, os_reason


def require_free(path: Path, option: str, *, force: bool) -> None:
    """Raises BadInput where something is there and may not be replaced."""
    if path.is_dir():
        raise BadInput(f"{option} {path}: is a folder")
    if path.exists() and not force:
        raise BadInput(f"{option} {path}: is there already; --force replaces it")


def write(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Writes what `fill` writes, put into its place whole. Raises OSError."""
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with draft.open("wb") as out:
            fill(out)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_asked(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Like write(), of a file that a person asked for. Raises BadInput, the place named."""
    try:
        write(path, fill)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {os_reason(error)}") from error
