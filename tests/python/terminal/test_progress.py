"""Progress: a bar on a terminal, lines elsewhere, nothing on a closed stream."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

import whole
from dlbench.text import progress
from dlbench.text.time_left import TimeLeft, rounded


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def lines_to(stream: io.StringIO, clock: Clock, stage: str = "") -> progress.Lines:
    return progress.Lines(stream, TimeLeft(now=clock), now=clock, stage=stage)


def test_lines_come_every_ten_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    with lines_to(stream, clock) as lines:
        for second in range(25):
            clock.now = float(second)
            lines.on_progress(second, 100, "numpy torch")
    assert stream.getvalue() == (
        "10 of 100 measurements, numpy torch, 90 s left\n"
        "20 of 100 measurements, numpy torch, 80 s left\n"
    )


def test_no_line_comes_twice() -> None:
    stream, clock = io.StringIO(), Clock()
    with lines_to(stream, clock) as lines:
        for second in range(100):
            clock.now = float(second)
            lines.on_progress(0, 100, "importing numpy")
    assert stream.getvalue() == "0 of 100 measurements, importing numpy\n"


def test_the_bar_shows_the_pair_and_the_time_left_and_goes_away() -> None:
    stream, clock = io.StringIO(), Clock()
    console = Console(file=stream, force_terminal=True, width=100, color_system=None)
    with progress.Bar(console, TimeLeft(now=clock), now=clock) as bar:
        bar.on_progress(0, 130, "starting")
        clock.now = 100.0
        bar.on_progress(30, 130, "numpy torch")
        bar.on_progress(31, 130, "jax torch")
    text = stream.getvalue()
    assert "30/130" in text
    assert "numpy torch" in text
    assert "6 min left" in text
    assert "jax torch" not in text.partition("6 min left")[0]


def test_the_bar_keeps_its_line_on_a_narrow_terminal() -> None:
    stream, clock = io.StringIO(), Clock()
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    with progress.Bar(console, TimeLeft(now=clock), now=clock) as bar:
        bar.on_progress(0, 1300, "starting")
        clock.now = 100.0
        bar.on_progress(300, 1300, "importing " + "; ".join(["numpy and torch"] * 9))
    painted = re.split(r"[\r\n]|\x1b\[[0-9?]*[A-Za-z]", stream.getvalue())
    assert any("300/1300" in part and "6 min left" in part for part in painted)
    assert all(len(part) <= 80 for part in painted)
    assert "\n" not in stream.getvalue().split("300/1300")[1].rstrip("\n")


def test_the_stream_decides() -> None:
    assert type(progress.observer(io.StringIO(), quiet=False)) is progress.Lines
    assert type(progress.observer(io.StringIO(), quiet=True)) is progress.Quiet


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("term", "kind"), [("xterm", progress.Bar), ("dumb", progress.Lines)])
def test_a_terminal_that_cannot_repaint_gets_lines(
    term: str, kind: type[progress.Quiet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    assert type(progress.observer(Terminal(), quiet=False)) is kind


def test_the_library_that_is_imported_is_named_until_the_next_line() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        waiting = progress.Waiting(stream)
        waiting.show(3, 20, "torch")
        waiting.clear()
        waiting.clear()
    shown = "3 of 20 known, importing torch"
    assert terminal.getvalue() == f"{shown}\r{' ' * len(shown)}\r"
    assert pipe.getvalue() == ""


def test_a_stage_stands_before_its_cells() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = lines_to(stream, clock, stage="further 5 workers a side")
    clock.now = 10.0
    lines.on_progress(2, 8, "numpy")
    assert stream.getvalue() == "further 5 workers a side, 2 of 8 measurements, numpy\n"


# The time left, over runs as they happen: (time, units done) at twenty reports a second.

Steps = list[tuple[float, int]]


def steps(*parts: tuple[float, int]) -> Steps:
    """Parts of a run, each so many seconds long, in which so many units are done evenly."""
    found: Steps = [(0.0, 0)]
    now, done = 0.0, 0
    for seconds, units in parts:
        count = max(1, round(20 * seconds))
        for step in range(1, count + 1):
            found.append((now + seconds * step / count, done + units * step // count))
        now, done = now + seconds, done + units
    return found


RUNS = {
    "even": steps((120, 600)),
    "imports first": steps((25, 0), (60, 900)),
    "bursts": steps(*[(3, 0), (0.4, 40)] * 12),
    "bursts that double": steps(*[part for n in range(8) for part in ((2**n, 0), (0.3, 2**n))]),
    "a deadline": steps((10, 300), (30, 0), (10, 300)),
    "crashes": steps(*[(2, 20), (5, 1)] * 10),
    "slower and slower": steps(*[(2**n, 10) for n in range(9)]),
    "faster and faster": steps(*[(2 ** (8 - n), 10) for n in range(9)]),
    "half an hour": steps((60, 0), (700, 2000), (100, 0), (900, 2000)),
}
SHOWN = re.compile(r"(over )?(\d+) (s|min) left")


def shown(run: Steps, every_s: float) -> Iterator[tuple[float, float, bool]]:
    """When, how many seconds, and whether with "over"."""
    clock = Clock()
    left, painted = TimeLeft(clock), 0.0
    total = run[-1][1]
    for now, done in run:
        clock.now = now
        left.update(done)
        if now - painted < every_s:
            continue
        painted = now
        if text := left.show(done, total):
            found = SHOWN.fullmatch(text)
            assert found, text
            yield now, float(found[2]) * (60 if found[3] == "min" else 1), bool(found[1])


@pytest.mark.parametrize("every_s", [0.2, 10.0])
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_the_time_left_never_grows_by_more_than_a_fifth(run: Steps, every_s: float) -> None:
    before = float("inf")
    for _, seconds, _ in shown(run, every_s):
        assert seconds <= 1.2 * before
        before = seconds


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_bar_does_not_climb_faster_than_lines(run: Steps) -> None:
    found = list(shown(run, 0.2))
    for now, seconds, _ in found:
        in_ten = [later for then, later, _ in found if now < then <= now + 10]
        assert max(in_ten, default=0) <= 1.2**2 * seconds


def test_the_time_left_is_about_right_where_units_take_the_same_time() -> None:
    found = list(shown(RUNS["even"], 0.2))
    assert found[0][0] < 5
    for now, seconds, is_over in found:
        assert seconds == pytest.approx(120 - now, rel=0.1, abs=3)
        assert not is_over


def test_what_is_shown_is_a_bound_where_the_rest_takes_longer() -> None:
    run = RUNS["slower and slower"]
    end = run[-1][0]
    found = [(now, seconds, over) for now, seconds, over in shown(run, 0.2) if now > 20]
    assert any(over for _, _, over in found)
    assert all(seconds <= end - now for now, seconds, over in found if over and now < end - 9)


def test_nothing_is_shown_until_enough_is_known() -> None:
    assert not [now for now, _, _ in shown(RUNS["imports first"], 0.2) if now < 25]


def test_units_of_an_earlier_session_take_no_time() -> None:
    clock = Clock()
    left = TimeLeft(now=clock)
    left.update(900)
    clock.now = 10.0
    assert left.show(910, 1000) == "90 s left"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, 1), (12.3, 12), (63.0, 65), (298.0, 300), (400.0, 420)]
)
def test_seconds_are_rounded_to_what_is_read(seconds: float, text: float) -> None:
    assert rounded(seconds) == text


@pytest.mark.process
def test_a_terminal_shows_the_matrix_of_the_first_process(tmp_path: Path) -> None:
    """Once, before the end; the document has both processes."""
    words = ["native", "native", "--protocols", "dlpack", "--sizes", "4KiB", "--replicas", "2"]
    command = whole.command(*words, "--out", "run", "--no-plots")
    parent, child = pty.openpty()
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=child) as run:
        os.close(child)
        observed = b""
        with contextlib.suppress(OSError):  # the other end was closed
            while block := os.read(parent, 4096):
                observed += block
        os.close(parent)
    assert run.returncode == 0, observed
    assert observed.count(b"first numbers, each from one of 2 processes") == 1
    assert b"from \\ to" in observed
    entries = whole.document(tmp_path)["benchmarks"]
    assert {len(entry["workers"]) for entry in entries} == {2}


@pytest.mark.process
def test_a_pipe_shows_the_end_only(tmp_path: Path) -> None:
    words = ["native", "native", "--protocols", "dlpack", "--sizes", "4KiB", "--replicas", "2"]
    status, _, err = whole.run(tmp_path, *words, "--out", "run", "--no-plots")
    assert status == 0, err
    assert "first numbers" not in err
