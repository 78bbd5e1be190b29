"""The matrix: rows are producers, columns are consumers; a block for each protocol, device, case
and size.

Each consumer has further columns where instructions were counted or phases were timed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rich.cells import cell_len
from rich.text import Text

from dlbench import values
from dlbench.analysis import phases
from dlbench.document import Entry, Measured, NotMeasured, Pair
from dlbench.text.layout import pad

CORNER = "from \\ to"
#: A row or column with only these outcomes is replaced by a line below the matrix.
EMPTY = (*values.DULL, "not-run")
LOSES = "!"
COUNTED = "instr"  #: heading of the column of instructions
WIDE = "^"
UNCOUNTED = "not counted"
#: By mark or further column, its line in the legend.
LEGEND = {
    "*": "* copied",
    LOSES: f"! {values.LOSES_TEXT}",
    "?": "? not proven",
    WIDE: f"^ {values.WIDE_TEXT}",
    "~": f"~ {values.NEAR_FLOOR_TEXT}",
    "-": "- protocol not offered",
    "absent": "absent: not installed",
    COUNTED: f"{COUNTED}: instructions of one exchange",
    UNCOUNTED: "? not counted",
}
STYLES = {LOSES: "red", "*": "yellow", "?": "magenta", "word": "red", "-": "dim"}


@dataclass(frozen=True)
class Shown:
    """One cell of the matrix; `before` and `after` are marks outside the aligned text."""

    text: str = ""
    before: str = ""
    after: str = ""
    style: str = ""

    @classmethod
    def of(cls, entry: Entry | None) -> Shown:
        """The median of a cell, or the word for its outcome."""
        if entry is None:
            return cls()
        if isinstance(entry, Measured):
            before, after = values.marks(entry)
            styles = (STYLES[mark] for mark in STYLES if mark in after)
            style = next(styles, "dim" if before else "")
            return cls(values.time(entry), before, after, style)
        return cls._of_outcome(entry)

    @classmethod
    def counted(cls, entry: Entry | None) -> Shown:
        """The instructions of a cell; "?" where counting them failed, "" without a time."""
        return cls(values.instructions(entry) or "?") if isinstance(entry, Measured) else cls()

    @classmethod
    def _of_outcome(cls, entry: Entry) -> Shown:
        assert isinstance(entry, NotMeasured)
        word = values.word(entry)
        is_dim = word in ("-", "absent") or entry.is_below
        return cls(word, style=STYLES["-"] if is_dim else STYLES["word"])


@dataclass(frozen=True)
class Grid:
    """One matrix: its entries, and the phases of those that have any."""

    title: str
    entries: Mapping[Pair, Entry]
    phases: Mapping[Pair, phases.Columns] = field(default_factory=dict)

    @cached_property
    def is_counted(self) -> bool:
        """Were instructions counted for any cell that is shown?"""
        return any(isinstance(each, Measured) and each.instructions for each in self.shown())

    def heads(self, width: int) -> list[str]:
        """The columns of each consumer, "" for that of its name. Where one consumer would not fit,
        those of phases.SPARE leave."""
        heads = ["", COUNTED] if self.is_counted else [""]
        found = self.phases.values()
        heads += [head for head in phases.COLUMNS if any(columns[head] for columns in found)]
        for spare in [head for head in phases.SPARE if head in heads]:
            parts = (_columns(self, consumer, heads) for consumer in self.columns)
            widest = max((lines[0].cell_len for lines in parts), default=0)
            if self.label_width + widest > width:
                heads.remove(spare)
        return heads

    def cell(self, pair: Pair, head: str) -> Shown:
        entry = self.entries.get(pair)
        if head in phases.COLUMNS:
            return Shown(self.phases[pair][head]) if pair in self.phases else Shown()
        return Shown.counted(entry) if head == COUNTED else Shown.of(entry)

    @cached_property
    def label_width(self) -> int:
        return 1 + max(map(cell_len, (CORNER, *self.rows)))

    @cached_property
    def rows(self) -> list[str]:
        return self._interesting(0)

    @cached_property
    def columns(self) -> list[str]:
        return self._interesting(1)

    def shown(self) -> list[Entry]:
        """The entries in its rows and columns."""
        rows, columns = set(self.rows), set(self.columns)
        return [e for pair, e in self.entries.items() if pair[0] in rows and pair[1] in columns]

    def _interesting(self, axis: int) -> list[str]:
        shown = (pair for pair, entry in self.entries.items() if entry.outcome not in EMPTY)
        names = {pair[axis] for pair in shown}
        # The native library first, because the others are compared with it.
        return sorted(names, key=lambda name: (name != "native", name))


def blocks(grid: Grid, width: int) -> list[list[Text]]:
    """The matrix as one or several blocks of lines, each at most `width` wide.

    Consumers that do not fit follow in a further block with the same rows.
    """
    if not grid.rows:
        return []
    heads = grid.heads(width)
    made: list[list[Text]] = []
    for consumer in grid.columns:
        columns = _columns(grid, consumer, heads)
        if not made or made[-1][0].cell_len + columns[0].cell_len > width:
            room = grid.label_width - 1
            made.append([Text(f" {pad(CORNER, room)}", style="bold")])
            made[-1] += [Text(f" {pad(row, room)}") for row in grid.rows]
        for line, added in zip(made[-1], columns, strict=True):
            line.append(added)
    for line in (line for block in made for line in block):
        line.rstrip()
    return made


def _columns(grid: Grid, consumer: str, heads: Sequence[str]) -> list[Text]:
    """A line of headings, then a line for each row, all of one width. Marks follow a column."""
    lines = [Text() for _ in range(1 + len(grid.rows))]
    for head in heads:
        cells = [Shown(head or consumer)]
        cells += [grid.cell((row, consumer), head) for row in grid.rows]
        wide = max(cell_len(cell.before + cell.text) for cell in cells)
        marks = max(0 if head else 1, *(len(cell.after) for cell in cells))
        for line, cell in zip(lines, cells, strict=True):
            text = pad(cell.before + cell.text, wide, right=True) + pad(cell.after, marks)
            line.append("  ").append(text, cell.style)
    return lines


def legend(grids: Sequence[Grid], width: int) -> list[str]:
    """The meaning of each mark and further column in these matrices."""
    entries = [entry for grid in grids for entry in grid.shown()]
    measured = [entry for entry in entries if isinstance(entry, Measured)]
    used = {mark for entry in measured for mark in "".join(values.marks(entry))}
    words = {values.word(entry) for entry in entries if isinstance(entry, NotMeasured)}
    if any(grid.is_counted for grid in grids):
        words.add(COUNTED)
        words |= {UNCOUNTED for entry in measured if not entry.instructions}
    parts = [text for mark, text in LEGEND.items() if mark in used | words]
    return parts + phases.legend({head for grid in grids for head in grid.heads(width)})
