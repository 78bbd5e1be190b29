"""Facts about libraries that take long to find, cached in the user's cache folder. The key of an
answer has the versions that it depends on. A cache that cannot be read or written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.environments.environment import Environment
from dlbench.libraries.compiled import folder as folder

PACKAGE = Path(__file__).parents[1]

#: A digest of the inputs of an answer: the library's version, its adapter, its Python and this
#: dlbench.
Identity = str


def identity(library: _core.Library, place: Environment) -> Identity | None:
    """None if no version identifies the library, or its adapter cannot be read."""
    files = [Path(path) for path in (library.producer_path, library.consumer_path) if path]
    if not library.version and not all(PACKAGE in file.parents for file in files):
        return None
    if "dev" in library.version:
        return None  # a nightly build or a checkout may change without a new version
    versions = [library.name, library.version, place.installed_version(["numpy"]) or ""]
    parts = [*versions, _core.version, _core.build_id, place.python, place.version]
    try:
        parts += [*library.devices, *(file.read_text(encoding="utf-8") for file in files)]
    except (OSError, ValueError):
        return None
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def path_of(kind: str, identities: Sequence[Identity | None]) -> Path | None:
    """The file of an answer of that kind about these libraries; None where one has no identity."""
    known = [each for each in identities if each is not None]
    if len(known) < len(identities):
        return None
    key = hashlib.sha256("".join(known).encode()).hexdigest()
    return folder() / f"{kind}-{key[:32]}.json"


def read(kind: str, *identities: Identity | None) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        path = path_of(kind, identities)
        answer = json.loads(path.read_text(encoding="utf-8")) if path else None
        return answer if isinstance(answer, dict) else None
    return None


def forget(kind: str, *identities: Identity | None) -> None:
    with contextlib.suppress(OSError, RuntimeError):
        path = path_of(kind, identities)
        if path is not None:
            path.unlink(missing_ok=True)


def write(answer: dict[str, Any], kind: str, *identities: Identity | None) -> None:
    """Another call may read or write the same file meanwhile."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        path = path_of(kind, identities)
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
