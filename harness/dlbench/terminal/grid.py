"""The matrix: producers down, consumers across, one block a protocol, device, case and size.

Where instructions were counted, each consumer has a second column with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from dlbench import values
from dlbench.document import Entry, Measured, NotMeasured
from dlbench.text.layout import pad

CORNER = "from \\ to"
#: A row or column with no other content is replaced by one line below.
EMPTY = (*values.DULL, "not-run")
LOSES = "!"
COUNTED = "instr"  #: heading of the column of instructions
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
        """The instructions of a cell; "?" where counting them failed, "" without a time."""
        return cls(values.instructions(entry) or "?") if isinstance(entry, Measured) else cls()

    @classmethod
    def _of_outcome(cls, entry: Entry) -> Shown:
        assert isinstance(entry, NotMeasured)
        word = values.word(entry)
        is_dim = word in ("-", "absent") or entry.is_below
        return cls(word, style=STYLES["-"] if is_dim else STYLES["word"])


#: The columns of one consumer: the text of a cell by heading, "" for the consumer's name.
Columns = dict[str, Callable[[Entry | None], Shown]]


@dataclass(frozen=True)
class Grid:
    """One matrix; `entries` by (producer, consumer)."""

    title: str
    entries: dict[tuple[str, str], Entry]

    def is_counted(self) -> bool:
        """Were instructions counted for any cell that is shown?"""
        return any(isinstance(each, Measured) and each.instructions for each in self.shown())

    def shows(self) -> Columns:
        return {"": Shown.of, COUNTED: Shown.counted} if self.is_counted() else {"": Shown.of}

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

    Consumers that do not fit follow in a further block with the same rows.
    """
    rows, consumers = grid.rows(), grid.columns()
    if not rows:
        return []
    shows = grid.shows()
    cells = {
        (row, consumer, head): show(grid.entries.get((row, consumer)))
        for row in rows
        for consumer in consumers
        for head, show in shows.items()
    }
    label = max(len(CORNER), *map(cell_len, rows))
    widths = {
        (consumer, head): max(
            cell_len(head or consumer), *(_width(cells[row, consumer, head]) for row in rows)
        )
        for consumer in consumers
        for head in shows
    }
    # Marks stand behind each column.
    marks = {
        head: max(
            1 - bool(head), *(len(cell.after) for key, cell in cells.items() if key[2] == head)
        )
        for head in shows
    }
    needed = {
        consumer: sum(2 + widths[consumer, head] + marks[head] for head in shows)
        for consumer in consumers
    }
    return [
        _block(rows, group, cells, label, widths, marks)
        for group in _groups(needed, width - 1 - label)
    ]


def _width(cell: Shown) -> int:
    return cell_len(cell.before + cell.text)


def _groups(needed: dict[str, int], room: int) -> list[list[str]]:
    """Consumers side by side as far as there is room; at least one in each group."""
    groups: list[list[str]] = []
    left = 0
    for consumer, width in needed.items():
        if not groups or width > left:
            groups.append([])
            left = room
        groups[-1].append(consumer)
        left -= width
    return groups


def _block(
    rows: Sequence[str],
    consumers: Sequence[str],
    cells: dict[tuple[str, str, str], Shown],
    label: int,
    widths: dict[tuple[str, str], int],
    marks: dict[str, int],
) -> list[Text]:
    lines = [Text(f" {pad(CORNER, label)}", style="bold")]
    lines += [Text(f" {pad(row, label)}") for row in rows]
    for consumer in consumers:
        for head, room in marks.items():
            wide = widths[consumer, head]
            lines[0].append(f"  {pad(head or consumer, wide, right=True)}" + " " * room)
            for row, line in zip(rows, lines[1:], strict=True):
                cell = cells[row, consumer, head]
                line.append("  ")
                line.append(pad(cell.before + cell.text, wide, right=True), cell.style)
                line.append(pad(cell.after, room), cell.style)
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
        COUNTED: f"{COUNTED}: instructions of one exchange",
        UNCOUNTED: "? not counted",
    }
    if any(grid.is_counted() for grid in grids):
        words.add(COUNTED)
        words |= {UNCOUNTED for entry in measured if not entry.instructions}
    return [text for mark, text in told.items() if mark in used | words]
