"""Files that a person named, or that a run leaves: written whole or not at all, and never over
another by accident."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from dlbench.errors import BadInput, os_reason


def require_free(path: Path, option: str, *, force: bool) -> None:
    """Raises BadInput where something is there and may not be replaced, and where there is no
    folder for it."""
    try:
        target = path.resolve()
        mode = _mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            raise BadInput(f"{option} {path}: is {_kind(mode)}; allowed: a file")
        if mode is not None and not force:
            raise BadInput(f"{option} {path}: is there already; --force replaces it")
        if not target.parent.is_dir():
            raise BadInput(f"{option} {path}: there is no folder {target.parent}")
    except (OSError, RuntimeError) as error:
        # Of a link to itself older versions of Python raise the latter.
        why = os_reason(error) if isinstance(error, OSError) else "a link to itself"
        raise BadInput(f"{option} {path}: {why}") from error


def write(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Writes what `fill` writes, put into its place whole: into the file that a link leads to, and
    over nothing but a file. Raises OSError, and BadInput for a place that is no file."""
    target = path.resolve()
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        raise BadInput(f"cannot write {path}: is {_kind(mode)}")
    draft = target.with_name(f".dlbench-{secrets.token_hex(8)}")
    try:
        with draft.open("xb") as out:
            fill(out)
            if mode is not None:
                os.fchmod(out.fileno(), stat.S_IMODE(mode))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_asked(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Like write(), for a file that the user named. Raises BadInput that names the place."""
    try:
        write(path, fill)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {os_reason(error)}") from error


def _mode(target: Path) -> int | None:
    """What is there; None for nothing."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((word for is_kind, word in kinds if is_kind(mode)), "a device")
