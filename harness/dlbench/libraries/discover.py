"""Finds adapters, and facts about their libraries that need no import. Three places are read, and a
later file replaces an earlier one of the same role and name: dlbench's own folders, entry points,
and the folder of `--adapters`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dlbench import _core
from dlbench.environments.environment import Environment, here, where
from dlbench.errors import BadInput
from dlbench.interpreter import ROLES
from dlbench.libraries import arguments
from dlbench.libraries.facts import AdapterFile, read_adapter, requirement_name
from dlbench.text.escaping import shortened

PACKAGE = Path(__file__).parents[1]
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


@dataclass
class Catalogue:
    """The adapter files of one environment by library and role, and the reasons why others were
    left out."""

    environment: Environment = field(default_factory=here)
    files: dict[str, dict[str, AdapterFile]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, role: str, name: str, path: Path) -> None:
        if not NAME.fullmatch(name) or name == arguments.ALL:
            raise BadInput(f"{path}: {name!r} cannot be a library's name")
        self.files.setdefault(name, {})[role] = read_adapter(role, name, path)

    def roles(self, name: str) -> dict[str, AdapterFile]:
        """The files of a library; for NAME:ARGUMENT only those that accept the argument.

        Raises KeyError where no adapter has the name, BadInput where none accepts the argument.
        """
        base, argument = arguments.split(name)
        roles = self.files[base]
        if not argument:
            return roles
        known = _arguments(roles)
        if not known:
            raise BadInput(f"{base} accepts no argument: unknown library {name!r}")
        try:
            word, _ = arguments.read(argument, known)
        except KeyError as error:
            hint = _core.did_you_mean(error.args[0], list(known))
            allowed = ", ".join(arguments.spelled(known))
            raise BadInput(f"unknown argument in {name!r}{hint}; allowed: {allowed}") from None
        except ValueError as error:
            raise BadInput(f"{name!r}: {error}") from None
        if any(word in file.calls for file in roles.values()):
            return {role: file.importing_by(word) for role, file in roles.items()}
        return {role: file for role, file in roles.items() if word in file.arguments}

    def is_call(self, name: str) -> bool:
        """Is it NAME:CALL, which only imports?"""
        base, call = arguments.split(name)
        return any(call in file.calls for file in self.files.get(base, {}).values())

    def expanded(self, words: Iterable[str]) -> list[str]:
        """Each NAME:all as NAME and its CALLS, all:all as all and those of every library."""
        found: list[str] = []
        for word in words:
            base, argument = arguments.split(word)
            names = sorted(self.files) if base == arguments.ALL else [base]
            calls = [
                f"{name}:{call}"
                for name in names
                for file in self.files.get(name, {}).values()
                for call in file.calls
            ]
            found += [base, *calls] if argument == arguments.ALL and calls else [word]
        return list(dict.fromkeys(found))

    def chosen(self, requested: Iterable[str]) -> list[str]:
        """The libraries of all adapters that are not hidden, and those requested by argument."""
        names = {name for name, roles in self.files.items() if not _is_hidden(roles)}
        for name in requested:
            base, argument = arguments.split(name)
            roles = self.files.get(base, {})
            if argument and roles:
                names.add(name)
            elif _is_hidden(roles):
                known = ", ".join(arguments.spelled(_arguments(roles)))
                raise BadInput(f"{base} needs an argument, as {base}:ARGUMENT; allowed: {known}")
        return sorted(names)


def adapter(found: Catalogue, role: str, name: str) -> AdapterFile:
    """Raises BadInput if the run's adapter no longer exists."""
    try:
        return found.roles(name)[role]
    except KeyError:
        raise BadInput(
            f"no {role} adapter {name!r} here (the run may have used --adapters)"
        ) from None


def _is_hidden(roles: dict[str, AdapterFile]) -> bool:
    return any(file.hidden for file in roles.values())


def _arguments(roles: dict[str, AdapterFile]) -> dict[str, str]:
    known = {name: value for file in roles.values() for name, value in file.arguments.items()}
    return known | {name: "" for file in roles.values() for name in file.calls}


def catalogue(
    adapters: str | Path | None = None,
    package: Path = PACKAGE,
    environment: Environment | None = None,
) -> Catalogue:
    """All adapters of an environment; by default of the one that dlbench runs in.
    `adapters` is the folder of `--adapters`, empty where none was given.

    Raises BadInput for an invalid file of dlbench or of `adapters`.
    """
    found = Catalogue(environment or here())
    for role, path in _folder_files(package):
        found.add(role, path.stem, path)
    _add_entry_points(found)
    if adapters:
        extra = Path(adapters)
        if not extra.is_dir():
            raise BadInput(f"adapters folder {str(extra)!r} does not exist")
        if not any((extra / f"{role}s").is_dir() for role in ROLES):
            raise BadInput(f"adapters folder {str(extra)!r} has neither producers/ nor consumers/")
        for role, path in _folder_files(extra):
            found.add(role, path.stem, path.absolute())
    return found


