"""The first lines of a run: dlbench, the machine, and what it measured with in each environment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlbench import document as documents
from dlbench import values
from dlbench.layout import count, fold

FLOORS = ("empty", "clock", "call", "relay")


def header(document: dict[str, Any], width: int) -> list[str]:
    """Our own environment beside the machine, then a paragraph for each further one."""
    about = documents.about(document)
    machine = about.get("machine", {})
    parts = [f"dlbench {about['version']}"]
    if machine.get("cpu"):
        parts.append(f"{machine['cpu']}, {machine.get('cores', '?')} cores")
    environments = documents.environments(document)
    first = next(iter(environments), "")
    lines = fold([*parts, *_installed(document, first)], width)
    for name in list(environments)[1:]:
        told = [*_installed(document, name), documents.between_processes(environments[name])]
        lines += fold([f"{name}:", *filter(None, told)], width)
    return lines + fold(_instrument(document, about, environments.get(first, {})), width, gap="   ")


def _installed(document: dict[str, Any], name: str) -> Iterator[str]:
    told = documents.environments(document).get(name, {})
    if told.get("python"):
        free = "" if told.get("gil", True) else " without GIL"
        yield f"Python {told['python']}{free}"
    for library, version in documents.versions(document, name).items():
        yield f"{library} {version}"


def _instrument(
    document: dict[str, Any], about: dict[str, Any], first: dict[str, Any]
) -> Iterator[str]:
    entries = list(documents.entries(document))
    couples = {(e["environment"], frozenset((e["producer"], e["consumer"]))) for e in entries}
    budget = about.get("request", {}).get("budget", "")
    counted = f"{count(len(couples), 'couple')}, {count(len(entries), 'cell')}"
    yield f"{counted}, budget {budget}" if budget else counted
    floors = first.get("floors_ns", {})
    if floors:
        known = [name for name in FLOORS if floors.get(name, 0) > 0]
        shown = (f"{name} {values.duration(floors[name])}" for name in known)
        yield f"floors: {', '.join(shown)}"
    if between := documents.between_processes(first):
        yield between
