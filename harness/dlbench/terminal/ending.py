"""The answer that a run ends with: at most six entries, and the commands to type next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from dlbench import values
from dlbench.analysis import case_sweep
from dlbench.analysis.matrices import Grid
from dlbench.document import Document, Measured
from dlbench.document.facts import COPIED, NATIVE, fastest_rate
from dlbench.findings import DISTURBED, FAILURES, FAULTS, Finding, find
from dlbench.findings.finding import by_pair
from dlbench.terminal import environments
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import count, fitting, pad, shorten, wrap

MOST_LINES = 6
MOST_SERIOUS = 2
LABEL = 14
SPEEDS = ("protocol", "fastest", "x native", "slowest", "x fastest")
#: Findings that must be shown although each cell has a number.
SERIOUS = ("drops", "converts", "writes", "import order", "journal", "environment",
           "not installed")  # fmt: skip


def _answer(document: Document, found: Sequence[Finding]) -> list[Finding]:
    """Copies, failures, serious findings and, where anything was measured, noise."""
    return [
        *_copies(document, found),
        *(finding for finding in found if finding.label == "alignment"),
        *_failures(document, found),
        *serious_findings(found),
        *_noise(document),
    ]


def _next_commands(
    found: Sequence[Finding], grids: Sequence[Grid], run: str
) -> list[tuple[str, str]]:
    """Commands, each with what it prints: the one that examines the worst result, then the rest."""
    pairs = [pair for grid in grids if (pair := _compared(grid))]
    worst = [one for one in found if one.label in FAULTS and one.command]
    worst = worst or [one for one in found if one.label in SERIOUS and one.command]
    if not worst and not pairs:
        worst = [one for one in found if one.label in FAILURES and one.command]
    commands = [(one.command, f"examine: {one.label}") for one in worst[:1]]
    if not worst and pairs:
        slowest = max(pairs[0], key=lambda entry: entry.real_time)
        command = dlbench_command("show", run, *slowest.pair)
        commands.append((command, "the slowest pair in detail"))
    rest = f"all tables, {count(len(found), 'finding')}"
    return [*commands, (dlbench_command("show", run), rest)]


def lines(document: Document, grids: Sequence[Grid], width: int, run: str) -> Iterator[Text]:
    """The answer and the next commands. A command is never cut."""
    found = find(document, run)
    findings = _answer(document, found)
    speeds = [row for grid in grids if (row := _speeds(document, grid))]
    if speeds:
        shown = speeds[: max(1, MOST_LINES - len(findings))]
        _, laid_out = fitting(SPEEDS, shown, width, ("x native", "x fastest"), ("x native",))
        head = laid_out[0]
        if any(len(_compared(grid)) < len(_measured(grid)) for grid in grids):
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
    commands = _next_commands(found, grids, run)
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


def _measured(grid: Grid) -> list[Measured]:
    return [entry for entry in grid.entries.values() if isinstance(entry, Measured)]


def _compared(grid: Grid) -> list[Measured]:
    """The measured exchanges of a matrix, fastest first; without native if it has others."""
    measured = sorted(_measured(grid), key=lambda entry: entry.real_time)
    return [entry for entry in measured if NATIVE not in entry.pair] or measured


def _speeds(document: Document, grid: Grid) -> dict[str, str]:
    """A row of SPEEDS; empty where no exchange of the matrix was measured."""
    compared = _compared(grid)
    if not compared:
        return {}
    fastest, slowest = compared[0], compared[-1]
    label = [fastest.protocol]
    label += [fastest.device] if fastest.device != "cpu" else []
    label += [fastest.case] if fastest.case != "f32" else []
    label += [f"in {fastest.environment}"] if fastest.environment != "default" else []
    row = dict.fromkeys(SPEEDS, "")
    row |= {"protocol": pad(" ".join(label), LABEL - 2), "fastest": _timed(fastest)}
    native = grid.entries.get((NATIVE, NATIVE))
    if isinstance(native, Measured) and native is not fastest:
        row["x native"] = values.ratio(fastest, native)
    if fastest is not slowest:
        ratio = environments.ratio(fastest, slowest)
        is_noise = ratio.honest and not ratio.differs(1)
        row["slowest"] = _timed(slowest)
        row["x fastest"] = "within noise" if is_noise else values.ratio(slowest, fastest)
    return row


def _timed(entry: Measured) -> str:
    before, after = values.marks(entry)
    time = f"{before}{values.time(entry)}{after}"
    return f"{entry.producer} -> {entry.consumer} {time}"


def _copies(document: Document, found: Sequence[Finding]) -> Iterator[Finding]:
    findings = [finding for finding in found if finding.label == "copies"]
    pairs = by_pair(entry for entry in document.measured if entry.is_exchange)
    if not pairs:
        return
    if len(findings) == 1:
        yield Finding("copies", findings[0].text)
        return
    copied = {
        pair: copies
        for pair, of_pair in pairs.items()
        if (copies := [entry for entry in of_pair if entry.outcome in COPIED])
    }
    if not copied:
        unproven = sum(any(e.outcome == "unproven" for e in of) for of in pairs.values())
        text = f"none of {count(len(pairs), 'measured pair')}"
        yield Finding("copies", text + (f"; {unproven} not proven" if unproven else ""))
        return
    owners = Counter(
        next((entry.copying_library for entry in of if entry.copying_library), "not known")
        for of in copied.values()
    )
    by = ", ".join(f"{name} {number}" for name, number in owners.most_common(4))
    by += f" and {len(owners) - 4} more" if len(owners) > 4 else ""
    text = f"{len(copied)} of {count(len(pairs), 'measured pair')}, by {by}"
    if rates := [rate for of in copied.values() if (rate := fastest_rate(of))]:
        text += f"; {values.extent(rates, values.rate)} GB/s"
    yield Finding("copies", text)


def _failures(document: Document, found: Sequence[Finding]) -> Iterator[Finding]:
    """The first failure, and the number of all cells that failed, as in the footer."""
    failed = [finding for finding in found if finding.label in FAILURES]
    cells = Counter(e.found for e in document.not_measured if not e.is_untimed)
    counted = ", ".join(f"{cells[label]} {label}" for label in FAILURES if cells[label])
    if not failed:
        # Only other cases of a case sweep failed; the table of the sweep lists them.
        yield from [Finding("fails", counted)] if counted else []
        return
    text = f"{failed[0].label} {failed[0].text}"
    if len(failed) > 1 or case_sweep.has_case_sweep(document):
        text += f"; in all {counted}"
    yield Finding("fails", text)


def serious_findings(found: Sequence[Finding]) -> Iterator[Finding]:
    # An order of imports without a command is that of a pair, and none failed.
    serious = [finding for finding in found if finding.label in SERIOUS and finding.command]
    labels = list(dict.fromkeys(finding.label for finding in serious))[:MOST_SERIOUS]
    unshown = {finding.label for finding in serious} - {*labels}
    for label in labels:
        first = next(finding for finding in serious if finding.label == label)
        # The last line counts those of the labels that are not shown.
        counted = {label} | (unshown if label == labels[-1] else set())
        others = sum(finding.label in counted for finding in serious) - 1
        yield Finding(label, first.text + (f"; and {others} more" if others else ""))


def _noise(document: Document) -> Iterator[Finding]:
    """The spread between processes, and how many cells were disturbed while they were timed."""
    measured = [entry for entry in document.measured if entry.is_exchange]
    if not measured:
        return
    known = [row.half_width for e in document.environments.values() for row in e.between_processes]
    text = "between processes not measured: each cell ran in one; --replicas 3 measures it"
    if known:
        text = f"{values.spread(max(known))} between processes"
        text = text if text.startswith("over ") else f"up to {text}"
    codes = Counter(code for code in DISTURBED for e in measured if e.warns_of(code))
    disturbed = sum(any(entry.warns_of(code) for code in DISTURBED) for entry in measured)
    if disturbed:
        why = codes.most_common(1)[0][0]
        text += f"; {disturbed} of {count(len(measured), 'cell')} disturbed (most: {why})"
    yield Finding("noise", text)
