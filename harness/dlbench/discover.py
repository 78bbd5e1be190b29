"""Finds adapters, and what can be known of their libraries without importing anything.

Three places are read, a later one replacing an earlier one's file of the same role and name: the
folders that come with dlbench, entry points, and the folder of `--adapters`.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from dlbench import _core, arguments
from dlbench.errors import BadInput, first_line
from dlbench.facts import AdapterFile, read_adapter

ROLES = ("producer", "consumer")
PACKAGE = Path(__file__).parent
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


@dataclass
class Catalogue:
    """The adapter files by library and role, and what was wrong with those that were left out."""

    files: dict[str, dict[str, AdapterFile]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, role: str, name: str, path: Path) -> None:
        if not NAME.fullmatch(name) or name == "all":
            raise BadInput(f"{path}: {name!r} cannot be a library's name")
        self.files.setdefault(name, {})[role] = read_adapter(role, name, path)

    def roles(self, name: str) -> dict[str, AdapterFile]:
        """The files of a library, which may be NAME:ARGUMENT: then those that take the argument.

        Raises KeyError where no adapter has the name, BadInput where none takes the argument.
        """
        base, argument = arguments.split(name)
        roles = self.files[base]
        if not argument:
            return roles
        known = _arguments(roles)
        if not known:
            raise BadInput(f"{base} takes no argument, so {name!r} is no library")
        try:
            word, _ = arguments.read(argument, known)
        except KeyError as error:
            near = _core.nearest(error.args[0], list(known))
            hint = f" (did you mean {near!r}?)" if near else ""
            allowed = ", ".join(arguments.spelled(known))
            raise BadInput(f"unknown argument in {name!r}{hint}; allowed: {allowed}") from None
        except ValueError as error:
            raise BadInput(f"{name!r}: {error}") from None
        return {role: file for role, file in roles.items() if word in file.arguments}

    def chosen(self, asked: Iterable[str]) -> list[str]:
        """The libraries of all adapters that are not hidden, and those asked for by argument."""
        names = {name for name, roles in self.files.items() if not _is_hidden(roles)}
        for name in asked:
            base, argument = arguments.split(name)
            roles = self.files.get(base, {})
            if argument and roles:
                names.add(name)
            elif _is_hidden(roles):
                known = ", ".join(arguments.spelled(_arguments(roles)))
                raise BadInput(f"{base} is written {base}:ARGUMENT; allowed: {known}")
        return sorted(names)


def _is_hidden(roles: dict[str, AdapterFile]) -> bool:
    return any(file.hidden for file in roles.values())


def _arguments(roles: dict[str, AdapterFile]) -> dict[str, str]:
    return {name: value for file in roles.values() for name, value in file.arguments.items()}


def catalogue(extra: Path | None = None, package: Path = PACKAGE) -> Catalogue:
    """All adapters. Raises BadInput for a folder or file of ours or of `extra` that is unfit."""
    found = Catalogue()
    for role, path in _folder_files(package):
        found.add(role, path.stem, path)
    for role in ROLES:
        _add_entry_points(found, role)
    if extra is not None:
        if not extra.is_dir():
            raise BadInput(f"adapters folder {str(extra)!r} does not exist")
        if not any((extra / f"{role}s").is_dir() for role in ROLES):
            raise BadInput(f"adapters folder {str(extra)!r} has neither producers/ nor consumers/")
        for role, path in _folder_files(extra):
            found.add(role, path.stem, path.absolute())
    return found


def _folder_files(folder: Path) -> Iterator[tuple[str, Path]]:
    for role in ROLES:
        for path in sorted((folder / f"{role}s").glob("*.py")):
            if not path.name.startswith("_"):
                yield role, path


def _add_entry_points(found: Catalogue, role: str) -> None:
    # Somebody else's broken package must not stop a run that never asked for it.
    for point in importlib.metadata.entry_points(group=f"dlbench.{role}s"):
        try:
            found.add(role, point.name, _module_file(point.module))
        except BadInput as error:
            owner = point.dist.name if point.dist is not None else "?"
            found.warnings.append(f"adapter {point.name} of package {owner} left out: {error}")


def _module_file(module: str) -> Path:
    """A module's file. Its parent packages are imported on the way, the module itself is not."""
    try:
        spec = importlib.util.find_spec(module)
    except Exception as error:
        raise BadInput(f"module {module}: {first_line(error)}") from error
    if spec is None or spec.origin is None or not spec.has_location:
        raise BadInput(f"module {module} has no file")
    return Path(spec.origin)


def requirement_name(requirement: str) -> str:
    """ "mlx[cpu]>=0.3" -> "mlx"."""
    return re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0]


def installed_version(distributions: tuple[str, ...]) -> str | None:
    """The version of the first distribution that is installed here; None where none is."""
    for distribution in distributions:
        try:
            return importlib.metadata.version(requirement_name(distribution))
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def is_built(extension: str, package: Path = PACKAGE) -> bool:
    """Does an extension module of dlbench's own lie in its package?"""
    return any((package / f"{extension}{suffix}").exists() for suffix in EXTENSION_SUFFIXES)


def library(name: str, roles: dict[str, AdapterFile]) -> _core.Library:
    """A `_core.Library` of one library's one or two files."""
    files = list(roles.values())
    base, argument = arguments.split(name)
    distributions = next((f.distributions for f in files if f.distributions is not None), (base,))
    extensions = [file.extension for file in files if file.extension is not None]
    why_not = ""
    version = ""
    if extensions:
        # The module has its library inside: what is installed now does not matter.
        if not all(is_built(extension) for extension in extensions):
            why_not = f"pip install {pip_word(distributions[0])}, then build dlbench again"
    elif distributions:
        version = installed_version(distributions) or ""
        why_not = "" if version else f"pip install {pip_word(distributions[0])}"
    consumer = roles.get("consumer")
    return _core.Library(
        name=name,
        environment="default",
        installed=not why_not,
        version=version,
        why_not=why_not,
        producer_path=str(roles["producer"].path) if "producer" in roles else "",
        consumer_path=str(consumer.path) if consumer else "",
        protocols=list(consumer.protocols) if consumer else [],
        devices=list(next((f.devices for f in files if f.devices is not None), ("cpu",))),
        has_ready=any(f.is_asynchronous(argument) for f in files),
        in_default_matrix=all(f.default and not f.hidden for f in files),
        hidden=_is_hidden(roles),
    )


def pip_word(requirement: str) -> str:
    """Quoted where a shell would read it as a pattern: "mlx[cpu]"."""
    return f'"{requirement}"' if re.search(r"[\[\s<>;]", requirement) else requirement


def libraries(found: Catalogue, asked: Iterable[str] = ()) -> list[_core.Library]:
    """All libraries as `_core.Library`, by name; `asked` are the words of the command line."""
    return [library(name, found.roles(name)) for name in found.chosen(asked)]
