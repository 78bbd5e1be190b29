"""Findings about cells without a number, and about libraries without a protocol."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from dlbench import values
from dlbench.analysis import cells
from dlbench.document import Document, Entry, NotMeasured, Pair, codes
from dlbench.findings.finding import Finding, by_pair, limits, pairs_text
from dlbench.text.escaping import dlbench_command
from dlbench.text.grouping import grouped
from dlbench.text.layout import listing

#: Outcomes without a number, in the order of the lines, and the verb for details. A busy machine
#: alone can make a call time out.
FAILURES = {
    "crashed": "debug",
    "wrong": "repro",
    "race": "repro",
    "timed-out": "debug",
    "import-failed": "show",
    "out-of-memory": "show",
    "refused": "repro",
    "unsupported": "repro",
    "no-device": "doctor",
    "not-run": "",
}
#: Failures that are examined before the slowest pair, and in every case of a case sweep.
FAULTS = ("crashed", "wrong", "race", "timed-out")
MOST_LINES = 8  #: of one outcome


def failures(
    entries: list[Entry],
    outcome: str,
    document: Document,
    run: str,
    most_lines: int,
    run_cells: Mapping[Pair, list[Entry]],
) -> Iterator[Finding]:
    """`run_cells`: all cells of the run by pair, which a command must distinguish."""
    # Neither an exchange that is too short for the clock nor a case that needs no time is one.
    failed = [
        entry
        for entry in entries
        if isinstance(entry, NotMeasured)
        and entry.outcome == outcome
        and not (entry.is_below or entry.is_untimed)
    ]
    groups: dict[tuple[tuple[str, ...], str], list[NotMeasured]] = defaultdict(list)
    tried_of = by_pair(entries) if failed else {}
    for pair, of_pair in by_pair(failed).items():
        tried = tried_of[pair]
        for cause, same in grouped(of_pair, lambda entry: entry.cause).items():
            only = ", ".join(limit for limit in limits(tried, same) if limit)
            groups[cause, only].extend(same)
    lines = sorted(groups.items(), key=lambda item: -len(item[1]))
    for (cause, only), same in lines[:most_lines]:
        pairs = pairs_text(entry.pair for entry in same)
        where = f"{pairs} ({only})" if only else pairs
        first = next((entry for entry in same if entry.protocol == "dlpack"), same[0])
        why = values.shared_reason([first, *same])
        command = _next_command(outcome, first, document, run, run_cells[first.pair])
        yield Finding(outcome, f"{where}: {why}", command, (where, *cause))
    if len(lines) > most_lines:
        more = f"and {len(lines) - most_lines} more reasons"
        yield Finding(outcome, more, dlbench_command("show", run))


def _next_command(
    outcome: str, entry: Entry, document: Document, run: str, pair: list[Entry]
) -> str:
    verb = FAILURES[outcome]
    if outcome == "not-run":
        # A merged run cannot be resumed.
        return "" if entry.machine else document.run.resume_command(run)
    if verb == "doctor":
        return "dlbench doctor"
    if not verb:
        return ""
    words = [*entry.pair, *cells.words_for(entry, pair)]
    return dlbench_command(verb, run, *words)


def no_protocol(entries: list[Entry]) -> Iterator[Finding]:
    """One line for each protocol: consumers that never import it, producers that never offer it,
    and other pairs. The codes show the library at fault; the cells cannot if there are few pairs.
    """
    here = [e for e in entries if e.outcome not in ("no-device", "not-installed")]
    for protocol in dict.fromkeys(entry.protocol for entry in here):
        tried = [entry for entry in here if entry.protocol == protocol]
        never = _always(tried, "consumer", {codes.NOT_IMPORTED})
        tried = [entry for entry in tried if entry.consumer not in never]
        silent = _always(tried, "producer", {codes.NOT_EXPORTED, codes.CONVERTED})
        tried = [entry for entry in tried if entry.producer not in silent]
        pairs = [entry.pair for entry in tried if entry.outcome == "no-protocol"]
        parts = [f"not imported by {listing(never, 12)}"] if never else []
        parts += [f"not offered by {listing(silent, 12)}"] if silent else []
        parts += [pairs_text(pairs)] if pairs else []
        if parts:
            yield Finding("no-protocol", f"{protocol}: {'; '.join(parts)}")


def _always(entries: list[Entry], role: str, reasons: set[str]) -> list[str]:
    """The libraries in that role of which all entries have one of these codes."""
    # A protocol without an argument for the device is not the fault of a library.
    own = [entry for entry in entries if entry.code != codes.NO_DEVICE_ARGUMENT]
    others = {entry.axis(role) for entry in own if entry.code not in reasons}
    return sorted({str(entry.axis(role)) for entry in own if entry.axis(role) not in others})