def catalogues(adapters: str | Path | None, places: Iterable[Environment]) -> dict[str, Catalogue]:
    """Those of several environments, by name; see catalogue()."""
    return {place.name: catalogue(adapters, environment=place) for place in places}


def _folder_files(folder: Path) -> Iterator[tuple[str, Path]]:
    for role in ROLES:
        for path in sorted((folder / f"{role}s").glob("*.py")):
            if not path.name.startswith("_"):
                yield role, path


def _add_entry_points(found: Catalogue) -> None:
    # A broken package must not stop a run that does not need it.
    place = where(found.environment.name)
    for point in found.environment.adapter_points():
        try:
            if point.fault:
                raise BadInput(point.fault)
            found.add(point.role, point.name, Path(point.path))
        except BadInput as error:
            source = f"adapter {point.name} of package {point.owner}{place}"
            found.warnings.append(f"{source} left out: {error}")


def library(
    name: str, roles: dict[str, AdapterFile], environment: Environment | None = None
) -> _core.Library:
    """A `_core.Library` of one library's one or two files in an environment."""
    place = environment or here()
    files = list(roles.values())
    base, argument = arguments.split(name)
    version, why_not = _installed(base, files, place)
    consumer = roles.get("consumer")
    return _core.Library(
        name=name,
        environment=place.name,
        installed=not why_not,
        version=version,
        why_not=why_not,
        absence=place.failure.outcome if place.failure else "not-installed",
        producer_path=str(roles["producer"].path) if "producer" in roles else "",
        consumer_path=str(consumer.path) if consumer else "",
        protocols=list(consumer.protocols) if consumer else [],
        devices=list(next((f.devices for f in files if f.devices is not None), ("cpu",))),
        has_ready=any(f.is_asynchronous(argument) for f in files),
        imports_first=any(f.imports_first for f in files),
        crosses=any(f.crosses for f in files),
        launches=consumer.launches.get(argument, "") if consumer else "",
        in_default_matrix=all(f.default and not f.hidden for f in files),
        hidden=_is_hidden(roles),
    )


def unknown(name: str, known: Iterable[str], kind: str = "library") -> str:
    """The line that refuses a name, with the nearest known one."""
    if "," in name:
        return f"unknown {kind} {name!r}: separate libraries by spaces, as {name.replace(',', ' ')}"
    hint = _core.did_you_mean(name, list(known))
    return f"unknown {kind} {name!r}{hint}; 'dlbench list' lists them, --adapters adds your own"


def install_command(name: str, paths: Iterable[str], place: Environment) -> str:
    """The command that installs all that the library needs; `paths` are its adapter files."""
    base = arguments.split(name)[0]
    files = [read_adapter(Path(path).parent.name.rstrip("s"), base, Path(path)) for path in paths]
    return _install_command(place, _distributions(base, files))


def distributions(found: Catalogue, name: str) -> tuple[str, ...]:
    """The packages of a library, by requirement. Raises KeyError for an unknown library."""
    base = arguments.split(name)[0]
    return _distributions(base, list(found.roles(name).values()))


def _install_command(place: Environment, distributions: tuple[str, ...]) -> str:
    pip = "pip" if place.is_default else f"{shlex.quote(place.python)} -m pip"
    return f"{pip} install {pip_word(distributions[0])}" if distributions else ""


def _distributions(base: str, files: list[AdapterFile]) -> tuple[str, ...]:
    return next((f.distributions for f in files if f.distributions is not None), (base,))


def _installed(base: str, files: list[AdapterFile], place: Environment) -> tuple[str, str]:
    """The version, or the command that installs it."""
    if place.failure is not None:
        return "", place.failure.reason
    distributions = _distributions(base, files)
    extensions = [file.extension for file in files if file.extension is not None]
    if extensions:
        # The module contains its library, so the installed version does not matter.
        if all(place.is_built(extension) for extension in extensions):
            return "", ""
        if not place.is_default:
            return "", f"in dlbench's sources: ./build-worker {shlex.quote(place.python)}"
        return "", f"pip install {pip_word(distributions[0])}, then build dlbench again"
    if not distributions:
        return "", ""
    version = place.installed_version(requirement_name(one) for one in distributions) or ""
    built = next((file for file in files if "" in file.builds), None)
    if not version and place.is_default and built is not None:
        from dlbench.libraries import compiled

        version = compiled.version_in_wheel(built.path, built.builds)
    version = shortened(version)
    return version, "" if version else _install_command(place, distributions)


def pip_word(requirement: str) -> str:
    """Quoted where a shell would read it as a pattern: "mlx[cpu]"."""
    return f'"{requirement}"' if re.search(r"[\[\s<>;]", requirement) else requirement


def libraries(found: Catalogue, requested: Iterable[str] = ()) -> list[_core.Library]:
    """All libraries as `_core.Library`, by name; `requested` are the names on the command line."""
    return [library(name, found.roles(name), found.environment) for name in found.chosen(requested)]


def used_in(plan: _core.Plan) -> set[tuple[str, str]]:
    """The libraries that a plan's cells need, as (environment, name)."""
    return {(environment, name) for environment, *pair, _ in plan.pairs for name in pair}
