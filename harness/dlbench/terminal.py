"""A results document as lines for a terminal: the matrix, and under it the findings.

A pure function of the document and the width; a line is never wider than asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from dlbench import beside, couple, fallbacks, findings, grid, ladder, phases, values
from dlbench import document as documents
from dlbench.grouping import grouped
from dlbench.heading import header
from dlbench.layout import UNCUT, at_the_right, fold, shorten
from dlbench.output import Console
from dlbench.scaling import scaling
from dlbench.sync import table as waiting

LABEL = 14
#: What a person asks first: how it crosses as the consumer wants it, what a conversion costs, and
#: what the C interface would cost.
DEFAULT_PROTOCOLS = ("dlpack", "convert", "dlpack_c")


def render(
    document: dict[str, Any],
    width: int,
    run: str = documents.LATEST,
    place: str = "",
    files: tuple[str, ...] = (),
    most_lines: int = findings.MOST_LINES,
) -> list[Text]:
    """`run` is the run's name in commands, `place` its directory with the files made there,
    `most_lines` how many findings of one outcome are told."""
    lines = [Text(line) for line in header(document, width)]
    grids = matrices(document)
    for one in grids:
        for index, block in enumerate(grid.blocks(one, width)):
            lines.append(Text())
            if index == 0:
                lines.append(Text(shorten(one.title, width), style="bold"))
            lines += block
    marks = grid.legend(grids)
    if marks:
        lines += [Text(), Text(shorten(marks, width), style="dim")]
    grown = scaling(document, shown_protocols(document), width)
    if grown:
        lines += [Text(), *grown]
    climbed = fallbacks.table(document, width, run, most_lines)
    if climbed:
        lines += [Text(), *climbed]
    compared = beside.table(document, shown_protocols(document), width)
    if compared:
        lines += [Text(), *compared]
    lines += _phases(document, width) + _waiting(document, width)
    return lines + _below(document, width, run, place, files, most_lines)


def render_couple(
    document: dict[str, Any],
    width: int,
    run: str = documents.LATEST,
    place: str = "",
    files: tuple[str, ...] = (),
    most_lines: int = findings.MOST_LINES,
) -> list[Text]:
    """Like render(), with every number in a line of its own; for a couple or two."""
    lines = [Text(line) for line in header(document, width)]
    entries = [entry for entry in documents.entries(document) if _is_whole(entry)]
    # One line below says who does not take part in a protocol.
    rows = [entry for entry in entries if entry["outcome"] not in grid.DULL] or entries
    climbed = fallbacks.table(document, width, run, len(rows))
    if climbed:
        rows = [entry for entry in rows if values.is_measured(entry)]
    lines += [Text(), *couple.table(rows, width)] if rows else []
    lines += [Text(), *climbed] if climbed else []
    compared = beside.table(document, shown_protocols(document), width)
    lines += [Text(), *compared] if compared else []
    lines += _phases(document, width) + _waiting(document, width)
    return lines + _below(document, width, run, place, files, most_lines)


def render_as_asked(
    document: dict[str, Any],
    width: int,
    run: str,
    place: str,
    files: tuple[str, ...],
    most_lines: int = findings.MOST_LINES,
) -> list[Text]:
    """What fits the run's request: a couple was asked for by name, or a matrix."""
    asked = documents.about(document).get("request", {})
    fitting = render_couple if asked.get("couple") else render
    return fitting(document, width, run, place, files, most_lines)


def _is_whole(entry: values.Entry) -> bool:
    return bool(entry.get("phase", "exchange") == "exchange")


def _phases(document: dict[str, Any], width: int) -> list[Text]:
    table = phases.table(document, width)
    return [Text(), *table] if table else []


def _waiting(document: dict[str, Any], width: int) -> list[Text]:
    table = waiting.table(document, width)
    return [Text(), *table] if table else []


def _below(
    document: dict[str, Any],
    width: int,
    run: str,
    place: str,
    files: tuple[str, ...],
    most_lines: int,
) -> list[Text]:
    found = findings.find(document, run, most_lines)
    lines = [Text()] if found else []
    for finding in found:
        lines += finding_lines(finding, width)
    return [*lines, Text(), *(Text(line) for line in footer(document, width, place, files))]


