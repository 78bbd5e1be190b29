"""Parses `--env NAME=PYTHON`: checks the name and finds the interpreter."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from dlbench import _core
from dlbench.environments.environment import DEFAULT
from dlbench.errors import BadInput

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
VERSION = re.compile(r"\d+(\.\d+)+")


def read(texts: Iterable[str]) -> dict[str, str]:
    """The interpreters by environment, as absolute paths. Raises BadInput."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, python = text.partition("=")
        if not equals or not name or not python:
            raise BadInput(f"--env {text!r} is not NAME=PYTHON; example: old=/opt/old/bin/python")
        _require_name(name)
        if name in found:
            raise BadInput(f"--env: two environments have the name {name!r}")
        found[name] = _file(name, python)
    return found


def _require_name(name: str) -> None:
    if NAME.fullmatch(name) is None:
        allowed = "letters, digits and '_'; after the first character also '.', '+' and '-'"
        raise BadInput(f"--env: {name!r} cannot be an environment's name; allowed: {allowed}")
    if name == DEFAULT:
        raise BadInput(f"--env: {name!r} is the environment that dlbench itself runs in")
    # `show` and other verbs select a cell by these words.
    kinds = {
        "a protocol": _core.protocols,
        "a phase": _core.phases,
        "a case": (name,) if _core.is_case(name) else (),
        "a clock": _core.clocks,
        "a device": ("cpu",),
        "a size": (name,) if _is_size(name) else (),
    }
    for kind, words in kinds.items():
        if name in words:
            other = f"choose another name, such as {f'{name}-env'!r}"
            raise BadInput(f"--env: {name!r} is {kind}; {other}")


def _is_size(word: str) -> bool:
    # 2.0 is a version: bytes have no fraction, and a size with one has a unit.
    if VERSION.fullmatch(word):
        return False
    try:
        _core.parse_bytes(word)
    except _core.UsageError:
        return False
    return True


def _file(name: str, python: str) -> str:
    """An interpreter's path, a command on PATH, or an environment's folder. Links are not resolved:
    the link that is started identifies a virtual environment."""
    path = Path(python).expanduser()
    if os.sep not in python:
        path = Path(shutil.which(python) or path)
    if path.is_dir() and (path / "bin/python").exists():
        path = path / "bin/python"
    if not path.is_file():
        what = "a folder without bin/python" if path.is_dir() else "no such file"
        raise BadInput(f"environment {name!r}: {python}: {what}")
    if not os.access(path, os.X_OK):
        raise BadInput(f"environment {name!r}: {python}: not executable")
    return str(path.absolute())
