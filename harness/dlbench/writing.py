"""Writes files atomically, and never replaces a file without --force."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from dlbench import _core
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


def write(path: Path, fill: Callable[[BinaryIO], object], *, is_requested: bool = False) -> None:
    """Writes atomically what `fill` writes. Only a file is replaced, or a link: a folder from
    elsewhere may hold links to files here. A link that the user named is followed. Raises OSError,
    and BadInput for a path that is not a file."""
    target = path.resolve() if is_requested else path
    mode = _mode(target)
    # A link that was resolved leads to itself: Python 3.13 raises no error for it.
    is_link = not is_requested and mode is not None and stat.S_ISLNK(mode)
    if mode is not None and not (stat.S_ISREG(mode) or is_link):
        raise BadInput(f"cannot write {path}: is {_kind(mode)}")
    number, draft = _core.create_draft(str(target))
    try:
        with open(draft, "wb", opener=lambda *_: number) as out:
            fill(out)
            if mode is not None and stat.S_ISREG(mode):
                os.fchmod(number, stat.S_IMODE(mode))
            out.flush()
            draft.replace(target)  # while it is open, as its lock keeps it
    finally:
        draft.unlink(missing_ok=True)


def write_or_refuse(
    path: Path, fill: Callable[[BinaryIO], object], *, is_requested: bool = False
) -> None:
    """The same. Raises BadInput that names the place."""
    try:
        write(path, fill, is_requested=is_requested)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {os_reason(error)}") from error


def write_requested(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """The same for a file that the user named."""
    write_or_refuse(path, fill, is_requested=True)


def make_folder(path: Path) -> None:
    """Makes a folder with a name that the user did not choose, if it does not exist. Raises
    BadInput for a link, which may lead anywhere, and OSError."""
    if path.is_symlink():
        raise BadInput(f"cannot write to {path}: is a link; allowed: a folder")
    path.mkdir(exist_ok=True)


def _mode(target: Path) -> int | None:
    """The kind of file at the path; None if nothing exists."""
    try:
        return target.lstat().st_mode
    except FileNotFoundError:
        return None


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISLNK, "a link to itself"),
    )
    return next((word for is_kind, word in kinds if is_kind(mode)), "a device")
