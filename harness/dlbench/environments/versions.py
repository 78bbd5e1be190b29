"""An environment for each version of a package, made by uv or pip and kept in the user's cache."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from dlbench import _core, interpreter
from dlbench.environments.environment import UNFIT, Environment, Failure
from dlbench.errors import BadInput, last_line, os_line
from dlbench.text.layout import shorten

LISTED = re.compile("Available versions: (.*)")
LIST_S = 120.0  #: deadline of the index
LONGEST_REASON = 300


@dataclass(frozen=True)
class Releases:
    """Versions of one package, oldest first."""

    requirement: Requirement
    versions: list[str]

    def pinned(self, version: str) -> str:
        extras = f"[{','.join(sorted(self.requirement.extras))}]" if self.requirement.extras else ""
        return f"{self.requirement.name}{extras}=={version}"


@dataclass(frozen=True)
class Recipe:
    """The packages of an environment, its name, and its folder in the cache."""

    name: str
    requirements: tuple[str, ...]
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin/python"

    @property
    def is_made(self) -> bool:
        return self.python.exists()


def parsed(option: str, text: str) -> Requirement:
    """Raises BadInput."""
    example = "torch==2.6" if option == "--with" else "numpy>=1.25,<2.5"
    refusal = f"{option} {text!r} is not a package with its versions; example: {example}"
    try:
        found = Requirement(text)
    except InvalidRequirement as error:
        raise BadInput(refusal) from error
    if found.url or found.marker:
        raise BadInput(refusal)
    return found


def find(wanted: Requirement, *, pre: bool, is_minor: bool) -> Releases:
    """The releases that match; with `is_minor` the newest of each minor version. Raises BadInput,
    also if the index does not answer."""
    command = [*_pip(), "index", "versions", wanted.name, "--ignore-requires-python"]
    answer = _core.run_program([*command, *["--pre"] * pre], LIST_S)
    listed = LISTED.search(answer.out)
    if listed is None:
        why = last_line(answer.err) if answer.status is not None else f"no answer in {LIST_S:g} s"
        raise BadInput(f"--versions {wanted.name}: {why or 'the index lists no version'}")
    every = sorted(map(Version, listed[1].split(", ")))
    found = list(wanted.specifier.filter(every, prereleases=pre))
    if is_minor:
        found = list({version.release[:2]: version for version in found}.values())
    if not found:
        raise BadInput(f"--versions {wanted}: no release matches; the newest is {every[-1]}")
    return Releases(wanted, list(map(str, found)))


def _pip() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise BadInput("to list and install versions, install pip or uv")


def recipe(folder: Path, version: str, requirements: Sequence[str]) -> Recipe:
    """The environment with these packages below `folder`."""
    key = json.dumps([interpreter.python_version(), sys.prefix, *sorted(requirements)])
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    name = re.sub("[^A-Za-z0-9_.+-]", "-", version)
    # A number alone would be a size on the command line.
    name = f"v{name}" if name.isdigit() else name
    return Recipe(name, tuple(requirements), folder / f"{name}-{digest}")


def make(wanted: Recipe, timeout_s: float) -> Environment | None:
    """Installs the packages unless that was done; a failure is an unfit environment. The folder
    gets its name when it is whole, so an interrupted installation leaves none."""
    if wanted.is_made:
        return None
    try:
        wanted.folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=wanted.folder.parent, prefix=".part-") as part:
            place = Path(part) / "env"
            for command in _commands(place, wanted.requirements):
                ended = _core.run_program(command, timeout_s)
                if ended.status != 0:
                    return _unfit(wanted, _reason(wanted, ended, timeout_s))
            if not wanted.is_made:  # another process may have been faster
                place.rename(wanted.folder)
    except OSError as error:
        raise BadInput(os_line(wanted.folder, error)) from error
    return None


def _commands(place: Path, requirements: Sequence[str]) -> list[list[str]]:
    words = ["--only-binary", ":all:", *requirements]
    if uv := shutil.which("uv"):
        python = str(place / "bin/python")
        return [
            [uv, "venv", "--quiet", "--python", sys.executable, str(place)],
            [uv, "pip", "install", "--quiet", "--python", python, *words],
        ]
    pip = [*_pip(), "--python", str(place), "install", "--quiet", "--disable-pip-version-check"]
    return [[sys.executable, "-m", "venv", "--without-pip", str(place)], [*pip, *words]]


def _reason(wanted: Recipe, ended: _core.Program, timeout_s: float) -> str:
    if ended.status is None:
        return f"not installed within {timeout_s:g} s"
    errors = [line for line in ended.err.splitlines() if line.startswith("ERROR: ")]
    text = errors[-1].removeprefix("ERROR: ") if errors else " ".join(ended.err.split())
    if text == f"No matching distribution found for {wanted.requirements[0]}":
        text = f"no wheel for Python {interpreter.python_version()}"
    return f"not installed: {shorten(text, LONGEST_REASON)}"


def _unfit(wanted: Recipe, reason: str) -> Environment:
    return Environment(wanted.name, str(wanted.python), failure=Failure(UNFIT, reason))
