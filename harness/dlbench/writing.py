"""Writes files atomically, and never replaces a file without --force."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from dlbench.errors import BadInput, os_reason


def require_free(
    path: Path, option: str, *, force: bool, advice: str = "--force replaces it"
) -> None:
    """Raises BadInput if the path exists and may not be replaced, or its folder does not exist.
    `advice`: what to do if a file exists."""
    try:
        target = path.resolve()
        mode = _mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            raise BadInput(f"{option} {path}: is {_kind(mode)}; allowed: a file")
        if mode is not None and not force:
            raise BadInput(f"{option} {path}: exists already; {advice}")
        if not target.parent.is_dir():
            raise BadInput(f"{option} {path}: no such folder: {target.parent}")
    except (OSError, RuntimeError) as error:
        # Older versions of Python raise RuntimeError for a link to itself.
        why = os_reason(error) if isinstance(error, OSError) else "a link to itself"
        raise BadInput(f"{option} {path}: {why}") from error


def write(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Writes atomically what `fill` writes. A link is followed; only a file is replaced. Raises
    OSError, and BadInput for a path that is not a file."""
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


def write_requested(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Like write(), for a file that the user named. Raises BadInput that names the place."""
    try:
        write(path, fill)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {os_reason(error)}") from error


def _mode(target: Path) -> int | None:
    """The kind of file at the path; None if nothing exists."""
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
