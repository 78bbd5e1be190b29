"""Figures of a results document, one file for each figure.

A figure is a pure function of the loaded document, so the same document produces the same bytes.
For a merged document some figures show all machines; the others show one machine and its name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

from matplotlib.figure import Figure

from dlbench import _core, writing
from dlbench.analysis import case_sweep
from dlbench.document import Comparison, Document

from . import (
    calls,
    change,
    choosing,
    drawing,
    fallbacks,
    machines,
    matrix,
    phases,
    scaling,
    sync,
    versions,
)

__all__ = ["AT_THE_END", "CHANGE", "FIGURES", "NEEDS", "draw", "draw_change", "has"]

MACHINES = "machines"
FIGURES: dict[str, Callable[[Document], Figure]] = {
    "matrix": matrix.figure,
    "scaling": scaling.figure,
    "calls": calls.figure,
    "phases": phases.figure,
    "fallbacks": fallbacks.figure,
    "sync": sync.figure,
    "versions": versions.figure,
    MACHINES: machines.figure,
}
#: Figures that show all machines of a merged document.
OF_ALL_MACHINES = ("matrix", MACHINES)
#: The figure of a comparison of two runs, not of a document.
CHANGE = "change"
#: The figures that a run draws at its end; others are drawn on request.
AT_THE_END = ("matrix", "scaling", "calls", "phases", "fallbacks", "sync")
#: For each figure: a test whether a document has its data, and the kind of run that has them.
NEEDS: dict[str, tuple[Callable[[Document], bool], str]] = {
    "matrix": (choosing.has_exchanges, "a run of exchanges"),
    "scaling": (choosing.has_transfers, "a run with numbers of imports"),
    "calls": (calls.has_calls, "a run with --calls"),
    "phases": (phases.has_phases, "a run with --phases all, and exchanges of at least 250 ns"),
    "fallbacks": (case_sweep.has_case_sweep, "a run with --cases all"),
    "sync": (sync.has_sync, "a run with --sync, on a device"),
    "versions": (versions.has_versions, "a run of `track`"),
    MACHINES: (machines.has_machines, "a merged run, with an exchange measured on two machines"),
}


def has(document: Document, name: str) -> bool:
    """Does the document, or one of its machines, have the data of the figure?"""
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
    """Writes NAME.svg and NAME.png into the folder. Without a name, writes all figures of `among`
    for which the document has data. Figures of one machine of a merged document get a folder with
    its name. `relative_to`: the machine for the ratios of the figure `machines`.

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
            if place != folder:
                writing.make_folder(place)
            with drawing.style():
                paths += drawing.save(make[each](part), place, each)
    return paths


def draw_change(comparison: Comparison, folder: Path, machine: str = "") -> list[Path]:
    """Writes change.svg and change.png into the folder. `machine`: the head's processor.

    Raises OSError.
    """
    with drawing.style():
        return drawing.save(change.figure(comparison, machine), folder, CHANGE)
