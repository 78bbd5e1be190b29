"""Interpreters that differ from this one, made without a download, and files that are none."""

from __future__ import annotations

import json
import sysconfig
import venv
from pathlib import Path
from typing import Any

import numpy

from dlbench import _core, interpreter

#: What an interpreter says in which all is well, but for what a test changes of it.
FACTS = {
    "version": "3.14.0",
    "gil": True,
    "suffixes": [".cpython-314-x86_64-linux-gnu.so", ".so"],
    "folders": ["/nowhere"],
    "versions": {"numpy": "2.9.0"},
    "points": [],
    "numpy": True,
    "worker": True,
    "fault": "",
    "callgrind_requests": False,
}


def site_packages(folder: Path) -> Path:
    """Where an environment's packages lie."""
    (found,) = folder.glob("lib/python*/site-packages")
    return found


def install(folder: Path, name: str, version: str, points: str = "") -> None:
    """Plant a package of that version: what it is known by, and its entry points."""
    for before in site_packages(folder).glob(f"{name}-*.dist-info"):
        for file in before.iterdir():
            file.unlink()
        before.rmdir()
    info = site_packages(folder) / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if points:
        (info / "entry_points.txt").write_text(points)


def make(folder: Path, **versions: str) -> str:
    """A virtual environment that sees our packages too, and has these; its interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    ours = sysconfig.get_path("purelib")
    (site_packages(folder) / "ours.pth").write_text(f"{ours}\n")
    for name, version in versions.items():
        install(folder, name, version)
    return str(folder / "bin/python")


def make_apart(folder: Path) -> str:
    """A virtual environment with NumPy and nothing else of ours: no dlbench is installed there."""
    venv.create(folder, with_pip=False, symlinks=True)
    for package in Path(numpy.__file__).parents[1].glob("numpy*"):
        (site_packages(folder) / package.name).symlink_to(package)
    return str(folder / "bin/python")


def script(path: Path, *lines: str) -> str:
    """A shell script in an interpreter's place."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def answering(path: Path, version: str = "3.14.0 cpython", build: str = "", **facts: Any) -> str:
    """An interpreter that says this of itself."""
    reported = interpreter.FACTS + json.dumps(FACTS | facts)
    hello = json.dumps({"hello": {"build": build or _core.build_id}}, separators=(",", ":"))
    lines = (interpreter.VERSION + version, reported, hello)
    return script(path, *(f"echo '{line}'" for line in lines))
