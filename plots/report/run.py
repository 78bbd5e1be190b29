"""One run as the page holds it: an index of all cells, and the rest of each in chunks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlbench import grid, ladder, values
from dlbench.errors import first_line
from dlbench.findings import FAILURES, pairs_text
from dlbench.phases import whole_of

from . import facts
from .packing import all_packed, packed

Entry = Mapping[str, Any]

#: What chooses a matrix, and the two that span it.
CHOICE = ("phase", "protocol", "device", "case", "bytes", "clock", "environment", "machine")
PAIR = ("producer", "consumer")
AXES = (*CHOICE, *PAIR)
CHUNK = 500  #: cells; one is unpacked when one of its cells is looked at
#: Not repeated in the chunks: the index has it, or it is the same for every cell.
INDEXED = frozenset((*AXES, "run_name", "run_type", "repetitions", "repetition_index",
                     "threads", "time_unit", "real_time", "lo_ns", "hi_ns", "interval", "outcome",
                     "reason"))  # fmt: skip
PARTS = ("query", "export", "import", "release")
MARKS = {"~": 1, "*": 2, "?": 4}
#: What tells arrays apart in a library's message: an address, sizes, the values themselves.
_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|\d[\d.]*)(?:[ ,.]+\d[\d.]*)*")
DIGITS = 3  #: of samples, behind the nanosecond's point


@dataclass(frozen=True)
class Packed:
    """A run, packed; the document itself is no longer needed."""

    label: str
    facts: list[facts.Facts]
    index: str
    chunks: list[str]


def pack(document: Mapping[str, Any], label: str, name: str) -> Packed:
    """`label` is what the page calls the run, `name` what commands call it."""
    entries: list[Entry] = [*document["benchmarks"], *document["not_measured"]]
    index = _index(document, entries) | {"label": label, "name": shlex.quote(name)}
    return Packed(label, facts.of(document), packed(index), list(all_packed(_chunks(entries))))


def _index(document: Mapping[str, Any], entries: Sequence[Entry]) -> dict[str, Any]:
    measured = document["benchmarks"]
    machines = facts.contexts(document).items()
    return {
        "cells": len(entries),
        "chunk": CHUNK,
        "dull": grid.DULL,
        "choice": CHOICE,
        "axes": {
            **{axis: _coded([entry.get(axis, "") for entry in entries]) for axis in AXES},
            "outcome": _coded(map(ladder.outcome, entries)),
            "interval": _coded(
                values.interval([entry]) if values.is_measured(entry) else "" for entry in entries
            ),
        },
        "time": [entry["real_time"] for entry in measured],
        "below": {
            i: entry["below_ns"] for i, entry in enumerate(entries) if values.is_below(entry)
        },
        "lo": [entry["lo_ns"] for entry in measured],
        "hi": [entry["hi_ns"] for entry in measured],
        "marks": [sum(MARKS.get(mark, 0) for mark in values.marks(entry)) for entry in measured],
        "parts": {i: _parts(entry) for i, entry in enumerate(measured) if "phases" in entry},
        "sync": {i: entry["sync"] for i, entry in enumerate(entries) if entry.get("sync")},
        "reasons": _coded(entry["reason"] for entry in document["not_measured"]),
        "refusals": _refusals(document["not_measured"], len(measured)),
        "environments": {name: own["dlbench"]["environments"] for name, own in machines},
    }


def _coded(found: Iterable[Any]) -> dict[str, Any]:
    """Levels, and each value's place among them; no places where there is one level only."""
    given = list(found)
    places = {value: place for place, value in enumerate(dict.fromkeys(given))}
    codes = [places[value] for value in given] if len(places) > 1 else None
    return {"levels": list(places), "codes": codes}


def _parts(entry: Entry) -> list[float]:
    """ns of the four phases, of what they leave unexplained, and of the whole."""
    times = dict.fromkeys(PARTS, 0.0)
    for part in entry["phases"]["parts"]:
        times[part["phase"]] += part["ns"]
    return [*times.values(), entry.get("unexplained_ns", 0.0), whole_of(entry)]


def _refusals(missing: Sequence[Entry], first: int) -> list[dict[str, Any]]:
    """Cells without a number that share a reason: who, how many, and the first of them. A reason
    that names the array's address, size or values is one reason."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, entry in enumerate(missing):
        # A phase shares its exchange's reason; what was left untimed is no failure, nor is what
        # takes too little time.
        no_failure = ladder.is_untimed(entry) or values.is_below(entry)
        if entry["phase"] == "exchange" and not no_failure:
            axes = (str(entry[axis]) for axis in ("outcome", "protocol", "device"))
            key = (*axes, _NUMBERS.sub("#", first_line(values.reason(entry))))
            groups.setdefault(key, []).append(place)
    order = [*FAILURES, *grid.DULL]
    ranked = sorted(groups, key=lambda k: (order.index(k[0]) if k[0] in order else 0, k))
    found = []
    for key in ranked:
        pairs = {(missing[i]["producer"], missing[i]["consumer"]) for i in groups[key]}
        outcome, protocol, device, _ = key
        reason = first_line(values.reason(missing[groups[key][0]]))
        row = {"outcome": outcome, "protocol": protocol, "device": device, "reason": reason}
        names = " ".join(sorted({name for pair in pairs for name in pair}))
        told = pairs_text(pairs).replace("->", "\u2192")
        cells = {"cells": len(groups[key]), "first": first + groups[key][0]}
        found.append({**row, "pairs": told, "names": names, **cells})
    return found


def _chunks(entries: Sequence[Entry]) -> Iterator[list[dict[str, Any]]]:
    for begin in range(0, len(entries), CHUNK):
        yield [_rest(entry) for entry in entries[begin : begin + CHUNK]]


def _rest(entry: Entry) -> dict[str, Any]:
    rest = {key: value for key, value in entry.items() if key not in INDEXED}
    if "workers" in rest:
        rest["workers"] = [_shorter(worker) for worker in rest["workers"]]
    return rest


def _shorter(worker: Mapping[str, Any]) -> dict[str, Any]:
    return {**worker, "samples_ns": [round(ns, DIGITS) for ns in worker["samples_ns"]]}
