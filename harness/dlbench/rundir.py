"""Where a run's files go."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from dlbench.document import LATEST, RESULTS
from dlbench.errors import BadInput, os_reason


def fresh(asked: str | None, now: datetime.datetime | None = None) -> Path:
    """A new, empty, writable folder: `asked`, or one named by the time under dlbench-results.

    Raises BadInput where that cannot be; nothing that was there is touched.
    """
    if asked is None:
        return _stamped(now or datetime.datetime.now(datetime.timezone.utc))
    folder = Path(asked)
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"--out {asked}: is a file")
    try:
        if folder.is_dir() and any(folder.iterdir()):
            held = "holds another run" if (folder / "journal.jsonl").exists() else "is not empty"
            raise BadInput(f"--out {asked}: {held}")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {asked}: {os_reason(error)}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadInput(f"--out {asked}: is not writable")
    return folder


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
    raise BadInput(f"cannot create {RESULTS}/{stamp}: a hundred runs began in this second")


def latest() -> Path | None:
    """The run that dlbench-results/latest points at."""
    link = RESULTS / LATEST
    return RESULTS / link.readlink().name if link.is_symlink() else None


def resumable(asked: str) -> Path:
    """The folder of --resume, which may be `latest` as in the other commands."""
    folder = Path(asked)
    if asked == LATEST and not folder.exists():
        folder = latest() or folder
    if not folder.is_dir():
        raise BadInput(f"cannot resume {asked!r}: no such folder")
    return folder


def link_latest(folder: Path) -> None:
    """Point dlbench-results/latest at a run in there, with no moment without a link."""
    link, new = RESULTS / LATEST, RESULTS / f".{LATEST}-{os.getpid()}"
    try:
        new.symlink_to(folder.name)
        new.replace(link)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise BadInput(f"cannot link {link}: {os_reason(error)}") from error


def give_up(folder: Path, before: Path | None) -> None:
    """Undo the folder of a run that could not begin, and point `latest` at the one before."""
    if not folder.is_dir() or any(folder.iterdir()):
        return
    folder.rmdir()
    link = RESULTS / LATEST
    if link.is_symlink() and link.readlink().name == folder.name:
        link.unlink() if before is None else link_latest(before)
