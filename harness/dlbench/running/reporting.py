"""Writes the HTML report of a run, or of several."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path

from dlbench import _core, plots, writing
from dlbench.document import (
    DOCUMENT,
    JOURNAL,
    RESULTS,
    Comparison,
    Document,
    locate,
    read_boundary,
    read_document,
)
from dlbench.errors import BadInput, first_line
from dlbench.plots import report as page
from dlbench.running import comparing
from dlbench.text.output import print_error

OF_ONE, OF_SEVERAL = "report.html", "change.html"


def report(runs: Sequence[str], output: Path | None) -> Path:
    """The report's path: `output`, or the default name in the last run's folder. Raises
    BadInput."""
    if lacking := plots.lacks("the report", "jinja2"):
        raise BadInput(lacking)
    places = [locate(run) for run in runs]
    path = output or places[-1].parent / (OF_ONE if len(runs) == 1 else OF_SEVERAL)
    # One document at a time is in memory.
    with _without_collector():
        packed = [
            page.pack(read_document(place), label, lasting_name(place), read_boundary(place))
            for place, label in zip(places, labels(places), strict=True)
        ]
    comparison = _comparison(places)
    writing.write_or_refuse(
        path, lambda out: page.write(out, packed, comparison), is_requested=output is not None
    )
    return path


def _comparison(places: Sequence[Path]) -> Comparison | None:
    """The comparison of the first run with the last; of one run, the stored one of its two
    sides."""
    if len(places) == 1:
        return comparing.kept(places[0].parent)
    try:
        return comparing.compare(places[0], places[-1])
    except (_core.UsageError, BadInput) as error:
        # Without it the report still shows both runs.
        print_error(f"dlbench: the report is written without changes: {first_line(error)}")
        return None


def at_the_end(document: Document, folder: Path) -> tuple[str, ...]:
    """Writes the report of a run that has just ended. Returns its file's name; none without the
    extra.

    Raises OSError.
    """
    if plots.lacks("the report", "jinja2"):
        return ()
    place = folder / DOCUMENT
    packed = page.pack(document, labels([place])[0], lasting_name(place))
    writing.write(folder / OF_ONE, lambda out: page.write(out, [packed]))
    return (OF_ONE,)


def lasting_name(place: Path) -> str:
    """The run's name in the page's commands. It is not `latest`, which changes with the next run,
    and not absolute, because other people read the page: it begins at the results' folder, is
    relative as typed, or is the name of the run's folder."""
    folder = place.absolute().parent
    folder = folder.parent / folder.readlink() if folder.is_symlink() else folder
    if folder.parent.name == RESULTS.name:
        name = RESULTS / folder.name
    elif place.is_absolute() or ".." in place.parts or place.parent.is_symlink():
        name = Path(folder.name)
    else:
        name = place.parent
    return str(name if place.name in (DOCUMENT, JOURNAL) else name / place.name)


def labels(places: Sequence[Path]) -> list[str]:
    """The page's names for these runs: the names of their folders, with numbers if several are
    equal."""
    names = [place.resolve().parent.name or str(place) for place in places]
    files = [place.name for place in places]
    if len(set(names)) == len(names):
        return names
    both = [f"{name}/{file}" for name, file in zip(names, files, strict=True)]
    if len(set(both)) == len(both):
        return both
    return [f"{number}: {name}" for number, name in enumerate(both, 1)]


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Pauses garbage collection: a document has no cycles, and millions of objects to scan."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
