"""Writes a results document in the formats of other tools, one file for each format.

An exporter is a pure function of the loaded document. Its text ends with a line feed.
"""

from __future__ import annotations

from collections.abc import Callable

from dlbench import _core
from dlbench.document import Comparison, Document, run_record

from . import (
    arrow,
    asv,
    bmf,
    changes,
    csv,
    google_benchmark,
    markdown,
    openmetrics,
    pyperf,
    support,
)

__all__ = ["ASV", "BINARY", "FORMATS", "NAMES", "asv_files", "export", "export_bytes", "summary"]

FORMATS: dict[str, Callable[[Document], str]] = {
    "bmf": bmf.export,
    "google-benchmark": google_benchmark.export,
    "pyperf": pyperf.export,
    "openmetrics": openmetrics.export,
    "csv": csv.export,
    "markdown": markdown.export,
    "support": support.export,
    "record": run_record.text,
}
#: Binary formats.
BINARY: dict[str, Callable[[Document], bytes]] = {
    "parquet": arrow.export_parquet,
    "arrow": arrow.export_arrow,
}
ASV = "asv"  #: a format of several files
NAMES = [*FORMATS, *BINARY, ASV]
#: Formats that hold numbers only, so a document without numbers is refused.
NUMBERS_ONLY = ("bmf", "google-benchmark", "pyperf", ASV)


def export(document: Document, name: str) -> str:
    """The document in the text format of that name.

    Raises ValueError for an unknown format (with the nearest name), and for a document without
    numbers if the format has only numbers.
    """
    _core.require_known("format", name, list(FORMATS))
    _require_numbers(document, name)
    return FORMATS[name](document)


def export_bytes(document: Document, name: str) -> bytes:
    """The document in any format; text as UTF-8. Raises BadInput if a library is missing."""
    _core.require_known("format", name, [*FORMATS, *BINARY])
    if name in BINARY:
        return BINARY[name](document)
    return export(document, name).encode()


def asv_files(document: Document, commit: str, commit_date_s: int | None = None) -> dict[str, str]:
    """The files of asv's folder of results; see asv.files()."""
    _require_numbers(document, ASV)
    return asv.files(document, commit, commit_date_s)


def _require_numbers(document: Document, name: str) -> None:
    if name in NUMBERS_ONLY and not document.measured:
        raise ValueError(f"no cell has a number, and {name} cannot contain cells without a number")


def summary(document: Document, comparison: Comparison) -> str:
    """The step summary of a run: the changes since another run, then the run."""
    return markdown.export(document, first=changes.section(comparison))
