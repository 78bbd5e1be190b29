"""The run folders of a fleet's jobs, and which of them are whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dlbench import _core
from dlbench.document import Document, read_document
from dlbench.errors import BadInput, first_line, last_line, os_line
from dlbench.fleet.plan import Job
from dlbench.fleet.reframe import Ended

REQUEST = "job.json"  #: beside the run: what it was measured with
ERRORS = "rfm_job.err"


@dataclass(frozen=True)
class State:
    """What a job's folder holds."""

    document: Document | None  #: of all that was measured
    fault: str  #: why the run is not whole; empty where it is

    def is_less_than(self, other: State) -> bool:
        """Does it hold less of the plan than another run of it?"""
        if not self.fault:
            return False
        counts = [len(each.document.entries) if each.document else 0 for each in (self, other)]
        return not other.fault or counts[0] < counts[1]


class Store:
    """A folder with a folder for each job."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, job: Job) -> Path:
        """The job's run folder."""
        return self._folder / job.name

    def require_fitting(self, jobs: Sequence[Job]) -> None:
        """Raises BadInput where a job's run was measured with another request."""
        for job in jobs:
            path = self.place(job) / REQUEST
            if path.is_file() and _read(path) != job.request():
                raise BadInput(
                    f"{self.place(job)} was measured with other options than {job.label} has now: "
                    "remove that folder, or choose another --out"
                )

    def state(self, job: Job) -> State:
        """What was collected of a job before. A journal is as good as the document, and is trusted
        more: a document may have been cut short on its way."""
        return self._state(self.place(job))

    def _state(self, place: Path) -> State:
        if not place.is_dir():
            return State(None, "nothing was collected")
        try:
            if (place / "journal.jsonl").is_file():
                _core.write_document(str(place))
            document = read_document(place / "results.json")
        except (BadInput, _core.UsageError, OSError) as error:
            return State(None, first_line(error))
        if document.run.did_end:
            return State(document, "")
        return State(document, f"the run did not end: {len(document.entries)} cells were recorded")

    def begun(self, job: Job) -> Path | None:
        """A run folder of a job that did not end, which the job can continue."""
        place, state = self.place(job), self.state(job)
        has_cells = state.document is not None and bool(state.document.entries)
        is_cut = has_cells and bool(state.fault) and (place / "journal.jsonl").is_file()
        return place if is_cut else None

    def collect(self, job: Job, ended: Ended) -> None:
        """Copies a job's run folder from where it ran, unless an earlier one has more. Raises
        BadInput for a full disk here."""
        made = ended.stage / "run" if ended.stage else None
        if made is None or not made.is_dir():
            return
        place = self.place(job)
        draft = place.with_name(f".{place.name}")
        try:
            shutil.rmtree(draft, ignore_errors=True)
            shutil.copytree(made, draft)
            (draft / REQUEST).write_text(json.dumps(job.request(), indent=1), encoding="utf-8")
            if self._state(draft).is_less_than(self._state(place)):
                shutil.rmtree(draft)
                return
            shutil.rmtree(place, ignore_errors=True)
            draft.rename(place)
        except (OSError, shutil.Error) as error:
            shutil.rmtree(draft, ignore_errors=True)
            why = os_line(place, error) if isinstance(error, OSError) else first_line(error)
            raise BadInput(f"cannot collect {job.label} from {made}: {why}") from error


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None


def log_of(ended: Ended) -> tuple[str, str]:
    """A job's own log and the last line in it; empty where there is none."""
    path = ended.stage / ERRORS if ended.stage else None
    if path is None or not path.is_file():
        return "", ""
    return str(path), last_line(path.read_text(encoding="utf-8", errors="replace"))
