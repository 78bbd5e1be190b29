"""Selects the cells that a figure shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeVar

from dlbench import values
from dlbench.analysis.calls import CALL
from dlbench.document import Axis, Document, Entry, Measured
from dlbench.document.facts import DULL, native_first
from dlbench.text.layout import listing

E = TypeVar("E", bound=Entry)
P = TypeVar("P")


def has_exchanges(document: Document) -> bool:
    return bool(places(document.exchanges))


def measured(document: Document) -> list[Measured]:
    """The exchanges that have a number."""
    return [entry for entry in document.measured if entry.is_exchange]


def has_numbers(document: Document) -> bool:
    return bool(measured(document))


def transfers(document: Document) -> list[Measured]:
    """Those that are no calls with several arrays, which have a figure of their own."""
    return [entry for entry in measured(document) if entry.protocol != CALL]


def has_transfers(document: Document) -> bool:
    return bool(transfers(document))


def usual(entries: Iterable[Entry], axis: str, wanted: str) -> str:
    """`wanted` if a measured entry has it, otherwise the most frequent measured value."""
    found = (entry for entry in entries if isinstance(entry, Measured))
    counts = Counter(str(entry.axis(axis)) for entry in found)
    if not counts or wanted in counts:
        return wanted
    return min(counts, key=lambda value: (-counts[value], value))


def where(entries: Iterable[E], **axes: Axis) -> list[E]:
    """The entries with these values; `case_` means `case`."""
    wanted = {key.rstrip("_"): value for key, value in axes.items()}
    return [e for e in entries if all(e.axis(key) == value for key, value in wanted.items())]


def plain(entries: Sequence[E]) -> tuple[list[E], str, str]:
    """The entries of one protocol and one case (the usual ones if measured), and their names; of
    calls those with one number of arrays."""
    protocol = usual(entries, "protocol", "dlpack")
    of_protocol = where(entries, protocol=protocol)
    case = usual(of_protocol, "case", "f32")
    chosen = where(of_protocol, case_=case)
    if protocol == CALL:
        number = usual(chosen, "arrays", "8")
        chosen = where(chosen, arrays=int(number))
        protocol = f"call with {number} arrays"
    return chosen, protocol, case


def by_consumer(entries: Sequence[E]) -> Iterator[tuple[str, str, str, list[E]]]:
    """For each consumer's panel: title, environment, device and entries."""
    for environment, device in places(entries):
        here = where(entries, environment=environment, device=device)
        suffix = "" if device == "cpu" else f" on {device}"
        suffix += "" if environment == "default" else f" in {environment}"
        for consumer in native_first(entry.consumer for entry in here):
            title = f"\u2192 {consumer}{suffix}"
            yield title, environment, device, where(here, consumer=consumer)


def places(entries: Iterable[Entry]) -> list[tuple[str, str]]:
    """(environment, device) of the entries with a result, the default ones first."""
    found = {(e.environment, e.device) for e in entries if e.outcome not in DULL}
    return sorted(found, key=lambda p: (p[0] != "default", p[0], p[1] != "cpu", p[1]))


def first_panels(
    panels: list[P], rows: Callable[[P], int], most_rows: int
) -> tuple[list[P], list[str]]:
    """The first panels, one or as many as have `most_rows` rows together, and a note on the others:
    matplotlib takes minutes for thousands of rows."""
    totals = accumulate(map(rows, panels))
    kept = [panel for panel, total in zip(panels, totals, strict=True) if total <= most_rows]
    kept = kept or panels[:1]
    more = len(panels) - len(kept)
    note = f"{more} more consumers are not shown: dlbench show RUN has all"
    return kept, [note] if more else []


def provenance(document: Document) -> list[str]:
    """The origin of the data, as text in the picture."""
    run = document.run
    pythons = {facts.python for facts in run.environments.values()} - {""}
    machines = sorted({entry.machine for entry in document.entries} - {""})
    dates = sorted({context.date[:10] for context in document.contexts.values()})
    parts = [f"dlbench {run.version}"]
    if machines:
        parts.append(f"{'machine' if len(machines) == 1 else 'machines'} {listing(machines, 12)}")
    parts += filter(None, [run.machine.cpu, *document.devices])
    parts += [f"CPython {', '.join(sorted(pythons))}"] if pythons else []
    parts.append(" to ".join(dict.fromkeys((dates[0], dates[-1]))))
    return [*parts, *([number] if (number := _sample_sizes(document)) else [])]


def _sample_sizes(document: Document) -> str:
    """ "n: 3 processes for each cell, 12..24 rounds in all"; empty if nothing was measured."""
    workers = [entry.workers for entry in measured(document) if entry.workers]
    rounds = [sum(len(worker.samples_ns) for worker in of) for of in workers]
    if not any(rounds):
        return ""
    processes = values.extent([len(of) for of in workers])
    noun = "process" if processes == "1" else "processes"
    return f"n: {processes} {noun} for each cell, {values.extent(rounds)} rounds in all"
