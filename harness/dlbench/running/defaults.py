"""Defaults of options, from `[tool.dlbench]` of a project's pyproject.toml.

Its keys are options of a measuring run, without `--`; those of `[tool.dlbench.VERB]` are options of
that verb. `adapters` holds for every verb that loads adapters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from dlbench import _core
from dlbench.errors import BadInput, read_toml

FILE = "pyproject.toml"
#: Options that belong to one call: what it does, and the files that it writes or replaces.
ONCE = {"calls", "matrix", "resume", "out", "output", "force", "dry_run", "profile", "is_run",
        "markdown", "junit", "issue", "explain"}  # fmt: skip
EVERYWHERE = "adapters"


def find(folder: Path) -> Path | None:
    """The pyproject.toml of this folder, or of the nearest folder above it in the same repository:
    another one may be a stranger's, and `adapters` names code."""
    places = [folder, *folder.parents]
    top = next((at for at, place in enumerate(places) if (place / ".git").exists()), 0)
    return next((at / FILE for at in places[: top + 1] if (at / FILE).is_file()), None)


@dataclass(frozen=True)
class Defaults:
    """Of one command: by parameter, as click's `default_map`."""

    path: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def cause(self, typed: Sequence[str], message: str) -> str:
        """The option whose default an error is about; empty if it is about none."""
        for name, value in self.values.items():
            option = "--" + name.replace("_", "-")
            is_typed = any(word.partition("=")[0] == option for word in typed)
            words = value if isinstance(value, list) else str(value).split(",")
            words = [word for word in words if not any(str(word) in each for each in typed)]
            if not is_typed and (option in message or any(f"'{w}'" in message for w in words)):
                return option
        return ""


def read(
    folder: Path,
    verb: str,
    command: click.Command,
    measure: click.Command,
    verbs: Collection[str],
) -> Defaults:
    """The defaults of a command in this folder. `verb` is empty for a measuring run, whose command
    is `measure`. Raises BadInput for a bad key or value."""
    path = find(folder)
    if path is None:
        return Defaults()
    table: Any = read_toml(path)
    for place in ("tool", "dlbench"):
        table = table.get(place, {})
        if not isinstance(table, dict):
            raise BadInput(f"{path}: {place}: allowed: a table")
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    for name in tables:
        if name not in verbs:
            hint = _core.did_you_mean(name, list(verbs))
            raise BadInput(f"{path}: [tool.dlbench.{name}]: unknown verb{hint}")
    own = {key: value for key, value in table.items() if key not in tables}
    found = _values(path, "tool.dlbench", own, measure)
    if verb:
        everywhere = {EVERYWHERE} & found.keys() & {option.name for option in command.params}
        shared = {name: found[name] for name in everywhere}
        found = shared | _values(path, f"tool.dlbench.{verb}", tables.get(verb, {}), command)
    return Defaults(path, found)


def _values(
    path: Path, place: str, table: Mapping[str, Any], command: click.Command
) -> dict[str, Any]:
    # `--all` of a measuring run needs --dry-run.
    once = ONCE | ({"everything"} if place == "tool.dlbench" else set())
    options = {
        option.opts[0].removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option) and option.expose_value and option.name not in once
    }
    found = {}
    for key, value in table.items():
        if key not in options:
            allowed = ", ".join(options) or "none"
            hint = _core.did_you_mean(key, list(options)) or f"; allowed: {allowed}"
            raise BadInput(f"{path}: [{place}]: unknown key {key!r}{hint}")
        option = options[key]
        is_list = option.multiple or (option.metavar or "").startswith("A,B")
        allowed = "true or false" if option.is_flag else "a text or a number"
        texts = value if is_list and isinstance(value, list) else [value]
        fits = bool(texts) and all(
            isinstance(text, (str, int, float))
            and text != ""
            and isinstance(text, bool) is option.is_flag
            for text in texts
        )
        if not fits:
            allowed += ", or a list of them" if is_list else ""
            raise BadInput(f"{path}: [{place}]: {key}: allowed: {allowed}")
        if option.metavar in ("DIR", "FILE"):
            value = str(path.parent / str(value))
        name = str(option.name)
        found[name] = value if option.is_flag else texts if option.multiple else _joined(value)
    return found


def _joined(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
