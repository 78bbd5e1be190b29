#!/usr/bin/env python3
"""Copies the worker modules of all wheels in a folder into each of them.

`dlbench --env NAME=PYTHON` starts a worker in another Python, which loads the extension modules for
that Python. Each wheel has those of every supported Python.

    python packaging/share_workers.py FOLDER

FOLDER contains wheels of one version and platform, one for each Python. They are changed in place.
The output is reproducible.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

#: The modules of a worker. Of the others (fault-injecting adapters, pybind11's, nanobind's) a wheel
#: has only its own Python's, because all of them would exceed 8 MB.
SHARED = ("_worker", "_device", "_native_producer", "_native_consumer")
#: The first instant that a ZIP file can hold.
OLDEST = 315532800


class Wheel:
    """A wheel's files, and the tags in its name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name, self.version, self.python, self.abi, self.platform = path.stem.split("-")
        with zipfile.ZipFile(path) as archive:
            self.files = {
                info.filename: (archive.read(info), info.external_attr >> 16)
                for info in archive.infolist()
                if not info.is_dir()
            }

    @property
    def tag(self) -> str:
        """The tag in the names of its own modules: `cpython-313t-` and more."""
        return f".cpython-{self.abi.removeprefix('cp')}-"

    def worker_modules(self) -> Iterator[str]:
        """The worker modules for this wheel's own Python."""
        for name in self.files:
            folder, _, file = name.rpartition("/")
            is_module = folder == "dlbench" and file.endswith(".so") and self.tag in file
            if is_module and file.partition(".")[0] in SHARED:
                yield name

    def write(self) -> None:
        """Writes the wheel again, with a new RECORD."""
        record = f"{self.name}-{self.version}.dist-info/RECORD"
        self.files.pop(record, None)
        names = sorted(self.files, key=lambda name: (".dist-info/" in name, name))
        lines = [f"{name},{digest(self.files[name][0])}\n" for name in names]
        self.files[record] = ("".join([*lines, f"{record},,\n"]).encode(), 0o100644)
        replacement = self.path.with_suffix(".new")
        with zipfile.ZipFile(replacement, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in [*names, record]:
                content, mode = self.files[name]
                archive.writestr(entry(name, mode), content)
        replacement.replace(self.path)


def digest(content: bytes) -> str:
    """The hash in RECORD's notation."""
    hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={hashed},{len(content)}"


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    """A file's header with SOURCE_DATE_EPOCH as its time, independent of the build."""
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", OLDEST)), OLDEST)
    info = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (0o100755 if mode & 0o100 else 0o100644) << 16
    return info


def share(folder: Path) -> list[Wheel]:
    """The changed wheels. Raises ValueError if the wheels do not belong together."""
    wheels = [Wheel(path) for path in sorted(folder.glob("*.whl"))]
    if not wheels:
        raise ValueError(f"no wheel in {folder}")
    versions = sorted({f"{wheel.name}-{wheel.version}" for wheel in wheels})
    if len(versions) > 1:
        raise ValueError(f"{folder} has wheels of several versions: {', '.join(versions)}")
    for wheel in wheels:
        if not any(wheel.worker_modules()):
            raise ValueError(f"{wheel.path} has no worker module for its own Python")
    for platform in {wheel.platform for wheel in wheels}:
        together = [wheel for wheel in wheels if wheel.platform == platform]
        modules = {name: wheel.files[name] for wheel in together for name in wheel.worker_modules()}
        for wheel in together:
            wheel.files.update(modules)
    for wheel in wheels:
        wheel.write()
    return wheels


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: share_workers.py FOLDER")
    try:
        wheels = share(Path(sys.argv[1]))
    except ValueError as error:
        raise SystemExit(f"share_workers: {error}") from None
    for wheel in wheels:
        print(f"{wheel.path.name}  {wheel.path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
