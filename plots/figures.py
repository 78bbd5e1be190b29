"""Figures of a results document, one file a figure.

A figure is a pure function of the loaded document: the same document gives the same bytes. Of a
merged document some figures show all machines; the others show one, which they name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

from matplotlib.figure import Figure

from dlbench import _core
from dlbench.document import Comparison, Document

from . import (
    change,
    choosing,
    drawing,
    drift,
    ecdf,
    fallbacks,
    machines,
    matrix,
    phases,
    scaling,
    sync,
)

__all__ = ["AT_THE_END", "CHANGE", "FIGURES", "NEEDS", "draw", "draw_change", "has"]

MACHINES = "machines"
FIGURES: dict[str, Callable[[Document], Figure]] = {
    "matrix": matrix.figure,
    "scaling": scaling.figure,
    "phases": phases.figure,
    "fallbacks": fallbacks.figure,
    "sync": sync.figure,
    "ecdf": ecdf.figure,
    "drift": drift.figure,
    MACHINES: machines.figure,
}
#: Show all machines of a merged document.
OF_ALL_MACHINES = ("matrix", MACHINES)
#: The figure of a comparison of two runs, not of a document.
CHANGE = "change"
#: The figures that a run draws at its end; others are drawn on request.
AT_THE_END = ("matrix", "scaling", "phases", "fallbacks", "sync")
#: For each figure: whether a document has its data, and the kind of run that has them.
NEEDS: dict[str, tuple[Callable[[Document], bool], str]] = {
    "matrix": (choosing.has_exchanges, "a run of exchanges"),
    "scaling": (choosing.has_numbers, "a run that measured something"),
    "phases": (phases.has_phases, "a run with --phases all, of exchanges long enough for shares"),
    "fallbacks": (fallbacks.has_fallbacks, "a run with --cases all"),
    "sync": (sync.has_sync, "a run with --sync, on a device"),
    "ecdf": (choosing.has_numbers, "a run that measured something"),
    "drift": (choosing.has_numbers, "a run that measured something"),
    MACHINES: (machines.has_machines, "a merged run, of machines that measured the same exchange"),
}


def has(document: Document, name: str) -> bool:
    """Has the document, or one of its machines, the data of the figure?"""
    if name not in NEEDS:
        return True
    parts = [document] if name == MACHINES else [part for _, part in document.shares()]
    return any(NEEDS[name][0](part) for part in parts)


def draw(
    document: Document,
    folder: Path,
    name: str | None = None,
    among: Iterable[str] = FIGURES,
    relative_to: str = "",
) -> list[Path]:
    """Writes NAME.svg and NAME.png into the folder; without a name, all figures `among` these whose
    data the document has. Figures of one machine of a merged document get a folder of its name.
    `relative_to`: of the figure `machines`.

    Raises ValueError for an unknown figure, with the nearest name, and OSError.
    """
    if name is not None:
        _core.require_known("figure", name, list(FIGURES))
    wanted = list(among) if name is None else [name]
    make = dict(FIGURES)
    make[MACHINES] = functools.partial(machines.figure, relative_to=relative_to)
    parts = document.shares() if document.machines else []
    todo = [(each, document, folder) for each in wanted if each in OF_ALL_MACHINES or not parts]
    todo += [(each, part, folder / machine) for machine, part in parts for each in wanted]
    paths: list[Path] = []
    for each, part, place in todo:
        if has(part, each) or (name and not parts):
            place.mkdir(exist_ok=True)
            with drawing.style():
                paths += drawing.save(make[each](part), place, each)
    return paths


def draw_change(comparison: Comparison, folder: Path, machine: str = "") -> list[Path]:
    """Writes change.svg and change.png into the folder. `machine`: the head's processor.

    Raises OSError.
    """
    with drawing.style():
        return drawing.save(change.figure(comparison, machine), folder, CHANGE)
