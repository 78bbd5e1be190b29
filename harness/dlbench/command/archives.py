"""Runs in an archive, as CI keeps them: each results.json in it."""

from __future__ import annotations

import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from dlbench import _core
from dlbench.document import Document, read_document
from dlbench.errors import BadInput, first_line

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz")
RESULTS = "results.json"
#: Exceptions for damaged archives; RuntimeError is raised for encrypted ones.
DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError,
           RuntimeError)  # fmt: skip


def is_archive(path: Path) -> bool:
    """Is it a file that is named as an archive?"""
    return path.name.endswith(SUFFIXES) and path.is_file()


def documents(path: Path) -> Iterator[tuple[str, Document]]:
    """For each run in an archive, its name in messages and its document. Raises BadInput or
    _core.UsageError for a file that is not an archive of runs. Only documents are extracted, to a
    temporary file.
    """
    found = False
    try:
        for name, size, file in _members(path):
            if Path(name).name != RESULTS:
                continue
            if size > _core.most_document_bytes:
                raise BadInput(f"{path}: {name} is larger than {_core.most_document_bytes} bytes")
            found = True
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / RESULTS
                with place.open("wb") as out:
                    shutil.copyfileobj(file, out)
                yield f"{path}:{name}", _read(place, f"{path}:{name}")
    except DAMAGED as error:
        raise BadInput(f"cannot read {path}: {first_line(error)}") from error
    if not found:
        raise BadInput(f"{path} holds no {RESULTS}")


def _read(place: Path, name: str) -> Document:
    try:
        return read_document(place)
    except (BadInput, _core.UsageError) as error:
        raise BadInput(first_line(error).replace(str(place), name)) from error


def _members(path: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Name, size and content of each file."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    with archive.open(info) as file:
                        yield info.filename, info.file_size, file
        return
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, member.size, content
