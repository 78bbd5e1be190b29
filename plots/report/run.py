"""One run in the page's format: an index of all cells, and their details in chunks."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlbench import values
from dlbench.analysis import calls
from dlbench.document import Axis, Document, Entry, Measured
from dlbench.document.facts import DULL, LEAST_FOR_SHARES_NS, PHASES, is_below
from dlbench.findings import writable

from .. import library_styles
from ..ink import BLACK, BLACK_ABOVE, PAPER
from . import facts, reproduction, tables
from .packing import all_packed, packed

#: The axes that choose a matrix, and its two dimensions.
CHOICE = ("phase", "protocol", "device", "case", "bytes", "arrays", "clock", "environment",
          "machine")  # fmt: skip
PAIR = ("producer", "consumer")
AXES = (*CHOICE, *PAIR)
CHUNK = 500  #: cells; a chunk is unpacked when one of its cells is opened
#: Keys that are not repeated in the chunks: they are in the index, or equal for all cells.
INDEXED = frozenset((*AXES, "run_name", "run_type", "repetitions", "repetition_index",
                     "threads", "time_unit", "real_time", "lo_ns", "hi_ns", "interval", "outcome",
                     "reason"))  # fmt: skip
MARKS = {"~": 1, "*": 2, "?": 4, "^": 8, "!": 16}
DIGITS = 3  #: decimals of samples, in ns


@dataclass(frozen=True)
class Packed:
    """A packed run, which no longer needs its document."""

    label: str
    libraries: str  #: with their versions
    facts: list[facts.Facts]
    index: str
    chunks: list[str]


def pack(
    document: Document, label: str, name: str, boundary: Mapping[str, object] | None = None
) -> Packed:
    """`label` is the run's name on the page, `name` its name in commands; `boundary` the table of
    `check --calls --run`."""
    refusals = tables.refusals(document.not_measured, len(document.measured))
    scripts = reproduction.scripts(document, [row.first for row in refusals])
    index = _index(document) | _tables(document, name, refusals)
    index["refusals"] = [dataclasses.asdict(row) for row in refusals]
    index |= {"boundary": boundary, "label": label, "name": shlex.quote(name)}
    chunks = list(all_packed(_chunks(document.entries, scripts)))
    return Packed(label, facts.libraries(document), facts.of(document), packed(index), chunks)


def _index(document: Document) -> dict[str, object]:
    entries, measured = document.entries, document.measured
    machines = document.contexts.items()
    return {
        "cells": len(entries),
        "chunk": CHUNK,
        "dull": DULL,
        "least_for_shares_ns": LEAST_FOR_SHARES_NS,
        "styles": _styles(entries),
        "ink": {"dark": BLACK, "light": PAPER, "dark_above": BLACK_ABOVE},
        "choice": CHOICE,
        "axes": {
            **{axis: _coded(entry.axis(axis) for entry in entries) for axis in AXES},
            "outcome": _coded(entry.observed_outcome for entry in entries),
            "interval": _coded(
                values.interval([entry]) if isinstance(entry, Measured) else "" for entry in entries
            ),
        },
        "median_ns": [entry.median_ns for entry in measured],
        "below_ns": {i: entry.below_ns for i, entry in enumerate(entries) if is_below(entry)},
        "lo_ns": [entry.lo_ns for entry in measured],
        "hi_ns": [entry.hi_ns for entry in measured],
        "marks": [_marks(entry) for entry in measured],
        "parts": {i: _parts(entry) for i, entry in enumerate(measured) if entry.has("phases")},
        "sync": {
            i: [one.to_json() for one in entry.sync]
            for i, entry in enumerate(entries)
            if entry.has("sync") and entry.sync
        },
        "reasons": _coded(entry.reason for entry in document.not_measured),
        "environments": {
            # Omit the interpreter's path, because the page may be shared.
            name: {
                place: found.to_json(without=("executable",))
                for place, found in own.run.environments.items()
            }
            for name, own in machines
        },
    }


def _marks(entry: Measured) -> int:
    return sum(MARKS[sign] for sign in "".join(values.marks(entry)))


def _styles(entries: Iterable[Entry]) -> dict[str, tuple[str, str, str]]:
    """By library: the color on a light and on a dark background, and the marker."""
    found = library_styles.of_all(name for entry in entries for name in entry.pair)
    return {name: (one.color, one.on_dark, one.marker) for name, one in found.items()}


def _tables(document: Document, name: str, refusals: Sequence[tables.Refusal]) -> dict[str, object]:
    found, lines = tables.found(document, name, refusals)
    missing = document.not_measured
    return {
        "summary": tables.summary(document, name),
        "findings": found,
        "copies": tables.copies(document),
        "protection": writable.rows(document),
        "calls": [
            {"title": calls.title(key), "rows": calls.rows(found)}
            for key, found in calls.of_document(document)
        ],
        "fallbacks": tables.fallbacks(document),
        "warnings": tables.warnings(document.entries),
        "folded": tables.folded(missing, lines),
    }


def _coded(found: Iterable[Axis]) -> dict[str, object]:
    """The levels, and the index of each value's level; no indices for a single level."""
    given = list(found)
    places = {value: place for place, value in enumerate(dict.fromkeys(given))}
    codes = [places[value] for value in given] if len(places) > 1 else None
    return {"levels": list(places), "codes": codes}


def _parts(entry: Measured) -> list[float]:
    """The times of the four phases, the unexplained time, and the whole exchange, in ns."""
    times = dict.fromkeys(PHASES, 0.0)
    for part in entry.phases.parts:
        times[part.phase] += part.ns
    return [*times.values(), entry.unexplained, entry.phases.exchange_ns]


def _chunks(
    entries: Sequence[Entry], scripts: Mapping[int, str]
) -> Iterator[list[dict[str, object]]]:
    for begin in range(0, len(entries), CHUNK):
        chunk = [_rest(entry) for entry in entries[begin : begin + CHUNK]]
        for cell in range(begin, begin + len(chunk)):
            if cell in scripts:
                chunk[cell - begin]["script"] = scripts[cell]
        yield chunk


def _rest(entry: Entry) -> dict[str, object]:
    rest = entry.to_json(without=INDEXED)
    if entry.warnings:
        texts = map(values.warning_text, entry.warnings)
        rest["warnings"] = [
            {**each.to_json(), "text": text}
            for each, text in zip(entry.warnings, texts, strict=True)
        ]
    if isinstance(entry, Measured):
        rest["workers"] = [
            {**worker.to_json(), "samples_ns": [round(ns, DIGITS) for ns in worker.samples_ns]}
            for worker in entry.workers
        ]
    return rest
