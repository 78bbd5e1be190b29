"""The run folders of a fleet's jobs, and their states."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dlbench import _core
from dlbench.document import Document, read_document
from dlbench.errors import BadInput, first_line, last_line, os_line, os_reason, read_file
from dlbench.machines.plan import Job
from dlbench.machines.reframe import LARGEST_FACTS, MARK
from dlbench.text.layout import count

REQUEST = "job.json"  #: beside the run: what it was measured with
JOURNAL, DOCUMENT = "journal.jsonl", "results.json"
ERRORS = "rfm_job.err"
LOG_END = 1 << 16  #: bytes that are read of it


@dataclass(frozen=True)
class State:
    """The state of a job's folder."""

    cells: int | None  #: that were recorded; None where no document can be read
    fault: str  #: why the run is not whole; empty where it is

    def is_less_than(self, other: State) -> bool:
        """Does it hold fewer cells of the plan than another run?"""
        if not self.fault:
            return False
        return not other.fault or (self.cells or 0) < (other.cells or 0)


class Store:
    """A folder with a folder for each job."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, job: Job) -> Path:
        """The job's run folder."""
        return self._folder / job.name

    def create(self) -> None:
        """Makes the folder. Raises BadInput."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot create {self._folder}: {os_reason(error)}") from error

    def require_fitting(self, jobs: Sequence[Job]) -> None:
        """Raises BadInput if a job's run was measured with another request."""
        for job in jobs:
            path = self.place(job) / REQUEST
            if path.is_file() and _read(path) != job.request():
                raise BadInput(
                    f"{self.place(job)} was measured with other options than {job.name} has now: "
                    "remove that folder, or choose another --out"
                )

    def state(self, job: Job) -> State:
        """The state of a job's collected run. The journal has priority over the document, which may
        be an incomplete copy."""
        return _state(self.place(job))

    def document(self, job: Job) -> Document:
        """The document of a job with recorded cells."""
        return read_document(self.place(job) / DOCUMENT)

    def begun(self, job: Job, state: State) -> Path | None:
        """The run folder of a job with cells that did not end, if the job can continue it."""
        place = self.place(job)
        is_cut = bool(state.cells) and bool(state.fault)
        return place if is_cut and (place / JOURNAL).is_file() else None

    def collect(self, job: Job, stage: Path) -> None:
        """Copies a job's run folder from the place where it ran, unless an earlier copy has more
        cells. Raises BadInput if the disk here is full."""
        made, place = stage / "run", self.place(job)
        draft = place.with_name(f".{place.name}")
        try:
            if made.is_dir() and not made.is_symlink():
                shutil.rmtree(draft, ignore_errors=True)
                _copy_files(made, draft)
                (draft / REQUEST).write_text(json.dumps(job.request(), indent=1), encoding="utf-8")
                if not _state(draft).is_less_than(_state(place)):
                    shutil.rmtree(place, ignore_errors=True)
                    draft.rename(place)
            (stage / MARK).unlink(missing_ok=True)
        except OSError as error:
            why = os_line(place, error)
            raise BadInput(f"cannot collect {job.name} from {made}: {why}") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _copy_files(made: Path, to: Path) -> None:
    """Copies the files of a run. Another machine wrote them: a link may lead to any file here, and
    a run makes neither links nor folders. Raises OSError."""
    left = _core.most_document_bytes
    to.mkdir()
    for file in made.iterdir():
        info = file.lstat()
        if not stat.S_ISREG(info.st_mode):
            continue
        left -= info.st_size
        if left < 0:
            raise OSError(errno.EFBIG, f"holds more than {_core.most_document_bytes} bytes")
        shutil.copyfile(file, to / file.name, follow_symlinks=False)


def _state(place: Path) -> State:
    if not place.is_dir():
        return State(None, "nothing was collected")
    try:
        if (place / JOURNAL).is_file():
            _core.write_document(str(place))
        document = read_document(place / DOCUMENT)
    except (BadInput, _core.UsageError, OSError) as error:
        return State(None, first_line(error))
    if document.machines:
        return State(None, f"{place / DOCUMENT} is of several machines")
    cells = len(document.entries)
    if document.run.did_end:
        return State(cells, "")
    return State(cells, f"the run did not end: {count(cells, 'cell')} recorded")


def _read(path: Path) -> object:
    try:
        return json.loads(read_file(path, LARGEST_FACTS))
    except (OSError, ValueError, RecursionError):
        return None


def log_of(stage: Path | None) -> tuple[str, str]:
    """A job's log and its last line; empty if it has no log."""
    path = stage / ERRORS if stage else None
    if path is None or not path.is_file():
        return "", ""
    with path.open("rb") as log:
        log.seek(-min(path.stat().st_size, LOG_END), os.SEEK_END)
        return str(path), last_line(log.read(LOG_END).decode(errors="replace"))
