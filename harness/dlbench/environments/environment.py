"""One interpreter: its packages, and the places of its worker's modules."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from dlbench import interpreter, worker_main
from dlbench.errors import BadInput

DEFAULT = "default"
#: The packages that make the sources of all exchanges, of which ml_dtypes is optional.
SOURCES = ("numpy", "ml_dtypes")
#: The outcome of all cells of an environment in which no worker can ever run.
UNFIT = "import-failed"


@dataclass(frozen=True)
class Failure:
    """The reason why no worker can be started there: the outcome and reason of all its cells."""

    outcome: str
    reason: str


@dataclass(frozen=True)
class Environment:
    """A Python interpreter with its packages, as it reported them.

    After a `failure` only name and python are known.
    """

    name: str
    python: str  #: the interpreter that is started
    version: str = ""  #: of Python, as "3.10.13"
    gil: bool = True
    suffixes: tuple[str, ...] = ()  #: suffixes of its extension modules
    folders: tuple[Path, ...] = ()  #: folders that may hold dlbench's extension modules
    versions: Mapping[str, str] | None = field(default_factory=dict)
    """Versions of its packages by canonical name. None, as next: read from this process later."""
    points: tuple[interpreter.Point, ...] | None = ()  #: the adapters that its packages offer
    callgrind_requests: bool = False  #: its worker starts callgrind's collection
    failure: Failure | None = None

    def require_worker(self) -> None:
        """Raises BadInput if no worker can run there."""
        if self.failure is not None:
            raise BadInput(f"environment {self.name!r}: {self.failure.reason}")

    @property
    def is_default(self) -> bool:
        return self.name == DEFAULT

    def installed_version(self, distributions: Iterable[str]) -> str | None:
        """The version of the first of these packages that is installed; None where none is."""
        for distribution in distributions:
            version = self._version(distribution)
            if version is not None:
                return version
        return None

    def _version(self, distribution: str) -> str | None:
        if self.versions is not None:
            return self.versions.get(interpreter.canonical(distribution))
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            return None

    def adapter_points(self) -> tuple[interpreter.Point, ...]:
        """The adapters that its packages offer."""
        return tuple(interpreter.points()) if self.points is None else self.points

    def is_built(self, extension: str) -> bool:
        """Does an extension module of dlbench's own lie there for this Python?"""
        return any(
            (folder / f"{extension}{suffix}").exists()
            for folder in self.folders
            for suffix in self.suffixes
        )

    def to_json(self) -> dict[str, Any]:
        """The item of `context.dlbench.environments`, before any worker has reported."""
        known: dict[str, Any] = {"python": self.version, "executable": self.python}
        if self.failure is None:
            known["gil"] = self.gil
        else:
            known["failure"] = f"{self.failure.outcome}: {self.failure.reason}"
        found = {name: self.installed_version([name]) for name in SOURCES}
        libraries = {name: version for name, version in found.items() if version is not None}
        return {**known, "libraries": libraries, "floors_ns": {}}


def where(name: str) -> str:
    """The suffix for libraries of another environment than the default: " in NAME"."""
    return "" if name == DEFAULT else f" in {name}"


@cache
def here() -> Environment:
    """The environment that dlbench itself runs in."""
    return Environment(
        name=DEFAULT,
        python=sys.executable,
        version=interpreter.python_version(),
        gil=interpreter.has_gil(),
        suffixes=tuple(EXTENSION_SUFFIXES),
        folders=tuple(Path(folder) for folder in worker_main.search_folders()),
        versions=None,
        points=None,
        callgrind_requests=interpreter.begins_counting(),
    )
