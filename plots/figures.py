"""Figures of a results document, one file a figure.

A figure is a pure function of the loaded document: the same document gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from matplotlib.figure import Figure

from dlbench import _core
from dlbench.document import Comparison, Document

from . import change, choosing, drawing, drift, ecdf, fallbacks, matrix, phases, scaling, sync

__all__ = ["AT_THE_END", "CHANGE", "FIGURES", "NEEDS", "draw", "draw_change", "has"]

FIGURES: dict[str, Callable[[Document], Figure]] = {
    "matrix": matrix.figure,
    "scaling": scaling.figure,
    "phases": phases.figure,
    "fallbacks": fallbacks.figure,
    "sync": sync.figure,
    "ecdf": ecdf.figure,
    "drift": drift.figure,
}
#: Drawn of a comparison of two runs, not of a document.
CHANGE = "change"
#: Figures of a run's end; others are drawn on request.
AT_THE_END = ("matrix", "scaling", "phases", "fallbacks", "sync")
#: Whether a document has something for a figure, and where one that has it comes from.
NEEDS: dict[str, tuple[Callable[[Document], bool], str]] = {
    "matrix": (choosing.has_exchanges, "a run of exchanges"),
    "scaling": (choosing.has_numbers, "a run that measured something"),
    "phases": (phases.has_phases, "a run with --phases all, of exchanges long enough for shares"),
    "fallbacks": (fallbacks.has_fallbacks, "a run with --cases all"),
    "sync": (sync.has_sync, "a run with --sync, on a device"),
    "ecdf": (choosing.has_numbers, "a run that measured something"),
    "drift": (choosing.has_numbers, "a run that measured something"),
}


def has(document: Document, name: str) -> bool:
    """Has the document something for the figure?"""
    return name not in NEEDS or NEEDS[name][0](document)


def draw(
    document: Document, folder: Path, name: str | None = None, among: Iterable[str] = FIGURES
) -> list[Path]:
    """Writes NAME.svg and NAME.png into the folder; where no name is given, all figures `among`
    these that the document has something for.

    Raises ValueError for an unknown figure, with the nearest name, and OSError.
    """
    if name is not None and name not in FIGURES:
        _core.require_known("figure", name, list(FIGURES))
    paths: list[Path] = []
    fit = (each for each in among if has(document, each))
    for each in fit if name is None else (name,):
        with drawing.style():
            paths += drawing.save(FIGURES[each](document), folder, each)
    return paths


def draw_change(comparison: Comparison, folder: Path) -> list[Path]:
    """Writes change.svg and change.png into the folder. Raises OSError."""
    with drawing.style():
        return drawing.save(change.figure(comparison), folder, CHANGE)
