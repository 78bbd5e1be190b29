"""The file of `dlbench fleet`: machines, and the jobs that measure them."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.document import MACHINE_NAME
from dlbench.errors import BadInput, read_toml

#: Keys of a machine, with what each must be; `defaults` has the same.
KEYS = {
    "partition": 'a text, as in "cluster:gpu"',
    "options": 'a text, as in "--sizes 4KiB", or a list of texts',
    "python": "a text: a Python with dlbench on that machine",
    "modules": "a list of texts",
    "env": "a table of texts",
    "setup": "a list of texts: commands before the run",
    "prefix": "a text or a list of texts: words before the Python",
    "timeout": 'a text, as in "30m"',
    "pending": 'a text, as in "2h"',
}
DEFAULT_TIMEOUT = "1h"
#: Options that the fleet sets itself, or that need the machine's terminal.
OWN_OPTIONS = ("--matrix", "--out", "--resume", "--dry-run", "--profile", "--no-plots")


@dataclass(frozen=True)
class Job:
    """One run on one machine."""

    name: str
    partition: str  #: system:partition of the site's configuration; empty for this machine
    python: str
    options: tuple[str, ...]
    modules: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    setup: tuple[str, ...]
    prefix: tuple[str, ...]
    timeout_s: float  #: of the run itself
    pending_s: float  #: until the scheduler starts it; 0: any time

    def request(self) -> dict[str, Any]:
        """The settings on which the result depends; another result is not this job's."""
        return {"options": list(self.options), "python": self.python,
                "modules": list(self.modules), "env": dict(self.env), "setup": list(self.setup),
                "prefix": list(self.prefix), "partition": self.partition}  # fmt: skip


@dataclass(frozen=True)
class Fleet:
    """The machines' jobs, and the site's configuration of ReFrame."""

    jobs: tuple[Job, ...]
    config: Path | None


def read(path: Path) -> Fleet:
    """The fleet of a file. Raises BadInput, naming the file and the key."""
    found = read_toml(path)
    _require_known(path, found, ("config", "defaults", "machines"), "")
    defaults = _table(path, found.get("defaults", {}), "defaults")
    machines = _table(path, found.get("machines", {}), "machines")
    if not machines:
        raise BadInput(f"{path}: it names no machine: add a table such as [machines.laptop]")
    config = found.get("config")
    if config is not None and not isinstance(config, str):
        raise BadInput(f"{path}: config: allowed: a text, the file of ReFrame's configuration")
    place = path.parent / config if config else None
    if place is not None and not place.is_file():
        raise BadInput(f"{path}: config: no such file: {place}")
    jobs = [
        _job(path, name, defaults, _table(path, own, f"machines.{name}"))
        for name, own in machines.items()
    ]
    for job in jobs:
        if job.partition and place is None:
            raise BadInput(f"{path}: machines.{job.name}.partition: set config, the file of "
                           "ReFrame's configuration that has it")  # fmt: skip
    return Fleet(tuple(jobs), place)


def _job(path: Path, name: str, defaults: Mapping[str, Any], own: Mapping[str, Any]) -> Job:
    if not MACHINE_NAME.fullmatch(name):
        raise BadInput(f"{path}: machine {name!r}: allowed: letters, digits and _ . + -")
    for place, table in (("defaults", defaults), (f"machines.{name}", own)):
        _require_known(path, table, KEYS, f"{place}.")
        for key, value in table.items():
            if not _fits(key, value):
                raise BadInput(f"{path}: {place}.{key}: allowed: {KEYS[key]}")
    merged = {**defaults, **own}
    merged["env"] = {**defaults.get("env", {}), **own.get("env", {})}
    options = _words(defaults.get("options", [])) + _words(own.get("options", []))
    for word in options:
        if word.partition("=")[0] in OWN_OPTIONS:
            raise BadInput(f"{path}: machines.{name}.options: leave out {word}: fleet sets it")
    partition = merged.get("partition", "")
    if partition and not re.fullmatch(r"[A-Za-z0-9_-]+:[A-Za-z0-9_-]+", partition):
        raise BadInput(f"{path}: machines.{name}.partition: allowed: {KEYS['partition']}")
    timeout_s = _seconds(path, name, merged, "timeout", DEFAULT_TIMEOUT)
    pending_s = _seconds(path, name, merged, "pending", "")
    return Job(
        name=name,
        partition=partition,
        python=merged.get("python") or ("python3" if partition else sys.executable),
        options=tuple(options),
        modules=tuple(merged.get("modules", ())),
        env=tuple(sorted(merged["env"].items())),
        setup=tuple(merged.get("setup", ())),
        prefix=tuple(_words(merged.get("prefix", []))),
        timeout_s=timeout_s,
        pending_s=pending_s,
    )


def _words(value: str | list[str]) -> list[str]:
    return shlex.split(value) if isinstance(value, str) else list(value)


def _seconds(path: Path, name: str, merged: Mapping[str, Any], key: str, default: str) -> float:
    text = merged.get(key, default)
    try:
        return _core.parse_seconds(text) if text else 0.0
    except _core.UsageError as error:
        raise BadInput(f"{path}: machines.{name}.{key}: {error}") from error


def _fits(key: str, value: object) -> bool:
    def is_texts(items: object) -> bool:
        return isinstance(items, list) and all(isinstance(item, str) for item in items)

    if key == "env":
        return isinstance(value, dict) and is_texts(list(value.values()))
    if key in ("modules", "setup"):
        return is_texts(value)
    if key in ("options", "prefix"):
        if not isinstance(value, str):
            return is_texts(value)
        try:
            shlex.split(value)
        except ValueError:
            return False
        return True
    return isinstance(value, str)


def _table(path: Path, value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{path}: {place}: allowed: a table")
    return value


def _require_known(
    path: Path, table: Mapping[str, Any], known: Mapping[str, str] | tuple[str, ...], place: str
) -> None:
    for key in table:
        if key not in known:
            hint = _core.did_you_mean(key, list(known))
            raise BadInput(f"{path}: unknown key {place}{key}{hint}; allowed: {', '.join(known)}")
