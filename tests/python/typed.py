"""Documents, entries and comparisons of plain JSON objects, as the reader makes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dlbench.document import ComparedCell, Comparison, Document, Entry, parse_document, parse_entry

EMPTY = {"context": {"dlbench": {}}, "benchmarks": [], "not_measured": []}


def doc(json: Any) -> Document:
    return json if isinstance(json, Document) else parse_document({**EMPTY, **json})


def entry_of(json: Any) -> Entry:
    return json if isinstance(json, Entry) else parse_entry(json)


def entries_of(json: Iterable[Any]) -> list[Entry]:
    return [entry_of(entry) for entry in json]


def parts_of(parts: Iterable[tuple[str, Any]]) -> list[tuple[str, Document]]:
    return [(name, doc(part)) for name, part in parts]


def comparison_of(json: Mapping[str, Any] | Comparison) -> Comparison:
    return json if isinstance(json, Comparison) else Comparison(json)


def cell_of(json: Mapping[str, Any]) -> ComparedCell:
    return ComparedCell(json)
