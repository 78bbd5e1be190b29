"""The answer that a run ends with: at most six entries, and the commands to type next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from dlbench.document import Document
from dlbench.findings import FAILURES, FAULTS, Finding, find
from dlbench.findings.summary import SERIOUS, Speed, summarize, timed
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import count, fitting, pad, shorten, wrap

MOST_LINES = 6
LABEL = 14
SPEEDS = ("protocol", "fastest", "x native", "slowest", "x fastest")


def _next_commands(
    found: Sequence[Finding], speeds: Sequence[Speed], run: str
) -> list[tuple[str, str]]:
    """Commands, each with what it prints: the one that examines the worst result, then the rest."""
    worst = [one for one in found if one.label in FAULTS and one.command]
    worst = worst or [one for one in found if one.label in SERIOUS and one.command]
    if not worst and not speeds:
        worst = [one for one in found if one.label in FAILURES and one.command]
    commands = [(one.command, f"examine: {one.label}") for one in worst[:1]]
    if not worst and speeds:
        command = dlbench_command("show", run, *speeds[0].slowest.pair)
        commands.append((command, "the slowest pair in detail"))
    rest = f"all tables, {count(len(found), 'finding')}"
    return [*commands, (dlbench_command("show", run), rest)]


def lines(document: Document, width: int, run: str) -> Iterator[Text]:
    """The answer and the next commands. A command is never cut."""
    found = find(document, run)
    summary = summarize(document, found)
    speeds, findings = summary.speeds, summary.findings
    if speeds:
        shown = [_row(speed) for speed in speeds][: max(1, MOST_LINES - len(findings))]
        _, laid_out = fitting(SPEEDS, shown, width, ("x native", "x fastest"), ("x native",))
        head = laid_out[0]
        if any(speed.leaves_native_out for speed in speeds):
            head = head.rstrip() + "   (without native)"
        yield Text(shorten(head, width), style="bold")
        for row, line in zip(shown, laid_out[1:], strict=True):
            yield _labeled(row["protocol"], shorten(line, width))
    for finding in findings:
        # Two lines: the pairs and the beginning of a library's own message.
        room = max(width - LABEL, 1)
        first, *more = wrap(finding.text, room)
        if len(more) > 1:
            fits = cell_len(more[0]) < room
            cut = more[0] if fits else more[0].rpartition(" ")[0] or more[0][:-1]
            more = [f"{cut}\u2026"]
        yield _labeled(finding.label, pad(finding.label, LABEL) + shorten(first, room))
        yield from (Text(" " * LABEL + shorten(shown_line, room)) for shown_line in more)
    commands = _next_commands(found, speeds, run)
    longest = max(cell_len(command) for command, _ in commands)
    label = "next"
    for command, what in commands:
        shown_line = Text.assemble((pad(label, LABEL), "bold"), (pad(command, longest), "cyan"))
        if shown_line.cell_len + 2 + cell_len(what) <= width:
            shown_line.append(f"  {what}", "dim")
        shown_line.rstrip()
        yield shown_line
        label = ""


def _labeled(label: str, line: str) -> Text:
    text = Text(line)
    text.stylize("bold", 0, len(label))
    return text


def _row(speed: Speed) -> dict[str, str]:
    times = speed.times_fastest
    texts = [pad(speed.label, LABEL - 2), timed(speed.fastest), speed.times_native]
    return dict(zip(SPEEDS, [*texts, timed(speed.slowest) if times else "", times], strict=True))
