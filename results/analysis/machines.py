"""The exchanges of a merged document, each with its times on several machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlbench import _core
from dlbench.document import EXCHANGE, Axis, Document, Entry, Measured, exchanges_once
from dlbench.errors import BadInput

Key = tuple[Axis, ...]


@dataclass(frozen=True)
class Exchange:
    """An exchange that one machine measured, with the ratios of the others' times to its own."""

    base: Measured
    ratios: dict[str, float]  #: by machine, for machines with the same clock


def require_machine(document: Document, name: str) -> None:
    """Raises BadInput and UsageError for a machine that the document does not have."""
    if not document.machines:
        raise BadInput("--relative-to is for merged runs: this run is of one machine")
    _core.require_known("machine", name, document.machines)


def by_machine(document: Document) -> dict[str, dict[Key, Entry]]:
    """The exchanges of each machine, each once, by the axes that machines share."""
    found: dict[str, dict[Key, Entry]] = {name: {} for name in document.machines}
    for entry in exchanges_once(document.entries):
        found[entry.machine][entry.axes(EXCHANGE)] = entry
    return found


def exchanges(document: Document, relative_to: str = "") -> Iterator[Exchange]:
    """The exchanges that this machine measured; without a name, the first machine."""
    found = by_machine(document)
    base = relative_to or document.machines[0]
    for key, entry in found[base].items():
        if not isinstance(entry, Measured) or entry.median_ns <= 0:
            continue
        others = {name: own.get(key) for name, own in found.items() if name != base}
        yield Exchange(entry, {
            name: other.median_ns / entry.median_ns
            for name, other in others.items()
            if isinstance(other, Measured) and other.clock == entry.clock and other.median_ns > 0
        })  # fmt: skip
