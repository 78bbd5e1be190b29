"""Progress: a bar on a terminal, lines elsewhere, nothing where nobody listens."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from dlbench.text import progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_lines_come_every_few_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    with progress.Lines(stream, every_s=5.0, now=clock) as lines:
        for second in range(12):
            clock.now = float(second)
            lines.on_progress(second, 100, "numpy torch", 90.0)
    assert stream.getvalue() == (
        "5 of 100 cells, numpy torch, 90 s left\n10 of 100 cells, numpy torch, 90 s left\n"
    )


def test_the_bar_shows_the_pair_and_the_time_left_and_goes_away() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100, color_system=None)
    with progress.Bar(console, now=Clock()) as bar:
        bar.on_progress(30, 100, "numpy torch", 300.0)
        bar.on_progress(31, 100, "jax torch", 300.0)
    text = stream.getvalue()
    assert "30/100" in text
    assert "numpy torch" in text
    assert "5 min left" in text
    assert "jax torch" not in text.partition("5 min left")[0]


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1.0, ""), (0.0, ""), (12.3, "12 s left"), (600.0, "10 min left")]
)
def test_time_left(seconds: float, text: str) -> None:
    assert progress.left(seconds) == text


def test_the_stream_decides() -> None:
    assert type(progress.observer(io.StringIO(), quiet=False)) is progress.Lines
    assert type(progress.observer(io.StringIO(), quiet=True)) is progress.Quiet


def test_a_stage_stands_before_its_cells() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = progress.Lines(stream, every_s=1.0, now=clock, stage="further 5 workers a side")
    clock.now = 1.0
    lines.on_progress(2, 8, "numpy", -1)
    assert stream.getvalue() == "further 5 workers a side, 2 of 8 cells, numpy\n"
