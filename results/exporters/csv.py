"""Comma-separated values (RFC 4180), one row for each cell; a missing value is empty."""

from __future__ import annotations

import csv
import io

from dlbench.document import Document
from dlbench.text.escaping import csv_cell

from .rows import COLUMNS, rows


def export(document: Document) -> str:
    """A table with a header; times in nanoseconds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows(document):
        writer.writerow(_text(value) for value in row)
    return out.getvalue()


def _text(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return csv_cell(value) if isinstance(value, str) else value
