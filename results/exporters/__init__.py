"""A results document in the formats of other tools, one file a format.

An exporter is a pure function of the loaded document; its text ends with a line feed.
"""

from __future__ import annotations

from collections.abc import Callable

from dlbench import _core
from dlbench.document import Comparison, Document

from . import bmf, changes, csv, github_action, markdown, pyperf, support

__all__ = ["FORMATS", "export", "summary"]

FORMATS: dict[str, Callable[[Document], str]] = {
    "bmf": bmf.export,
    "github-action": github_action.export,
    "pyperf": pyperf.export,
    "csv": csv.export,
    "markdown": markdown.export,
    "support": support.export,
}
#: These have no word for a cell without a number, and their readers no use for an empty file.
NUMBERS_ONLY = ("bmf", "github-action", "pyperf")


def export(document: Document, name: str) -> str:
    """The document in the format of that name.

    Raises ValueError for an unknown format, with the nearest name, and where the format holds
    numbers only and the document has none.
    """
    _core.require_known("format", name, list(FORMATS))
    if name in NUMBERS_ONLY and not document.measured:
        raise ValueError(f"nothing was measured: {name} has no place for cells without a number")
    return FORMATS[name](document)


def summary(document: Document, comparison: Comparison) -> str:
    """The step summary of a run, with what changed since the one that it was compared with."""
    return markdown.export(document, above=changes.section(comparison))
