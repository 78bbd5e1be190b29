"""The matrices of a document: rows are producers, columns are consumers; one for each protocol,
device and case, at the smallest size.

Each consumer has further columns where instructions were counted or phases were timed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dlbench import values
from dlbench.analysis import case_sweep, phases
from dlbench.document import Document, Entry, Measured, NotMeasured, Pair, environment_rank
from dlbench.document.facts import DULL, FIRST_PROTOCOLS, native_first
from dlbench.text.grouping import grouped

CORNER = "from \\ to"
#: A row or column with only these outcomes is replaced by a line below the matrix.
EMPTY = (*DULL, "not-run")
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


@dataclass(frozen=True)
class Shown:
    """One cell of the matrix; `before` and `after` are marks outside the aligned text.

    `kind`: the mark or word that it is colored by, "word" for an outcome without a number.
    """

    text: str = ""
    before: str = ""
    after: str = ""
    kind: str = ""

    @classmethod
    def of(cls, entry: Entry | None) -> Shown:
        """The median of a cell, or the word for its outcome."""
        if entry is None:
            return cls()
        if isinstance(entry, Measured):
            before, after = values.marks(entry)
            kind = next((mark for mark in (LOSES, "*", "?") if mark in after), before)
            return cls(values.time(entry), before, after, kind)
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
        return cls(word, kind="-" if is_dim else "word")


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

    @cached_property
    def heads(self) -> list[str]:
        """The columns of each consumer, "" for that of its name."""
        heads = ["", COUNTED] if self.is_counted else [""]
        found = self.phases.values()
        return heads + [head for head in phases.COLUMNS if any(columns[head] for columns in found)]

    def cell(self, pair: Pair, head: str) -> Shown:
        entry = self.entries.get(pair)
        if head in phases.COLUMNS:
            return Shown(self.phases[pair][head]) if pair in self.phases else Shown()
        return Shown.counted(entry) if head == COUNTED else Shown.of(entry)

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
        return native_first(names)


def legend(grids: Sequence[Grid], heads: Iterable[str]) -> list[str]:
    """The meaning of each mark and of these further columns in the matrices."""
    entries = [entry for grid in grids for entry in grid.shown()]
    measured = [entry for entry in entries if isinstance(entry, Measured)]
    used = {mark for entry in measured for mark in "".join(values.marks(entry))}
    words = {values.word(entry) for entry in entries if isinstance(entry, NotMeasured)}
    if any(grid.is_counted for grid in grids):
        words.add(COUNTED)
        words |= {UNCOUNTED for entry in measured if not entry.instructions}
    parts = [text for mark, text in LEGEND.items() if mark in used | words]
    return parts + phases.legend({*heads})


def shown_protocols(document: Document) -> list[str]:
    """The requested protocols, else the default ones, else all."""
    present = dict.fromkeys(entry.protocol for entry in document.entries)
    requested = document.run.request.protocols or FIRST_PROTOCOLS
    return [protocol for protocol in requested if protocol in present] or list(present)


def of_document(document: Document) -> list[Grid]:
    """A matrix for each device, protocol and case, at the smallest size, on the clock `call`."""
    protocols = shown_protocols(document)
    sweeps = case_sweep.has_case_sweep(document)
    shown = (
        entry
        for entry in document.exchanges
        if entry.clock == "call"
        and entry.protocol != "call"  # calls have tables of their own
        # The table of fallbacks lists the others.
        and (not sweeps or entry.case == case_sweep.BASELINE)
    )

    def key_of(entry: Entry) -> tuple[str, ...]:
        return entry.device, entry.environment, entry.protocol, entry.case

    groups = grouped(shown, key_of)
    parts = phases.columns(document.entries)
    ordered = sorted(
        (key for key in groups if key[2] in protocols),
        key=lambda key: (
            *(key[0] != "cpu", key[0], environment_rank(key[1])),
            *(protocols.index(key[2]), key[3]),
        ),
    )
    return [_matrix(key, groups[key], parts) for key in ordered]


def _matrix(
    key: tuple[str, ...], entries: list[Entry], parts: Mapping[phases.Key, phases.Columns]
) -> Grid:
    device, environment, protocol, case = key
    smallest = min(entry.bytes for entry in entries)
    title = [device, values.size(smallest), protocol]
    title += [case] if case != "f32" else []
    title += [f"in {environment}"] if environment != "default" else []
    chosen = {e.pair: e for e in entries if e.bytes == smallest}
    keys = {pair: phases.key_of(entry) for pair, entry in chosen.items()}
    phased = {pair: parts[of] for pair, of in keys.items() if of in parts}
    return Grid("   ".join([*title, "host time of one exchange"]), chosen, phased)
