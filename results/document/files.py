"""Finds a run's results document and reads it, checked."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.document.comparison import Comparison
from dlbench.document.document import Document, parse_document
from dlbench.document.run_record import is_record
from dlbench.errors import BadInput, first_line, os_reason

RESULTS = Path("dlbench-results")
LATEST = "latest"
DOCUMENT, JOURNAL = "results.json", "journal.jsonl"
BOUNDARY = "boundary.json"  #: the table of `check --calls --run`, for the run's report
PROFILE = "profile.json"  #: the file that `--profile` writes instead of a document


def locate(run: str) -> Path:
    """RUN -> its results.json, or its journal if that is newer, as after a kill.

    RUN is a directory, a results.json, or `latest`.
    """
    path = RESULTS / LATEST if run == LATEST else Path(run)
    if path.is_file():
        if is_record(path):
            raise BadInput(f"{run!r} is a record of a run, which only 'dlbench site' reads; name "
                           f"the run's folder or its {DOCUMENT}")  # fmt: skip
        return path
    if not path.is_dir():
        if path.is_symlink():
            raise BadInput(
                f"no run {run!r}: {path} leads to {path.readlink()}, which does not exist"
            )
        requested = (
            f"no run {run!r}"
            if run != LATEST
            else f"no {path}: this folder has no run, or only runs with --out: name their folder"
        )
        raise BadInput(requested)
    document, journal = path / DOCUMENT, path / JOURNAL
    if (path / PROFILE).is_file() and not journal.is_file():
        raise BadInput(f"{run!r} is a profile, which has no times: open {path / PROFILE}")
    if journal.is_file() and (
        not document.is_file() or document.stat().st_mtime_ns < journal.stat().st_mtime_ns
    ):
        return journal
    if not document.is_file():
        raise BadInput(f"{run!r} holds neither {DOCUMENT} nor {JOURNAL}")
    return document


def boundary_path(place: Path) -> Path:
    """Where the table of `check --calls --run` of a document is. A folder may hold several
    documents with names of their own."""
    is_run = place.name in (DOCUMENT, JOURNAL)
    return place.parent / (BOUNDARY if is_run else f"{place.stem}.{BOUNDARY}")


def read_boundary(place: Path) -> dict[str, Any] | None:
    """The table of `check --calls --run` of a document, or None: `command`, `libraries`, and
    `rows` of texts by their heads. Raises BadInput for another file."""
    path = boundary_path(place)
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        texts = [made["command"], made["libraries"]]
        texts += [text for row in made["rows"] for text in row.values()]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("another value than a text")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"{path}: no table of 'dlbench check --calls --run': {first_line(error)}; "
                       "remove it, or write it anew with --force") from error  # fmt: skip
    return {key: made[key] for key in ("command", "libraries", "rows")}


@contextlib.contextmanager
def as_document(path: Path) -> Iterator[Path]:
    """The document that locate() found; of a journal, one in a temporary folder, because a run that
    is read stays as it is."""
    if path.name != JOURNAL:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / DOCUMENT
        _core.write_document(str(path.parent), str(made))
        try:
            yield made
        except (BadInput, _core.UsageError) as error:
            raise BadInput(str(error).replace(str(made), str(path))) from error


def read_document(path: Path) -> Document:
    """The document. Raises BadInput or _core.UsageError for a file that is neither a results
    document nor a journal."""
    with as_document(path) as document:
        return parse_document(_read(document, _core.validate_document))


def read_comparison(path: Path) -> Comparison:
    """The comparison that a run of two sides stored beside its document.

    Raises as `read_document` does.
    """
    return Comparison(_read(path, _core.validate_comparison))


def _read(path: Path, validate: Callable[[str], None]) -> dict[str, Any]:
    """The file's content after `validate` has checked it. Raises BadInput or _core.UsageError,
    which name the file and the place in it."""
    try:
        if path.stat().st_size > _core.most_document_bytes:
            validate(str(path))  # refused before it is read into memory
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = os_reason(error) if isinstance(error, OSError) else "not UTF-8"
        raise BadInput(f"cannot read {path}: {why}") from error
    # Checking takes as long as reading, and releases the GIL.
    with ThreadPoolExecutor(1) as pool:
        checked = pool.submit(validate, str(path))
        try:
            document: dict[str, Any] = json.loads(text)
        except (ValueError, RecursionError) as error:
            checked.result()
            raise BadInput(f"cannot read {path}: {first_line(error)}") from error
        checked.result()
    return document
