"""Arrays that share memory, of which one may be written to and the other not."""

from __future__ import annotations

from collections.abc import Iterator

from dlbench.analysis import case_sweep
from dlbench.document import Document, Entry
from dlbench.environments.environment import DEFAULT
from dlbench.findings.finding import Finding, by_pair, limits, pairs_text
from dlbench.text.escaping import dlbench_command
from dlbench.text.grouping import grouped
from dlbench.text.layout import listing

#: The columns of the table by the value of `writable`.
COLUMNS = {"result": "only the result", "source": "only the source", "both": "both",
           "neither": "neither"}  # fmt: skip
HEAD = ("in", "from", *COLUMNS.values())
TITLE = "consumers by which array may be written to, where memory is shared"


def protection(entries: list[Entry], run: str) -> Iterator[Finding]:
    """The pairs in which only the result, or only the source, may be written to."""
    found = {word: [entry for entry in entries if entry.writable == word] for word in COLUMNS}
    parts = [(COLUMNS[word], found[word]) for word in ("result", "source") if found[word]]
    if parts:
        texts = [f"{what}: {pairs_text(entry.pair for entry in of)}" for what, of in parts]
        text = f"may be written to, {'; '.join(texts)}"
        yield Finding("protection", text, dlbench_command("show", run, *parts[0][1][0].pair))


def rows(document: Document, most: int = 1000) -> list[dict[str, str]]:
    """A row for each producer, with at most that many consumers in a column; empty without such a
    finding. Of a case sweep only the plain array counts."""
    is_sweep = case_sweep.has_case_sweep(document)
    known = [entry for entry in document.exchanges
             if entry.writable and (not is_sweep or entry.case == case_sweep.BASELINE)]  # fmt: skip
    if {entry.writable for entry in known} <= {"both", "neither"}:
        return []
    made = []
    producers = grouped(known, lambda entry: (entry.machine, entry.environment, entry.producer))
    for (machine, environment, producer), alike in sorted(producers.items()):
        where = ", ".join(name for name in (machine, environment) if name not in ("", DEFAULT))
        names: dict[str, list[str]] = {word: [] for word in COLUMNS}
        for (_, consumer), of_pair in sorted(by_pair(alike).items()):
            for word, these in grouped(of_pair, lambda entry: entry.writable).items():
                only = ", ".join(limit for limit in limits(of_pair, these) if limit)
                names[word].append(f"{consumer} ({only})" if only else consumer)
        texts = {COLUMNS[word]: listing(found, most) for word, found in names.items()}
        made.append({"in": where, "from": producer} | texts)
    return made
