"""Runs in an archive, as CI keeps them: each results.json in it."""

from __future__ import annotations

import gzip
import lzma
import shutil
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from dlbench import _core
from dlbench.document import Document, read_document
from dlbench.errors import BadInput

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz")
RESULTS = "results.json"
#: Exceptions for damaged archives; RuntimeError is raised for encrypted ones, ValueError for a name
#: that is no text.
DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError,
           OSError, RuntimeError, ValueError)  # fmt: skip
#: Bytes of a member's headers; tarfile reads them whole.
MOST_HEADER = 1 << 20
#: A document takes at most so many times the bytes of its archive, or so many bytes.
MOST_TIMES, MOST_SMALL = 100, 1 << 26


def is_archive(path: Path) -> bool:
    """Is it a file that is named as an archive?"""
    return path.name.endswith(SUFFIXES) and path.is_file()


def documents(path: Path) -> Iterator[tuple[str, Document]]:
    """For each run in an archive, its name in messages and its document. Raises BadInput or
    _core.UsageError for a file that is not an archive of runs. Only documents are extracted, to a
    temporary file.
    """
    found = False
    most = min(_core.most_document_bytes, max(MOST_SMALL, MOST_TIMES * path.stat().st_size))
    try:
        for name, size, file in _members(path):
            if Path(name).name != RESULTS:
                continue
            if size > most:
                raise BadInput(f"{path}: {name} is larger than {most} bytes")
            found = True
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / RESULTS
                with place.open("wb") as out:
                    shutil.copyfileobj(file, out)
                yield f"{path}:{name}", _read(place, f"{path}:{name}")
    except (BadInput, _core.UsageError):
        raise
    except DAMAGED as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"cannot read {path}: {why}") from error
    if not found:
        raise BadInput(f"{path} holds no {RESULTS}")


def _read(place: Path, name: str) -> Document:
    try:
        return read_document(place)
    except (BadInput, _core.UsageError) as error:
        raise BadInput(str(error).replace(str(place), name)) from error


def _members(path: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Name, size and content of each file."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    with archive.open(info) as file:
                        yield info.filename, info.file_size, file
        return
    with _unpacked(path) as unpacked:
        stream = _Bounded(unpacked)
        with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r:") as archive:
            while (member := archive.next()) is not None:
                cast(Any, archive).members = []  # a small file may hold millions
                content = archive.extractfile(member) if member.isreg() else None
                if content is not None:
                    stream.left = member.size
                    yield member.name, member.size, content
                stream.left = MOST_HEADER


def _unpacked(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        begin = file.read(6)
    if begin.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(path))
    return cast(IO[bytes], lzma.open(path)) if begin == b"\xfd7zXZ\0" else path.open("rb")


class _Bounded:
    """A stream of which `left` bytes may be read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.left = stream, MOST_HEADER
        self.tell, self.seek = stream.tell, stream.seek

    def read(self, size: int) -> bytes:
        self.left -= size
        if self.left < 0:
            raise tarfile.ReadError(f"a header of more than {MOST_HEADER} bytes")
        return self._stream.read(size)
