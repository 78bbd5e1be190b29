"""A results document as lines for a terminal: the matrix, and under it the findings.

A pure function of the document and the width; a line is never wider than requested.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from dlbench import findings, values
from dlbench.analysis import case_sweep, matrices, phases
from dlbench.analysis.scaling import scaling
from dlbench.document import LATEST, Document, Measured
from dlbench.document.facts import DULL
from dlbench.findings import writable
from dlbench.sync import captures
from dlbench.sync import table as waiting
from dlbench.terminal import calls, ending, environments, fallbacks, grid, pair
from dlbench.terminal.ending import LABEL
from dlbench.terminal.heading import header
from dlbench.text.layout import UNCUT, at_the_right, fitting, fold, pad, shorten
from dlbench.text.output import Console


def render(
    document: Document,
    width: int,
    run: str = LATEST,
    place: str = "",
    files: tuple[str, ...] = (),
    most_lines: int = findings.MOST_LINES,
    *,
    is_pair: bool = False,
    is_ending: bool = False,
) -> list[Text]:
    """`run` is the run's name in commands, `place` its directory with the files made there,
    `most_lines` the maximum number of findings of one outcome. `is_pair`: one line for each cell
    instead of a matrix. `is_ending`: as a run ends, with a short answer in place of the findings.
    """
    entries, protocols = document.exchanges, matrices.shown_protocols(document)
    # One line below names the libraries without a protocol.
    cells = [entry for entry in entries if entry.outcome not in DULL] or entries
    sweeps = fallbacks.table(document, width, run, len(cells) if is_pair else most_lines)
    sections: list[list[Text]] = [calls.tables(document, width)]
    if is_pair:
        cells = [entry for entry in cells if not sweeps or isinstance(entry, Measured)]
        parts = phases.columns(document.entries)
        sections.append(pair.table(cells, width, parts) if cells else [])
    elif not is_ending:
        sections += [scaling(document, protocols, width), _protection(document, width)]
    sections += [
        sweeps,
        environments.table(document, protocols, width),
        waiting.table(document, width),
        captures.table(document, width),
    ]
    lines = [Text(line) for line in header(document, width)]
    lines += [] if is_pair else _matrices(document, width)
    for section in filter(None, sections):
        lines += [Text(), *section]
    if is_ending:
        found = findings.waits(document, entries, run)
        found += findings.graph_captures(document, entries, run)
    else:
        found = findings.find(document, run, most_lines)
    if found:
        lines += [Text(), *(line for one in found for line in finding_lines(one, width))]
    if is_ending:
        lines += [Text(), *ending.lines(document, width, run)]
    return [*lines, Text(), *map(Text, footer(document, width, place, files))]


def render_first(document: Document, width: int, replicas: int) -> list[Text]:
    """The matrix of a run that continues, from the first process of each cell."""
    words = f"first numbers, each from one of {replicas} processes"
    return [Text(shorten(words, width)), *_matrices(document, width), Text()]


def _matrices(document: Document, width: int) -> list[Text]:
    """The matrices and the legend of their marks."""
    lines: list[Text] = []
    grids = matrices.of_document(document)
    for one in grids:
        for index, block in enumerate(grid.blocks(one, width)):
            lines.append(Text())
            if index == 0:
                lines += _title(one, width)
            lines += block
    marks = matrices.legend(grids, (head for one in grids for head in grid.heads(one, width)))
    if marks:
        lines.append(Text())
        lines += [Text(line, style="dim") for line in fold(marks, width, gap="   ", indent="")]
    return lines


def _protection(document: Document, width: int) -> list[Text]:
    """Which of two arrays may be written to; empty if there is nothing to say."""
    rows = writable.rows(document, 3)
    if not rows:
        return []
    _, lines = fitting(writable.HEAD, rows, width - 1, (), ("neither", "both"))
    shown = [Text(shorten(writable.TITLE, width), style="bold")]
    return shown + [Text(shorten(f" {line}", width)) for line in lines]


def show(lines: list[Text], console: Console) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)


def _title(one: matrices.Grid, width: int) -> list[Text]:
    """A matrix' title, and beside or below it the widths of its intervals."""
    title = Text.assemble((shorten(one.title, width), "bold"))
    found = values.widths([entry for entry in one.shown() if isinstance(entry, Measured)])
    if not found:
        return [title]
    widths = f"interval {found}"
    if cell_len(one.title) + 3 + cell_len(widths) <= width:
        return [title.append(f"   {widths}")]
    return [title, Text(f" {widths}")]


def finding_lines(finding: findings.Finding, width: int) -> list[Text]:
    """The finding as one line, or as several if text, reason and command do not fit on one."""
    head = Text.assemble((pad(finding.label, LABEL), "bold"))
    room = width - LABEL
    text, command = finding.text, finding.command
    wide = cell_len(text) + cell_len(command)
    if command and wide + 2 <= room:
        gap = room - wide if width < UNCUT else 2
        return [head + Text(text + " " * gap) + Text(command, style="cyan")]
    place, _, why = text.partition(": ")
    parts = [text] if cell_len(text) <= room or not why else [f"{place}:", why]
    lines = [head + Text(shorten(parts[0], room))]
    lines += [Text(" " * LABEL + shorten(part, room)) for part in parts[1:]]
    if command:
        lines.append(Text(at_the_right(command, width), style="cyan"))
    return lines


def footer(document: Document, width: int, place: str, files: tuple[str, ...] = ()) -> list[str]:
    parts = [", ".join(case_sweep.outcome_words(document.entries))]
    if wall_s := document.run.wall_s:
        parts.append(f"{wall_s:.0f} s")
    if place:
        named = ": " + "  ".join(files) if files else ""
        parts.append(f"->  {place}{named}")
    return fold(parts, width, gap="   ")
