"""Reports facts about the interpreter that runs it, with the standard library alone."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

ROLES = ("producer", "consumer")
#: Prefixes of the answer's lines, because code at the interpreter's start may print too.
VERSION, FACTS, GREETING = "dlbench-python ", "dlbench-facts ", '{"hello"'


@dataclass(frozen=True)
class Point:
    """An adapter behind an entry point; `fault` is the reason why it has no file."""

    role: str
    name: str
    owner: str
    path: str
    fault: str = ""


def canonical(name: str) -> str:
    """The canonical spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def python_version() -> str:
    return sys.version.split()[0]


def has_gil() -> bool:
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def begins_counting() -> bool:
    """Whether this Python's worker starts callgrind's collection itself."""
    from dlbench import _worker

    return _worker.callgrind_requests()


def versions() -> dict[str, str]:
    """Versions of the installed packages by canonical name; the first on sys.path counts."""
    found: dict[str, str] = {}
    for package in importlib.metadata.distributions():
        name, version = package.metadata["Name"], package.version
        if name and version:
            found.setdefault(canonical(name), version)
    return found


def points() -> Iterator[Point]:
    """The adapters that installed packages offer."""
    for role in ROLES:
        for point in importlib.metadata.entry_points(group=f"dlbench.{role}s"):
            owner = (point.dist is not None and point.dist.name) or "?"
            try:
                yield Point(role, point.name, owner, _module_file(point.module))
            except Exception as error:
                # Its parent packages were imported on the way, and may raise anything.
                fault = str(error).split("\n")[0] or type(error).__name__
                yield Point(role, point.name, owner, "", f"module {point.module}: {fault}")


def _module_file(module: str) -> str:
    """A module's file. Its parent packages are imported on the way, the module itself is not."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or not spec.has_location:
        raise ImportError("has no file")
    return spec.origin


def facts(folders: list[str]) -> dict[str, Any]:
    """All facts. `folders` are searched for dlbench's own modules."""
    reported: dict[str, Any] = {
        "version": python_version(),
        "gil": has_gil(),
        "suffixes": EXTENSION_SUFFIXES,
        "folders": folders,
        "versions": versions(),
        "points": [asdict(point) for point in points()],
        "numpy": importlib.util.find_spec("numpy") is not None,
        "worker": importlib.util.find_spec("dlbench._worker") is not None,
        "fault": "",
        "callgrind_requests": False,
    }
    if reported["worker"]:
        try:
            reported["callgrind_requests"] = begins_counting()
        except ImportError as error:
            reported["fault"] = str(error)
    return reported


def print_facts(folders: list[str]) -> None:
    """Print the facts, and the greeting of a worker."""
    reported = facts(folders)
    print(FACTS + json.dumps(reported), flush=True)
    if reported["worker"] and not reported["fault"]:
        from dlbench import _worker

        _worker.serve(os.open(os.devnull, os.O_RDONLY), 1)
