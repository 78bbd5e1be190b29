"""Tells a waiting person how far a run is, on stderr.

Nothing here runs beside the measurement: no thread repaints, all is done in the observer's calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from rich.cells import cell_len
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from dlbench.text.escaping import log_line, printable
from dlbench.text.output import Console


def left(seconds: float) -> str:
    """ "12 s left", "3 min left"; empty where it is not known."""
    if not 0 < seconds < 1e6:
        return ""
    return f"{seconds:.0f} s left" if seconds < 120 else f"{seconds / 60:.0f} min left"


class Quiet:
    """The observer of a run that nobody watches, and the base of the others."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def on_progress(self, done: int, total: int, doing: str, eta_s: float) -> None:
        """Called by the core, often: cells recorded of all, and the pair at work."""

    def on_recorded(self, cell: str, outcome: str, median_ns: float) -> None:
        """Called by the core once a cell."""


class First(Quiet):
    """Hands on to another observer, and calls `first` once, at the first recorded cell."""

    def __init__(self, observer: Quiet, first: Callable[[], object]) -> None:
        self._observer, self._first = observer, first
        self._called = False

    def on_progress(self, done: int, total: int, doing: str, eta_s: float) -> None:
        self._observer.on_progress(done, total, doing, eta_s)

    def on_recorded(self, cell: str, outcome: str, median_ns: float) -> None:
        self.call()
        self._observer.on_recorded(cell, outcome, median_ns)

    def call(self) -> None:
        if not self._called:
            self._called = True
            self._first()


class Lines(Quiet):
    """A line every few seconds, for logs and pipes."""

    def __init__(
        self,
        stream: TextIO,
        every_s: float = 5.0,
        now: Callable[[], float] = time.monotonic,
        stage: str = "",
    ) -> None:
        self._stream, self._every, self._now, self._stage = stream, every_s, now, stage
        self._last = now()

    def on_progress(self, done: int, total: int, doing: str, eta_s: float) -> None:
        if self._now() - self._last < self._every:
            return
        self._last = self._now()
        parts = [self._stage, f"{done} of {total} cells", doing, left(eta_s)]
        self._stream.write(log_line(", ".join(part for part in parts if part)) + "\n")
        self._stream.flush()


class Bar(Quiet):
    """A progress bar, repainted a few times a second."""

    def __init__(
        self,
        console: Console,
        every_s: float = 0.2,
        now: Callable[[], float] = time.monotonic,
        stage: str = "",
    ) -> None:
        self._every, self._now, self._stage = every_s, now, stage
        self._last = float("-inf")
        self._progress = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[left]}", style="dim", markup=False),
            console=console,
            auto_refresh=False,
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None, left="")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def on_progress(self, done: int, total: int, doing: str, eta_s: float) -> None:
        if self._now() - self._last < self._every and done < total:
            return
        self._last = self._now()
        self._progress.update(
            self._task,
            completed=done,
            total=total,
            description=printable(", ".join(part for part in (self._stage, doing) if part)),
            left=left(eta_s),
        )
        self._progress.refresh()


class Waiting:
    """One line on a terminal, replaced by what is printed next: which library is awaited."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._width = stream, 0

    def show(self, done: int, total: int, name: str) -> None:
        if self._stream.isatty():
            line = printable(f"{done} of {total} known, importing {name}")[:79]
            self._stream.write(f"{line}\r")
            self._stream.flush()
            self._width = cell_len(line)

    def clear(self) -> None:
        if self._width:
            self._stream.write(" " * self._width + "\r")
            self._stream.flush()
            self._width = 0


def observer(stream: TextIO, quiet: bool, stage: str = "") -> Quiet:
    """The observer that fits this stream. `stage` names the part of the command that its cells
    belong to, where a command has several."""
    if quiet:
        return Quiet()
    console = Console(stream)
    return Bar(console, stage=stage) if console.is_terminal else Lines(stream, stage=stage)
