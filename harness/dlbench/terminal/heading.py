"""The first lines of a run: dlbench, the machine, and the versions in each environment."""

from __future__ import annotations

from collections.abc import Iterator

from dlbench import values
from dlbench.document import Document, EnvironmentFacts
from dlbench.text.layout import count, fold

FLOORS = ("empty", "clock", "call", "proxy")


def header(document: Document, width: int) -> list[str]:
    """The first environment with the machine, then a paragraph for each further one."""
    parts = [f"dlbench {document.run.version}"]
    parts += filter(None, [document.run.machine.processor, *document.devices])
    environments = document.environments
    first = document.environment(next(iter(environments), ""))
    lines = fold([*parts, *_installed(first)], width)
    for name in list(environments)[1:]:
        lines += fold([f"{name}:", *_installed(environments[name])], width)
    return lines + fold(_instrument(document, first), width, gap="   ")


def _installed(environment: EnvironmentFacts) -> Iterator[str]:
    if environment.python:
        free = " without GIL" if environment.has("gil") and not environment.gil else ""
        yield f"Python {environment.python}{free}"
    for library, version in environment.packages.items():
        yield f"{library} {version}"


def _instrument(document: Document, first: EnvironmentFacts) -> Iterator[str]:
    entries = document.entries
    pairs = {entry.pair for entry in entries}
    budget = document.run.request.budget
    counted = f"{count(len(pairs), 'pair')}, {count(len(entries), 'cell')}"
    yield f"{counted}, budget {budget}" if budget else counted
    floors = first.floors_ns
    if floors:
        known = [name for name in FLOORS if floors.get(name, 0) > 0]
        shown = (f"{name} {values.duration(floors[name])}" for name in known)
        yield f"floors: {', '.join(shown)}"
