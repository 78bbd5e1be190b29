"""The lines under the matrix: one a finding, each with the next command to type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from dlbench import cells, ladder, phases, placed, values
from dlbench import document as documents
from dlbench.environments.environment import DEFAULT
from dlbench.escaping import dlbench_command
from dlbench.findings.copies import copies, writes
from dlbench.findings.failures import FAILURES, MOST_LINES, failures, no_protocol
from dlbench.findings.finding import Finding, Pair, by_pair, pair_of, pairs_text
from dlbench.findings.losses import losses
from dlbench.findings.noise import DISTURBED, disturbed, noise
from dlbench.layout import count
from dlbench.profiling import hidden
from dlbench.sync import table as waiting
from dlbench.values import Entry

IMPORT_ORDER = "import order: "  #: begins a cell's warning

__all__ = ["DISTURBED", "FAILURES", "MOST_LINES", "Finding", "find", "pairs_text"]


def find(
    document: dict[str, Any], run: str = documents.LATEST, most_lines: int = MOST_LINES
) -> list[Finding]:
    """All findings, at most so many of one outcome. `run` is what the commands call this run."""
    # A phase shares the verdict of its exchange, and need not be told again.
    entries = [e for e in documents.entries(document) if e.get("phase", "exchange") == "exchange"]
    if ladder.is_climbed(document):
        entries = [entry for entry in entries if entry["case"] == ladder.BASELINE]
    floors, places = documents.copy_floors(document), placed.places(document, entries)
    found = [*placed.told(places, partial(losses, run=run))]
    found += placed.told(places, partial(copies, run=run, floors=floors))
    found += placed.told(places, partial(writes, run=run))
    found += placed.told(places, partial(_waits, run=run))
    asked = by_pair(documents.entries(document))
    found += _dearest(document, run, asked)
    for outcome in FAILURES:
        failing = partial(failures, outcome=outcome, run=run, most_lines=most_lines, asked=asked)
        found += placed.told(places, failing)
    found += placed.told(places, no_protocol)
    found += _import_order(document, entries)
    found += _environments(document, entries)
    found += _absent(documents.about(document), entries)
    found += _dropped(documents.about(document), run)
    found += [Finding(*each) for each in hidden.told(entries, run, pairs_text)]
    asked_of_run = documents.about(document).get("request", {})
    found += placed.told(places, partial(disturbed, asked=asked_of_run))
    found += noise(documents.about(document))
    return found


def _environments(document: dict[str, Any], entries: list[Entry]) -> Iterator[Finding]:
    """Those that ended before any of their libraries could be named."""
    for name, told in documents.environments(document).items():
        if "failure" in told and not any(entry["environment"] == name for entry in entries):
            environment = f"{name}={told.get('executable', '')}"
            command = dlbench_command("doctor", "--env", environment)
            yield Finding("environment", f"{name}: {told['failure']}", command)


def _waits(entries: list[Entry], run: str) -> Iterator[Finding]:
    """Whose calls hold the host while the producer is busy, and whose do not."""
    for text, (producer, consumer) in waiting.said(entries):
        yield Finding("who waits", text, dlbench_command("show", run, producer, consumer))


def _dearest(
    document: dict[str, Any], run: str, asked: Mapping[Pair, list[Entry]]
) -> Iterator[Finding]:
    found = phases.dearest(document)
    if found is None:
        return
    entry, part = found
    call = part["what"].partition("(")[0]
    times = f"{values.duration(part['ns'])} of {values.duration(entry['phases']['exchange_ns'])}"
    text = f"{pairs_text([pair_of(entry)])}: {times} is {part['phase']} ({call})"
    words = [*pair_of(entry), *cells.words_for(entry, asked[pair_of(entry)])]
    name = entry["environment"]
    if name != DEFAULT:
        python = documents.environments(document).get(name, {}).get("executable", "PYTHON")
        words += ["--env", f"{name}={python}"]
    yield Finding("dearest", text, dlbench_command("explain", run, *words))


def _import_order(document: dict[str, Any], entries: list[Entry]) -> Iterator[Finding]:
    """Libraries that crash after another, and the order of a pair that was asked for by name."""
    told = sorted({w for e in entries for w in e.get("warnings", []) if w.startswith(IMPORT_ORDER)})
    for text in told:
        yield Finding("import order", text.removeprefix(IMPORT_ORDER))
    asked = documents.about(document).get("request", {}).get("couple")
    orders = {tuple(entry["imports"]) for entry in entries if "imports" in entry}
    if asked and not told and len(orders) == 1:
        order = ", then ".join(orders.pop())
        yield Finding("import order", f"{order}; the other order was not tried")


def _dropped(about: dict[str, Any], run: str) -> Iterator[Finding]:
    """Lines of the journal that were lost, and with them cells."""
    dropped = about.get("dropped")
    if dropped is not None:
        lines = count(dropped["lines"], "line")
        text = f"{lines} of the journal cannot be read: {dropped['first']}"
        yield Finding("journal", text, dlbench_command("--resume", run))


def _absent(about: dict[str, Any], entries: list[Entry]) -> Iterator[Finding]:
    absent: dict[str, str] = about.get("absent", {})
    if absent:
        named = ", ".join(f"{name} ({why})" for name, why in sorted(absent.items()))
        yield Finding("not installed", named, "dlbench list")
        return
    for why in sorted({values.reason(e) for e in entries if e["outcome"] == "not-installed"}):
        yield Finding("not installed", why, "dlbench list")
