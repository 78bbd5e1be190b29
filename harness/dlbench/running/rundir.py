"""The folder of a run."""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import secrets
from pathlib import Path

from dlbench.document import LATEST, RESULTS
from dlbench.errors import BadInput, first_line, os_reason


def fresh(requested: str | None) -> Path:
    """A new, empty, writable folder: `requested`, or dlbench-results/TIME. Raises BadInput if that
    is impossible; existing files are not changed.
    """
    if requested is None:
        return _stamped(datetime.datetime.now(datetime.timezone.utc))
    folder = typed(requested)
    if folder == RESULTS / LATEST:
        raise BadInput(f"--out {requested}: is the link to the latest run; choose another folder")
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"--out {requested}: is a file")
    try:
        if folder.is_dir() and any(folder.iterdir()):
            held = "holds another run" if (folder / "journal.jsonl").exists() else "is not empty"
            raise BadInput(f"--out {requested}: {held}")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {requested}: {os_reason(error)}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadInput(f"--out {requested}: is not writable")
    return folder


def typed(requested: str) -> Path:
    """A folder of the command line. `new/..` is this folder, also before `new` is made."""
    folder = Path(requested)
    return Path(os.path.relpath(folder.resolve())) if ".." in folder.parts else folder


def _stamped(now: datetime.datetime) -> Path:
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    try:
        RESULTS.mkdir(exist_ok=True)
        for suffix in ("", *(f"-{n}" for n in range(2, 100))):
            folder = RESULTS / f"{stamp}{suffix}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise BadInput(f"cannot create {RESULTS}/{stamp}: {os_reason(error)}") from error
    raise BadInput(f"cannot create {RESULTS}/{stamp}: 100 runs exist that started in this second")


def resumable(requested: str) -> Path:
    """The folder of --resume: `latest`, a folder, a link to one, or a file in one. A link in
    dlbench-results is resolved to the run's own folder. Raises BadInput if there is none.
    """
    folder = Path(requested)
    if requested == LATEST and not folder.exists():
        folder = RESULTS / LATEST
    try:
        whole = folder.resolve(strict=True)
        runs = RESULTS.resolve()
    except (OSError, RuntimeError) as error:
        why = "no such folder" if isinstance(error, FileNotFoundError) else first_line(error)
        raise BadInput(f"cannot resume {requested!r}: {why}") from error
    if not whole.is_dir():
        folder, whole = folder.parent, whole.parent
    if whole.parent == runs:
        return RESULTS / whole.name
    return whole if folder.is_symlink() else folder


def link_latest(folder: Path) -> None:
    """Points dlbench-results/latest at a run in dlbench-results, atomically. Does nothing for a run
    elsewhere. Raises OSError."""
    if folder.parent != RESULTS:
        return
    link, new = RESULTS / LATEST, RESULTS / f".{LATEST}-{secrets.token_hex(8)}"
    if link.exists() and not link.is_symlink():
        raise FileExistsError(errno.EEXIST, "exists and is not a link")
    try:
        new.symlink_to(folder.name)
        new.replace(link)
    finally:
        new.unlink(missing_ok=True)


def is_latest(folder: Path) -> bool:
    """Does dlbench-results/latest point at this run?"""
    link = RESULTS / LATEST
    return folder.parent == RESULTS and link.is_symlink() and link.readlink().name == folder.name


def remove_folder(folder: Path) -> None:
    """Removes the folder of a run that did not start."""
    with contextlib.suppress(OSError):
        folder.rmdir()
