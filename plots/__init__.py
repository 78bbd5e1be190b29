"""Figures of a results document, one file a figure.

A figure is a pure function of the loaded document: the same document gives the same bytes.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from . import drawing, fallbacks, matrix, phases, scaling
from .choosing import Document

__all__ = ["FIGURES", "draw"]

FIGURES: dict[str, Callable[[Document], Figure]] = {
    "matrix": matrix.figure,
    "scaling": scaling.figure,
    "phases": phases.figure,
    "fallbacks": fallbacks.figure,
}
#: Figures that not every document has something for; asked for by name they say so.
WHERE: dict[str, Callable[[Document], bool]] = {
    "phases": phases.has_phases,
    "fallbacks": fallbacks.has_fallbacks,
}


def draw(document: Document, folder: Path, name: str | None = None) -> list[Path]:
    """Writes NAME.svg and NAME.png into the folder; where no name is given, all figures that the
    document has something for.

    Raises ValueError for an unknown figure, with the nearest name, and OSError.
    """
    if name is not None and name not in FIGURES:
        near = difflib.get_close_matches(name, FIGURES, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"unknown figure {name!r}{hint}; allowed: {', '.join(FIGURES)}")
    paths: list[Path] = []
    fit = (each for each in FIGURES if each not in WHERE or WHERE[each](document))
    for each in fit if name is None else (name,):
        with drawing.style():
            paths += drawing.save(FIGURES[each](document), folder, each)
    return paths
