"""The page as a stream: the frame from the template, then the data in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from dlbench import _core, glossary
from dlbench.document import Comparison

from . import changes, parts
from .run import Packed


def write(out: BinaryIO, runs: Sequence[Packed], comparison: Comparison | None = None) -> None:
    """The page of these runs; with a comparison, also the changes between its sides.

    The runs are packed already, so their documents are not needed here.
    """
    change = changes.packed(comparison, [run.label for run in runs]) if comparison else None
    frame = parts.template().generate(
        version=_core.version,
        glossary=glossary.rows(),
        runs=runs,
        has_change=change is not None,
        style=parts.style(),
        scripts=parts.scripts(),
        blobs=_blobs(runs, change),
    )
    for text in frame:
        out.write(text.encode())


def _blobs(runs: Sequence[Packed], change: str | None) -> Iterator[tuple[str, str]]:
    for number, run in enumerate(runs):
        yield f"index-{number}", run.index
        for place, chunk in enumerate(run.chunks):
            yield f"cells-{number}-{place}", chunk
    if change is not None:
        yield "change-data", change
    yield "plotly", parts.plotly()
