"""A matrix as blocks of lines, each at most as wide as requested."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from dlbench.analysis import phases
from dlbench.analysis.matrices import CORNER, LOSES, Grid, Shown
from dlbench.text.layout import pad

STYLES = {LOSES: "red", "*": "yellow", "?": "magenta", "word": "red", "-": "dim", "~": "dim"}


def heads(grid: Grid, width: int) -> list[str]:
    """The columns of each consumer. Where one consumer would not fit, those of phases.SPARE
    leave."""
    kept = list(grid.heads)
    for spare in [head for head in phases.SPARE if head in kept]:
        parts = (_columns(grid, consumer, kept) for consumer in grid.columns)
        widest = max((lines[0].cell_len for lines in parts), default=0)
        if _label_width(grid) + widest > width:
            kept.remove(spare)
    return kept


def _label_width(grid: Grid) -> int:
    return 1 + max(map(cell_len, (CORNER, *grid.rows)))


def blocks(grid: Grid, width: int) -> list[list[Text]]:
    """The matrix as one or several blocks of lines, each at most `width` wide.

    Consumers that do not fit follow in a further block with the same rows.
    """
    if not grid.rows:
        return []
    shown = heads(grid, width)
    label = _label_width(grid)
    made: list[list[Text]] = []
    for consumer in grid.columns:
        columns = _columns(grid, consumer, shown)
        if not made or made[-1][0].cell_len + columns[0].cell_len > width:
            room = label - 1
            made.append([Text(f" {pad(CORNER, room)}", style="bold")])
            made[-1] += [Text(f" {pad(row, room)}") for row in grid.rows]
        for line, added in zip(made[-1], columns, strict=True):
            line.append(added)
    for line in (line for block in made for line in block):
        line.rstrip()
    return made


def _columns(grid: Grid, consumer: str, shown: Sequence[str]) -> list[Text]:
    """A line of headings, then a line for each row, all of one width. Marks follow a column."""
    lines = [Text() for _ in range(1 + len(grid.rows))]
    for head in shown:
        cells = [Shown(head or consumer)]
        cells += [grid.cell((row, consumer), head) for row in grid.rows]
        wide = max(cell_len(cell.before + cell.text) for cell in cells)
        marks = max(0 if head else 1, *(len(cell.after) for cell in cells))
        for line, cell in zip(lines, cells, strict=True):
            text = pad(cell.before + cell.text, wide, right=True) + pad(cell.after, marks)
            line.append("  ").append(text, STYLES.get(cell.kind, ""))
    return lines
