"""The matrix: producers down, consumers across, one block a protocol, device, case and size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from dlbench import values
from dlbench.document import Entry, Measured, NotMeasured
from dlbench.text.layout import pad

CORNER = "from \\ to"
#: Rows and columns that hold nothing else say nothing that one line below cannot say.
EMPTY = (*values.DULL, "not-run")
LOSES = "!"
WIDE = "^"
UNCOUNTED = "not counted"
STYLES = {LOSES: "red", "*": "yellow", "?": "magenta", "word": "red", "-": "dim"}


@dataclass(frozen=True)
class Shown:
    """One cell of the picture; `before` and `after` are marks outside the aligned text."""

    text: str = ""
    before: str = ""
    after: str = ""
    style: str = ""

    @classmethod
    def of(cls, entry: Entry | None) -> Shown:
        """The median of a cell, or the word for why there is none."""
        if entry is None:
            return cls()
        if isinstance(entry, Measured):
            before, after = values.marks(entry)
            style = STYLES.get(after, "dim" if before else "")
            if values.lost(entry):
                after, style = after + LOSES, STYLES[LOSES]
            after += WIDE if values.is_wide(entry) else ""
            return cls(values.time(entry), before, after, style)
        return cls._of_outcome(entry)

    @classmethod
    def counted(cls, entry: Entry | None) -> Shown:
        """The instructions of a cell; "?" where counting them failed."""
        if entry is None:
            return cls()
        if isinstance(entry, Measured):
            return cls(values.instructions(entry) or "?")
        return cls._of_outcome(entry)

    @classmethod
    def _of_outcome(cls, entry: Entry) -> Shown:
        assert isinstance(entry, NotMeasured)
        word = values.word(entry)
        is_dim = word in ("-", "absent") or entry.is_below
        return cls(word, style=STYLES["-"] if is_dim else STYLES["word"])


@dataclass(frozen=True)
class Grid:
    """One matrix. `entries` by (producer, consumer); `show` makes the text of one."""

    title: str
    entries: dict[tuple[str, str], Entry]
    show: Callable[[Entry | None], Shown] = Shown.of

    def rows(self) -> list[str]:
        return self._interesting(0)

    def columns(self) -> list[str]:
        return self._interesting(1)

    def shown(self) -> list[Entry]:
        """The entries in its rows and columns."""
        rows, columns = set(self.rows()), set(self.columns())
        return [e for pair, e in self.entries.items() if pair[0] in rows and pair[1] in columns]

    def _interesting(self, axis: int) -> list[str]:
        shown = (pair for pair, entry in self.entries.items() if entry.outcome not in EMPTY)
        names = {pair[axis] for pair in shown}
        # The yardstick first: everything else is read against it.
        return sorted(names, key=lambda name: (name != "native", name))


def blocks(grid: Grid, width: int) -> list[list[Text]]:
    """The matrix as one or several blocks of lines, each at most `width` wide.

    Consumers that do not fit beside the others go on in a further block with the same rows.
    """
    rows, consumers = grid.rows(), grid.columns()
    if not rows:
        return []
    shown = {
        (row, column): grid.show(grid.entries.get((row, column)))
        for row in rows
        for column in consumers
    }
    label = max(len(CORNER), *map(cell_len, rows))
    widths = {
        column: max(cell_len(column), *(_width(shown[row, column]) for row in rows))
        for column in consumers
    }
    marks = max(1, *(len(cell.after) for cell in shown.values()))
    return [
        _block(rows, group, shown, label, widths, marks)
        for group in _groups(consumers, widths, width - 1 - label, marks)
    ]


def _width(cell: Shown) -> int:
    return cell_len(cell.before + cell.text)


def _groups(
    consumers: Sequence[str], widths: dict[str, int], room: int, marks: int
) -> list[list[str]]:
    groups: list[list[str]] = []
    left = 0
    for column in consumers:
        needed = 2 + widths[column] + marks  # a gap, the text, its marks
        if not groups or needed > left:
            groups.append([])
            left = room
        groups[-1].append(column)
        left -= needed
    return groups


def _block(
    rows: Sequence[str],
    columns: Sequence[str],
    shown: dict[tuple[str, str], Shown],
    label: int,
    widths: dict[str, int],
    marks: int,
) -> list[Text]:
    head = Text(f" {pad(CORNER, label)}", style="bold")
    for column in columns:
        head.append(f"  {pad(column, widths[column], right=True)}" + " " * marks)
    lines = [head]
    for row in rows:
        line = Text(f" {pad(row, label)}")
        for column in columns:
            cell = shown[row, column]
            line.append("  ")
            line.append(pad(cell.before + cell.text, widths[column], right=True), cell.style)
            line.append(pad(cell.after, marks), cell.style)
        lines.append(line)
    for line in lines:
        line.rstrip()
    return lines


def legend(grids: Sequence[Grid]) -> list[str]:
    """What each mark in these matrices means."""
    entries = [entry for grid in grids for entry in grid.shown()]
    measured = [entry for entry in entries if isinstance(entry, Measured)]
    used = {mark for entry in measured for mark in values.marks(entry)}
    used |= {LOSES for entry in measured if values.lost(entry)}
    used |= {WIDE for entry in measured if values.is_wide(entry)}
    words = {values.word(entry) for entry in entries if isinstance(entry, NotMeasured)}
    told = {
        "*": "* copied",
        LOSES: "! drops or converts something",
        "?": "? not proven",
        WIDE: f"^ interval wider than +-{values.percent(values.WIDE)}",
        "~": "~ within 2x of the instrument's own time",
        "-": "- protocol not offered",
        "absent": "absent: not installed",
        UNCOUNTED: "? not counted",
    }
    if any(
        isinstance(entry, Measured) and not entry.instructions
        for grid in grids
        if grid.show == Shown.counted
        for entry in grid.shown()
    ):
        words.add(UNCOUNTED)
    return [text for mark, text in told.items() if mark in used | words]