def show(lines: list[Text], console: Console) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)


def shown_protocols(document: dict[str, Any]) -> list[str]:
    """Those that were asked for, else the default ones, else whatever there is."""
    entries = list(documents.entries(document))
    present = dict.fromkeys(entry["protocol"] for entry in entries)
    asked = documents.about(document).get("request", {}).get("protocols") or DEFAULT_PROTOCOLS
    return [protocol for protocol in asked if protocol in present] or list(present)


def matrices(document: dict[str, Any]) -> list[grid.Grid]:
    """One for each device, protocol and case at its smallest size, on the clock `call`."""
    protocols = shown_protocols(document)
    climbed = ladder.is_climbed(document)
    shown = (
        entry
        for entry in documents.entries(document)
        if entry.get("clock", "call") == "call"
        and entry.get("phase", "exchange") == "exchange"
        # Of the others the table of fallbacks tells.
        and (not climbed or entry["case"] == ladder.BASELINE)
    )

    def key_of(entry: values.Entry) -> tuple[str, ...]:
        environment = entry.get("environment", "default")
        return entry["device"], environment, entry["protocol"], entry["case"]

    groups = grouped(shown, key_of)
    ordered = sorted(
        (key for key in groups if key[2] in protocols),
        key=lambda key: (
            *(key[0] != "cpu", key[0], documents.environment_rank(key[1])),
            *(protocols.index(key[2]), key[3]),
        ),
    )
    return [one for key in ordered for one in _matrices(key, groups[key])]


def _matrices(key: tuple[str, ...], entries: list[values.Entry]) -> Iterator[grid.Grid]:
    """Of times; then of instructions, where they were counted."""
    device, environment, protocol, case = key
    smallest = min(entry["bytes"] for entry in entries)
    title = [device, values.size(smallest), protocol]
    title += [case] if case != "f32" else []
    title += [f"in {environment}"] if environment != "default" else []
    chosen = {(e["producer"], e["consumer"]): e for e in entries if e["bytes"] == smallest}
    yield grid.Grid("   ".join([*title, "host time of one exchange"]), chosen)
    if any(entry.get("instructions") for entry in chosen.values()):
        heading = "   ".join([*title, "instructions of one exchange"])
        yield grid.Grid(heading, chosen, grid.Shown.counted)


def finding_lines(finding: findings.Finding, width: int) -> list[Text]:
    """One line; more where the text, its reason and the command do not fit beside one another."""
    head = Text(finding.label.ljust(LABEL), style="bold")
    room = width - LABEL
    text, command = finding.text, finding.command
    if command and len(text) + 2 + len(command) <= room:
        gap = room - len(text) - len(command) if width < UNCUT else 2
        return [head + Text(text + " " * gap) + Text(command, style="cyan")]
    who, _, why = text.partition(": ")
    parts = [text] if len(text) <= room or not why else [f"{who}:", why]
    lines = [head + Text(shorten(parts[0], room))]
    lines += [Text(" " * LABEL + shorten(part, room)) for part in parts[1:]]
    if command:
        lines.append(Text(at_the_right(command, width), style="cyan"))
    return lines


def footer(
    document: dict[str, Any], width: int, place: str, files: tuple[str, ...] = ()
) -> list[str]:
    about = documents.about(document)
    measured = len(document.get("benchmarks", []))
    # That an exchange without a number has no phases either need not be counted.
    without = [entry for entry in document.get("not_measured", []) if _is_whole(entry)]
    untimed = list(filter(ladder.is_untimed, without))
    below = sum(map(values.is_below, without))
    others = len(without) - len(untimed) - below
    words = [f"{measured} measured", *ladder.untimed_said(untimed)]
    words += [f"{below} below the resolution of a device's timer"] if below else []
    parts = [", ".join([*words, f"{others} not"] if others else words)]
    if about.get("wall_s"):
        parts.append(f"{about['wall_s']:.0f} s")
    if place:
        named = ": " + "  ".join(files) if files else ""
        parts.append(f"->  {place}{named}")
    return fold(parts, width, gap="   ")
