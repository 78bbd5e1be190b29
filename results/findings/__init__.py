"""The findings of a run, one in each line, each with the next command to type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from dlbench import values
from dlbench.analysis import case_sweep, cells, phases
from dlbench.document import LATEST, Document, Entry, Measured, NotMeasured, Pair, Run, codes
from dlbench.environments.environment import DEFAULT
from dlbench.findings import grouping
from dlbench.findings.calls import bindings
from dlbench.findings.copies import alignment, copies, writes
from dlbench.findings.failures import FAILURES, FAULTS, MOST_LINES, failures, no_protocol
from dlbench.findings.finding import Finding, pairs_text
from dlbench.findings.hidden import hidden_work
from dlbench.findings.import_effects import foreign_types, import_effects
from dlbench.findings.losses import losses
from dlbench.findings.noise import DISTURBED, disturbed, noise
from dlbench.findings.writable import protection
from dlbench.sync import captures
from dlbench.sync import table as waiting
from dlbench.text.escaping import dlbench_command
from dlbench.text.grouping import grouped
from dlbench.text.layout import count

__all__ = ["DISTURBED", "FAILURES", "FAULTS", "MOST_LINES", "Finding", "find", "graph_captures",
           "pairs_text", "waits"]  # fmt: skip


def find(document: Document, run: str = LATEST, most_lines: int = MOST_LINES) -> list[Finding]:
    """All findings, with a maximum number for each outcome. `run`: the run's name in commands."""
    # A phase shares the verdict of its exchange and is not listed again.
    entries = document.exchanges
    all_cases = grouping.places(document, entries)
    if case_sweep.has_case_sweep(document):
        entries = [entry for entry in entries if entry.case == case_sweep.BASELINE]
    places = grouping.places(document, entries)
    found = [*grouping.group_findings(places, partial(losses, run=run))]
    found += grouping.group_findings(places, partial(protection, run=run))
    found += grouping.group_findings(all_cases, partial(copies, run=run, document=document))
    found += alignment(document.exchanges)
    found += grouping.group_findings(places, partial(writes, run=run))
    found += bindings(document, run)
    found += waits(document, entries, run)
    found += graph_captures(document, entries, run)
    run_cells = document.by_pair
    found += _slowest(document, run, run_cells)
    for outcome in FAILURES:
        failing = partial(
            failures,
            outcome=outcome,
            document=document,
            run=run,
            most_lines=most_lines,
            run_cells=run_cells,
        )
        # The table of a case sweep lists the other cases; only faults are findings of all cases.
        found += grouping.group_findings(all_cases if outcome in FAULTS else places, failing)
    found += grouping.group_findings(places, no_protocol)
    found += _import_order(document, entries, run, run_cells)
    found += import_effects(document)
    found += foreign_types(entries)
    found += _environments(document, entries)
    found += _absent(document.run, entries)
    found += _dropped(document.run, run)
    found += hidden_work(entries, run)
    request = document.run.request
    found += grouping.group_findings(places, partial(disturbed, request=request))
    found += noise(document.run)
    return found


def _environments(document: Document, entries: list[Entry]) -> Iterator[Finding]:
    """The entries whose run ended before their libraries were known."""
    for name, facts in document.environments.items():
        if facts.failure and not any(entry.environment == name for entry in entries):
            command = dlbench_command("doctor", "--env", f"{name}={facts.executable}")
            yield Finding("environment", f"{name}: {facts.failure}", command)


def waits(document: Document, entries: list[Entry], run: str) -> list[Finding]:
    """How each producer's pending work is waited for; with `--sync` also the measured pairs without
    an answer.
    """
    places = grouping.places(document, entries)
    found = [*grouping.group_findings(places, partial(_waits, run=run))]
    answered = {
        entry.pair
        for entry in entries
        if entry.sync or any(warning.code == codes.SYNC_FAILED for warning in entry.warnings)
    }
    rest = {entry.pair for entry in entries if isinstance(entry, Measured)} - answered
    if rest and document.run.request.sync:
        text = f"{pairs_text(rest)}: not tested, dlbench cannot keep the producer busy"
        found.append(Finding("sync", text))
    return found


