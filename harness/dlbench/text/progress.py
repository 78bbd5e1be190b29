"""Shows the progress of a run on stderr.

It has no thread that would disturb the measurement: it repaints only in the observer's calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from dlbench.text.escaping import log_line, printable
from dlbench.text.layout import shorten
from dlbench.text.output import Console
from dlbench.text.time_left import TimeLeft

#: The unit of a run's progress: a cell in one process.
MEASUREMENTS = "measurements"
BAR = 24  #: columns
LINES_S = 10.0  #: at least between two lines where there is no terminal


class Quiet:
    """The observer of a quiet run, and the base of the others."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def on_progress(self, done: int, total: int, activity: str) -> None:
        """Called by the core, often: units done of all, and the pair at work."""

    def on_recorded(self, cell: str, outcome: str, median_ns: float) -> None:
        """Called by the core once a cell."""

    def on_covered(self) -> None:
        """Called by the core once, when each cell has a first result and more follow."""

    def shows_lines(self) -> int:
        """The width of lines printed during the run; 0 without a terminal."""
        return 0

    def print(self, lines: Sequence[Text]) -> None:
        """Prints lines, if shows_lines() is not 0."""


class First(Quiet):
    """Forwards to another observer. Calls `begin` when the run has begun, `record` at the first
    recorded cell, and `cover` when each cell has a first result, each once."""

    def __init__(
        self,
        observer: Quiet,
        begin: Callable[[], object],
        record: Callable[[], object],
        cover: Callable[[], object],
    ) -> None:
        self._observer, self._begin, self._record = observer, begin, record
        self._cover = cover
        self._begun = self._recorded = False

    def on_progress(self, done: int, total: int, activity: str) -> None:
        if not self._begun:
            self._begun = True
            self._begin()
        self._observer.on_progress(done, total, activity)

    def on_recorded(self, cell: str, outcome: str, median_ns: float) -> None:
        self.record()
        self._observer.on_recorded(cell, outcome, median_ns)

    def on_covered(self) -> None:
        self._cover()

    def record(self) -> None:
        if not self._recorded:
            self._recorded = True
            self._record()


class Lines(Quiet):
    """Prints a line every few seconds, for logs and pipes; a repeated line is left out."""

    def __init__(
        self,
        stream: TextIO,
        left: TimeLeft,
        every_s: float = LINES_S,
        now: Callable[[], float] = time.monotonic,
        stage: str = "",
        units: str = MEASUREMENTS,
    ) -> None:
        self._stream, self._left, self._every, self._now = stream, left, every_s, now
        self._stage, self._units = stage, units
        self._printed_at, self._printed = now(), ""

    def on_progress(self, done: int, total: int, activity: str) -> None:
        self._left.update(done)
        if self._now() - self._printed_at < self._every:
            return
        counted = f"{done} of {total} {self._units}"
        parts = [self._stage, counted, activity, self._left.show(done, total)]
        line = log_line(", ".join(part for part in parts if part))
        if line == self._printed:
            return
        self._printed_at, self._printed = self._now(), line
        self._stream.write(line + "\n")
        self._stream.flush()


class Bar(Quiet):
    """A progress bar, repainted a few times a second."""

    def __init__(
        self,
        console: Console,
        left: TimeLeft,
        every_s: float = 0.2,
        now: Callable[[], float] = time.monotonic,
        stage: str = "",
    ) -> None:
        self._left, self._every, self._now, self._stage = left, every_s, now, stage
        self._width = console.width
        self._painted_at = float("-inf")
        self._progress = Progress(
            BarColumn(bar_width=BAR),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}", style="dim", markup=False),
            TextColumn("{task.description}", markup=False),
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

    def on_progress(self, done: int, total: int, activity: str) -> None:
        self._left.update(done)
        if self._now() - self._painted_at < self._every and done < total:
            return
        self._painted_at = self._now()
        left = self._left.show(done, total)
        activity = printable(", ".join(part for part in (self._stage, activity) if part))
        # Rich would shorten the numbers to fit a long text.
        room = self._width - len(f"{'':{BAR}} {total}/{total} {left} ")
        self._progress.update(
            self._task,
            completed=done,
            total=total,
            description=shorten(activity, max(room, 0)),
            left=left,
        )
        self._progress.refresh()

    def shows_lines(self) -> int:
        return self._width

    def print(self, lines: Sequence[Text]) -> None:
        for line in lines:
            self._progress.console.print(line, soft_wrap=True)


class Waiting:
    """One line on a terminal that names the library being imported; the next output replaces it."""

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


def observer(
    stream: TextIO,
    quiet: bool,
    stage: str = "",
    units: str = MEASUREMENTS,
) -> Quiet:
    """The observer that fits this stream. `stage` names the part of the command that the units
    belong to, where a command has several."""
    if quiet:
        return Quiet()
    console, left = Console(stream), TimeLeft()
    if console.is_terminal and not console.is_dumb_terminal:
        return Bar(console, left, stage=stage)
    return Lines(stream, left, stage=stage, units=units)
