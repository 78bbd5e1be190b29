"""What libraries export, kept between calls of `dlbench list`: importing all of them takes minutes.

An answer is kept in the user's cache folder, under the versions that it depends on. A cache that
cannot be read or written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.environments.environment import Environment

PACKAGE = Path(__file__).parents[1]


def folder() -> Path:
    """$XDG_CACHE_HOME/dlbench; a relative path is ignored, as the standard has it."""
    asked = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (asked if asked.is_absolute() else Path("~/.cache").expanduser()) / "dlbench"


def place_of(library: _core.Library, place: Environment) -> Path | None:
    """The file of this library's answer; None where no version identifies it."""
    files = [Path(path) for path in (library.producer_path, library.consumer_path) if path]
    if not library.version and not all(PACKAGE in file.parents for file in files):
        return None
    if "dev" in library.version:
        return None  # a nightly build or a checkout may change under one version
    versions = [library.name, library.version, place.installed_version(["numpy"]) or ""]
    parts = [*versions, _core.version, _core.build_id, place.python, place.version]
    parts += [*library.devices, *(file.read_text(encoding="utf-8") for file in files)]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return folder() / f"offers-{key[:32]}.json"


def read(library: _core.Library, place: Environment) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        path = place_of(library, place)
        answer = json.loads(path.read_text(encoding="utf-8")) if path else None
        return answer if isinstance(answer, dict) else None
    return None


def write(library: _core.Library, place: Environment, answer: dict[str, Any]) -> None:
    """Another call may read or write the same file meanwhile."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        path = place_of(library, place)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=path.parent)
        try:
            with open(number, "w", encoding="utf-8") as file:  # noqa: PTH123  (a descriptor)
                json.dump(answer, file)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