def graph_captures(document: Document, entries: list[Entry], run: str) -> Iterator[Finding]:
    """With `--capture`: can the measured pairs be exchanged while the consumer's stream captures a
    graph?
    """
    for text, pairs in captures.summarize(entries):
        command = dlbench_command("show", run, *pairs[0])
        yield Finding("capture", f"{pairs_text(pairs)}: {text}", command)
    tried = {entry.pair for entry in entries if entry.capture}
    rest = {entry.pair for entry in entries if isinstance(entry, Measured)} - tried
    if rest and document.run.request.capture:
        text = f"{pairs_text(rest)}: not tried, a graph capture needs --devices cuda:0 or rocm:0"
        yield Finding("capture", text)


def _waits(entries: list[Entry], run: str) -> Iterator[Finding]:
    """Libraries whose calls hold the host while the producer is busy, and libraries whose calls do
    not.
    """
    for text, (producer, consumer) in waiting.summarize(entries):
        yield Finding("sync", text, dlbench_command("show", run, producer, consumer))


def _slowest(
    document: Document, run: str, run_cells: Mapping[Pair, list[Entry]]
) -> Iterator[Finding]:
    found = phases.slowest(document)
    if found is None:
        return
    entry, part = found
    call = part.what.partition("(")[0]
    times = f"{values.duration(part.ns)} of {values.duration(entry.phases.exchange_ns)}"
    text = f"{pairs_text([entry.pair])}: {times} is {part.phase} ({call})"
    words = [*entry.pair, *cells.words_for(entry, run_cells[entry.pair])]
    name = entry.environment
    if name != DEFAULT:
        python = document.environment(name).executable or "PYTHON"
        words += ["--env", f"{name}={python}"]
    yield Finding("slowest", text, dlbench_command("explain", run, *words))


def _import_order(
    document: Document, entries: list[Entry], run: str, run_cells: Mapping[Pair, list[Entry]]
) -> Iterator[Finding]:
    """Libraries that crash after another, and the order of a pair that was requested by name."""
    crashed: dict[tuple[tuple[str, str], ...], tuple[str, Entry]] = {}
    for entry in entries:
        for warning in entry.warnings:
            if warning.code == codes.IMPORT_ORDER:
                crashed.setdefault(tuple(sorted(warning.data.items())), (warning.text, entry))
    for _, (text, entry) in sorted(crashed.items(), key=lambda item: item[0]):
        words = [*entry.pair, *cells.words_for(entry, run_cells[entry.pair])]
        yield Finding("import order", text, dlbench_command("repro", run, *words, "--imports"))
    orders = {tuple(entry.imports) for entry in entries if entry.imports}
    if document.run.request.is_pair and not crashed and len(orders) == 1:
        order = ", then ".join(orders.pop())
        yield Finding("import order", f"{order}; the other order was not tried")


def _dropped(of: Run, run: str) -> Iterator[Finding]:
    """Lines of the journal that cannot be read, so that cells are lost."""
    if of.dropped:
        lines = count(of.dropped.lines, "line")
        text = f"{lines} of the journal cannot be read: {of.dropped.first}"
        yield Finding("journal", text, of.resume_command(run))


def _absent(of: Run, entries: list[Entry]) -> Iterator[Finding]:
    if of.not_installed:
        named = ", ".join(f"{name} ({why})" for name, why in sorted(of.not_installed.items()))
        yield Finding("not installed", named, "dlbench list")
        return
    missing = (e for e in entries if isinstance(e, NotMeasured) and e.outcome == "not-installed")
    for _, alike in sorted(grouped(missing, lambda entry: entry.cause).items()):
        yield Finding("not installed", values.reason(alike[0]), "dlbench list")
