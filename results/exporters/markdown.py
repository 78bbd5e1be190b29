"""A step summary below 1 MiB: counts, the important findings, and folded tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dlbench import values
from dlbench.analysis import matrices
from dlbench.document import Document, Entry, Measured, NotMeasured, exchanges_once
from dlbench.document.facts import is_refused
from dlbench.errors import first_line
from dlbench.findings import find, writable
from dlbench.findings.summary import summarize
from dlbench.text import escaping
from dlbench.text.grouping import grouped
from dlbench.text.layout import count

from .tables import table

#: GitHub drops a step's summary above 1 MiB; the difference is left for other summaries.
MOST_BYTES = 1024 * 1024 - 64 * 1024
#: Outcomes that are visible without unfolding.
ALARMING = ("wrong", "race", "crashed", "timed-out", "out-of-memory", "import-failed")
MOST_REASONS = 400
LAST_WORD = 1024  #: bytes reserved for the note of what was left out


def export(document: Document, most_bytes: int = MOST_BYTES, first: str = "") -> str:
    """GitHub's Markdown of at most `most_bytes` bytes; a note lists what is left out.

    `first`: text above the counts.
    """
    text = first + _head(document)
    left_out: list[str] = []
    room = most_bytes - len(text.encode()) - LAST_WORD
    for title, body in _sections(document):
        block = f"\n<details><summary>{title}</summary>\n\n{body}\n</details>\n"
        size = len(block.encode())
        if size > room:
            left_out.append(title)
            continue
        text, room = text + block, room - size
    if left_out:
        text += f"\nLeft out for its size: {', '.join(left_out[:3])}"
        text += f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        text += "; results.json has all of it.\n"
    return text


def _head(document: Document) -> str:
    counts = Counter(entry.observed_outcome for entry in document.entries)
    measured, cells = len(document.measured), len(document.entries)
    lines = [f"### dlbench: {measured} of {cells} cells measured", ""]
    lines += [table(["outcome", "cells"], [[w, str(n)] for w, n in counts.most_common()], [1])]
    for name, part in document.by_machine():
        lines += _origin(name, part)
        where = f"{name}: " if name else ""
        found = summarize(part, find(part)).lines()
        texts = (f"{one.label}: {where}{one.text}" for one in found)
        lines += [*(f"- {escaping.markdown(text)}" for text in texts), ""]
    # A number on one clock must not hide a failure on another.
    alarming = (entry for entry in document.not_measured if entry.outcome in ALARMING)
    loud = exchanges_once(alarming)
    if loud:
        lines += [table(["", "cell", "why"], (_why(entry) for entry in loud[:40]))]
        lines += [f"and {len(loud) - 40} more", ""] if len(loud) > 40 else []
    return "\n".join(lines)


def _origin(machine: str, document: Document) -> list[str]:
    """The machine, then each environment's libraries, each followed by an empty line."""
    hardware = [document.run.machine.cpu, *document.devices]
    names = document.environments
    lines = []
    for name in names:
        versions = document.environment(name).packages.items()
        words = ", ".join(f"{library} {version}" for library, version in versions)
        place = name if len(names) > 1 else ""
        lines.append(" \u00b7 ".join(part for part in (machine, *hardware, place, words) if part))
    return [text for line in lines if line for text in (escaping.markdown(line), "")]


def _why(entry: NotMeasured) -> list[str]:
    return [entry.outcome, _cell(entry), first_line(values.reason(entry))[:300]]


def _cell(entry: Entry) -> str:
    usual = {"device": "cpu", "case": "f32", "arrays": 1, "clock": "call",
             "environment": "default"}  # fmt: skip
    words = [f"{entry.producer} -> {entry.consumer}", entry.protocol]
    words += [str(entry.axis(axis)) for axis, value in usual.items() if entry.axis(axis) != value]
    words += [entry.machine] if entry.machine else []
    return " ".join([*words, values.size(entry.bytes)])


def _sections(document: Document) -> Iterable[tuple[str, str]]:
    for name, part in document.by_machine():
        for one in matrices.of_document(part):
            if one.rows:
                title = f"{name}   {one.title}" if name else one.title
                yield escaping.markdown(title), _matrix(one)
    if writers := writable.rows(document):
        heads = [head for head in writable.HEAD if any(row[head] for row in writers)]
        yield writable.TITLE, table(heads, ([row[head] for head in heads] for row in writers))
    telling = list(filter(is_refused, document.not_measured))
    if telling:
        groups = grouped(telling, lambda e: (e.machine, e.pair, e.protocol, e.cause)).values()
        machine = ["machine"] if document.machines else []
        rows = [
            [alike[0].outcome, " -> ".join(alike[0].pair), alike[0].protocol,
             *(alike[0].machine for _ in machine),
             values.shared_reason(alike)[:300], str(len(alike))]
            for alike in sorted(groups, key=len, reverse=True)[:MOST_REASONS]
        ]  # fmt: skip
        title = f"Without a number: {count(len(telling), 'cell')}, and why"
        head = ["", "from -> to", "protocol", *machine, "why", "cells"]
        yield title, table(head, rows, [len(head) - 1])
    measured = document.measured
    for begin in range(0, len(measured), 2000):
        some = measured[begin : begin + 2000]
        last = begin + len(some)
        title = f"All cells, {begin + 1} to {last}" if len(measured) > 2000 else "All cells"
        yield title, _cells(some)


def _matrix(one: matrices.Grid) -> str:
    found = one.heads
    columns = [(consumer, head) for consumer in one.columns for head in found]
    shown = [[row, *(_shown(one, row, *column) for column in columns)] for row in one.rows]
    heads = [matrices.CORNER, *(head or consumer for consumer, head in columns)]
    heads = [escaping.markdown(head) for head in heads]
    legend = "   ".join(matrices.legend([one], one.heads))
    made = table(heads, shown, range(1, len(heads)))
    return made + (f"\n{escaping.markdown(legend)}\n" if legend else "")


def _shown(one: matrices.Grid, producer: str, consumer: str, head: str) -> str:
    cell = one.cell((producer, consumer), head)
    return cell.before + cell.text + cell.after


def _cells(entries: Sequence[Measured]) -> str:
    rows = (
        [e.phase, _cell(e), values.time(e),
         values.interval_ends(e),
         values.interval([e]), e.outcome, "; ".join(e.changed),
         "; ".join(w.text for w in e.warnings)]
        for e in entries
    )  # fmt: skip
    head = ["phase", "cell", "time", "interval", "which is", "outcome", "changed", "warnings"]
    return table(head, rows, [2, 3])
