"""Documents, entries and comparisons from plain JSON objects, as the reader makes them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dlbench.command import merge
from dlbench.document import (
    ComparedCell,
    Comparison,
    Document,
    Entry,
    Measured,
    NotMeasured,
    parse_document,
    read_document,
)

EMPTY = {"context": {"dlbench": {}}, "benchmarks": [], "not_measured": []}


def doc(json: Any) -> Document:
    return json if isinstance(json, Document) else parse_document({**EMPTY, **json})


def entry_of(json: Any) -> Entry:
    if isinstance(json, Entry):
        return json
    return Measured(json) if "real_time" in json else NotMeasured(json)


def entries_of(json: Iterable[Any]) -> list[Entry]:
    return [entry_of(entry) for entry in json]


def merged_of(parts: Iterable[tuple[str, Any]]) -> Document:
    """One document of these machines."""
    merged = merge.of_machines((name, name, doc(part)) for name, part in parts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        merged.write(path)
        return read_document(path)


def comparison_of(json: Mapping[str, Any] | Comparison) -> Comparison:
    return json if isinstance(json, Comparison) else Comparison(json)


def cell_of(json: Mapping[str, Any]) -> ComparedCell:
    return ComparedCell(json)
