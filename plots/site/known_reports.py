"""Known reports: what upstream says of a step, from a file that anyone can edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from dlbench.analysis.archive import Change, is_between
from dlbench.errors import BadInput, read_toml

OWN = Path(__file__).with_name("known_reports.toml")
ROLES = ("producer", "consumer")


@dataclass(frozen=True)
class Report:
    """`version` is the first one with the change. An empty `role` or `protocol` is any."""

    library: str
    version: str
    text: str
    url: str
    role: str = ""
    protocol: str = ""

    def explains(self, change: Change, library: str) -> bool:
        """Is the step of this library's versions the reported one?"""
        if self.library != library or library not in change.libraries:
            return False
        entry = change.after.entry
        if self.role and getattr(entry, self.role) != library:
            return False
        if self.protocol not in ("", entry.protocol):
            return False
        return is_between(self.version, *change.of(library))


def read(path: Path) -> list[Report]:
    """The reports of a TOML file. Raises BadInput."""
    made = read_toml(path)
    found = made.get("report", [])
    if unknown := [name for name in made if name != "report"]:
        raise BadInput(f"{path}: unknown {unknown[0]!r}; allowed: tables [[report]]")
    if not isinstance(found, list):
        raise BadInput(f"{path}: expected tables [[report]]")
    return [_report(path, number, made) for number, made in enumerate(found, 1)]


def of(path: str | None) -> Sequence[Report]:
    """Those of the user's file first, then dlbench's own."""
    return [*(read(Path(path)) if path is not None else ()), *read(OWN)]


def _report(path: Path, number: int, made: object) -> Report:
    place = f"{path}: report {number}"
    if not isinstance(made, dict) or not all(isinstance(value, str) for value in made.values()):
        raise BadInput(f"{place}: expected a table of texts")
    known = [field.name for field in fields(Report)]
    unknown = [key for key in made if key not in known]
    missing = [key for key in known[:4] if key not in made]
    if unknown or missing:
        why = f"unknown key {unknown[0]!r}" if unknown else f"no {missing[0]!r}"
        raise BadInput(f"{place}: {why}; allowed: {', '.join(known)}")
    if made.get("role", "") not in ("", *ROLES):
        raise BadInput(f"{place}: role {made['role']!r}; allowed: {', '.join(ROLES)}")
    if not made["url"].startswith("https://"):
        raise BadInput(f"{place}: url {made['url']!r}; allowed: an address with https://")
    return Report(**made)
