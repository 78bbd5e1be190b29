"""An environment for each version of a package, made by uv or pip and kept in the user's cache."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from dlbench import _core, interpreter
from dlbench.environments.environment import UNFIT, Environment, Failure
from dlbench.errors import BadInput, last_line, os_line
from dlbench.text.layout import shorten

LISTED = re.compile("Available versions: (.*)")
LIST_S = 120.0  #: deadline of the index
LONGEST_REASON = 300
#: Follows the name of a package if its pre-releases are wanted, too.
ANY_RELEASE = ">=0.dev0"
#: The last attempt of pip, which then reports that nothing matches.
BROKEN = re.compile(r"Retry\(total=0,.* connection broken by '(.*)': /")
#: How uv and pip report versions that do not fit. "none" may also mean no connection.
UNSATISFIABLE = re.compile(r"No solution found|ResolutionImpossible|\(from versions: (?!none\))")


@dataclass(frozen=True)
class Releases:
    """Versions of one package, oldest first; `wheels` has those of a folder."""

    requirement: Requirement
    versions: list[str]
    wheels: Mapping[str, str] = field(default_factory=dict)

    def pinned(self, version: str) -> str:
        if version in self.wheels:
            return self.wheels[version]
        return f"{_with_extras(self.requirement)}=={version}"


@dataclass(frozen=True)
class Recipe:
    """The packages of an environment, its name, and its folder in the cache. `pins` are versions of
    these packages that are installed unless that is impossible."""

    name: str
    requirements: tuple[str, ...]
    folder: Path
    pins: tuple[str, ...] = ()

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


def release(option: str, text: str) -> Version:
    """One version. Raises BadInput."""
    try:
        return Version(text)
    except InvalidVersion as error:
        raise BadInput(f"{option} {text!r} is not a version; example: 2.1.0") from error


def _with_extras(wanted: Requirement) -> str:
    return f"{wanted.name}[{','.join(sorted(wanted.extras))}]" if wanted.extras else wanted.name


def find(
    wanted: Requirement, *, pre: bool, is_minor: bool = False, wheels: str | None = None
) -> Releases:
    """The releases that match, of the index or a folder; with `is_minor` the newest of each minor
    version. Raises BadInput, also if the index does not answer."""
    files = {} if wheels is None else _in_folder(wanted, wheels)
    every = sorted(map(Version, files)) if files else _on_index(wanted, pre)
    found = list(wanted.specifier.filter(every, prereleases=pre or bool(files)))
    if is_minor:
        found = list({version.release[:2]: version for version in found}.values())
    if not found:
        hint = "" if pre or files else "; --pre has pre-releases too"
        raise BadInput(f"no release matches {wanted}; the newest is {every[-1]}{hint}")
    return Releases(wanted, list(map(str, found)), files)


def _in_folder(wanted: Requirement, folder: str) -> dict[str, str]:
    """The wheels of a package by version, as requirements; with the digest, because a wheel may be
    built again. Of several for one version the first one that fits this Python."""
    tags = set(sys_tags())
    found: dict[str, Path] = {}
    fit = set[str]()
    for path in sorted(Path(folder).glob("*.whl")):
        try:
            name, version, _, fitting = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        is_fit = bool(tags & fitting)
        if name == canonicalize_name(wanted.name) and str(version) not in (
            fit if is_fit else found
        ):
            found[str(version)] = path.absolute()
            fit |= {str(version)} if is_fit else set()
    if not found:
        raise BadInput(f"--wheels {folder}: no wheel of {wanted.name}")
    digests = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in found.values()}
    return {
        version: f"{_with_extras(wanted)} @ {path.as_uri()}#sha256={digests[path]}"
        for version, path in found.items()
    }


def _on_index(wanted: Requirement, pre: bool) -> list[Version]:
    command = [*_pip(), "index", "versions", wanted.name, "--ignore-requires-python"]
    answer = _core.run_program([*command, *["--pre"] * pre], LIST_S)
    listed = LISTED.search(answer.out)
    if listed is None:
        why = (
            last_line(answer.err).removeprefix("ERROR: ")
            if answer.status is not None
            else f"no answer in {LIST_S:g} s"
        )
        why = _silence(answer.err) or why or "the index lists none"
        raise BadInput(f"no versions of {wanted.name}: {why}")
    return sorted(map(Version, listed[1].split(", ")))


def _silence(err: str) -> str:
    """Why the index could not be reached, if pip tells it."""
    broken = BROKEN.search(err)
    return f"the index does not answer: {shorten(broken[1], LONGEST_REASON)}" if broken else ""


def _pip() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "pip"]
    raise BadInput("to list and install versions, install pip or uv")


def recipe(
    folder: Path, version: str, requirements: Sequence[str], pins: Sequence[str] = ()
) -> Recipe:
    """The environment with these packages below `folder`."""
    words = [*sorted(requirements), *sorted(pins)]
    key = json.dumps([interpreter.python_version(), sys.prefix, *words])
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    name = environment_name(version)
    return Recipe(name, tuple(requirements), folder / f"{name}-{digest}", tuple(pins))


def environment_name(version: str) -> str:
    """A number alone would be a size on the command line."""
    name = re.sub("[^A-Za-z0-9_.+-]", "-", version)
    return f"v{name}" if name.isdigit() else name


def make(wanted: Recipe, timeout_s: float) -> Environment | None:
    """Installs the packages unless that was done; a failure is an unfit environment. The folder
    gets its name when it is whole, so an interrupted installation leaves none."""
    if wanted.is_made:
        return None
    try:
        wanted.folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=wanted.folder.parent, prefix=".part-") as part:
            place = Path(part) / "env"
            venv, install = _commands(place, wanted)
            steps = [venv, [*install, *wanted.requirements, *wanted.pins]]
            for command in steps:
                ended = _core.run_program(command, timeout_s)
                if ended.status and wanted.pins and UNSATISFIABLE.search(ended.err):
                    ended = _core.run_program([*install, *wanted.requirements], timeout_s)
                if ended.status != 0:
                    return _unfit(wanted, _reason(wanted, ended, timeout_s))
            if not wanted.is_made:  # another process may have been faster
                place.rename(wanted.folder)
    except OSError as error:
        raise BadInput(os_line(wanted.folder, error)) from error
    return None


def _commands(place: Path, wanted: Recipe) -> tuple[list[str], list[str]]:
    """Those that make an environment and install packages there."""
    words = ["--only-binary", ":all:"]
    if uv := shutil.which("uv"):
        python = str(place / "bin/python")
        # uv 0.13 admits a pre-release by `==` alone. This admits those of dependencies, too.
        if any(one.endswith(ANY_RELEASE) for one in wanted.requirements):
            words += ["--prerelease", "allow"]
        return (
            [uv, "venv", "--quiet", "--python", sys.executable, str(place)],
            [uv, "pip", "install", "--quiet", "--python", python, *words],
        )
    pip = [*_pip(), "--python", str(place), "install", "--quiet", "--disable-pip-version-check"]
    return [sys.executable, "-m", "venv", "--without-pip", str(place)], [*pip, *words]


def _reason(wanted: Recipe, ended: _core.Program, timeout_s: float) -> str:
    if ended.status is None:
        return f"not installed within {timeout_s:g} s"
    errors = [line for line in ended.err.splitlines() if line.startswith("ERROR: ")]
    text = errors[-1].removeprefix("ERROR: ") if errors else " ".join(ended.err.split())
    text = text[max(text.find("Because "), 0) :]  # of uv, after a head that says no more
    is_missing = text == f"No matching distribution found for {wanted.requirements[0]}"  # of pip
    if is_missing or f"{wanted.requirements[0]} has no usable wheels" in text:  # of uv
        text = f"no wheel for Python {interpreter.python_version()}"
    return f"not installed: {_silence(ended.err) or shorten(text, LONGEST_REASON)}"


def _unfit(wanted: Recipe, reason: str) -> Environment:
    return Environment(wanted.name, str(wanted.python), failure=Failure(UNFIT, reason))
