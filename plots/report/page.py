"""The page as a stream: the frame from the template, then the data in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from dlbench import _core
from dlbench.document import Comparison
from dlbench.text import glossary

from . import changes, parts
from .run import Packed


def write(out: BinaryIO, runs: Sequence[Packed], comparison: Comparison | None = None) -> None:
    """The page of these runs; with a comparison, also the changes between its sides.

    The runs are packed already, so their documents are not needed here.
    """
    change = changes.packed(comparison, [run.label for run in runs]) if comparison else None
    frame = parts.template().generate(
        version=_core.version,
        measured=measured(runs),
        glossary=glossary.rows(),
        runs=runs,
        has_change=change is not None,
        style=parts.style(),
        scripts=parts.scripts(),
        blobs=_blobs(runs, change),
    )
    for text in frame:
        out.write(text.encode())


def measured(runs: Sequence[Packed]) -> str:
    """What the page is about: the libraries of a run, or the runs that it compares."""
    if len(runs) > 1:
        return " against ".join(run.label for run in (runs[0], runs[-1]))
    return runs[0].libraries or runs[0].label


def _blobs(runs: Sequence[Packed], change: str | None) -> Iterator[tuple[str, str]]:
    for number, run in enumerate(runs):
        yield f"index-{number}", run.index
        for place, chunk in enumerate(run.chunks):
            yield f"cells-{number}-{place}", chunk
    if change is not None:
        yield "change-data", change
