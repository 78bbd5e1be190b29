"""The page's tables above and below the matrix: findings, copies, refusals and the case sweep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlbench import findings, values
from dlbench.analysis import case_sweep
from dlbench.document import Document, Entry, EnvironmentFacts, Measured, NotMeasured
from dlbench.document.facts import COPIED, DULL, NATIVE, fastest_rate, is_refused
from dlbench.findings import FAILURES, Finding, pairs_text
from dlbench.findings.summary import summarize
from dlbench.text.escaping import dlbench_command
from dlbench.text.grouping import grouped
from dlbench.text.layout import count

Row = dict[str, object]
#: Lines of the summary that only the findings have, so that the matrix is on the first screen.
BELOW = ("alignment", "protection", "not installed")
#: The section of the page that has the cells of a line of the summary.
SECTIONS = {"speed": "matrix", "copies": "copies", "fails": "refusals"}
ARROW = "\u2192"
#: Outcomes of pairs without a common protocol: folded below the table of reasons.
FOLDED = ("no-protocol", "no-device", "not installed")
#: Outcomes for which the findings have only the number of reasons, because the table of reasons
#: lists them.
COUNTED = ("refused", "unsupported", "not-run")
MOST_REASONS = 2  #: limit of reasons in the findings, for each outcome
MOST_CELLS = 50  #: limit of cells that the page lists by name, for each warning


@dataclass(frozen=True)
class Refusal:
    """One reason why cells have no number. `names`: the pairs' libraries; `first`: the number of
    its first cell."""

    outcome: str
    protocol: str
    device: str
    reason: str
    pairs: str
    names: str
    cells: int
    first: int


def portable(command: str, environments: Iterable[EnvironmentFacts]) -> str:
    """The command with PYTHON in place of each interpreter's path."""
    for facts in environments:
        if facts.executable:
            command = re.sub(rf"(?<==){re.escape(facts.executable)}(?=['\s]|$)", "PYTHON", command)
    return command


def summary(document: Document, name: str) -> list[Row]:
    """The answer that a run ends with on the terminal. `name`: the run's name in commands."""
    rows: list[Row] = []
    for machine, share in document.shares():
        where = f"{machine}: " if machine else ""
        all_of = findings.find(share, name)
        made = summarize(share, all_of)
        pairs = [speed.slowest.pair for speed in made.speeds]
        commands = [dlbench_command("show", name, *pair) for pair in pairs]
        first = _commands(all_of, share)
        commands += [first.get(one.label, "") for one in made.findings]
        rows += [
            {"label": one.label, "text": values.with_signs(where + one.text.replace("->", ARROW)),
             "command": command, "section": SECTIONS.get(one.label)}
            for one, command in zip(made.lines(), commands, strict=True)
            if one.label not in BELOW
        ]  # fmt: skip
    return rows


def _commands(found: Iterable[Finding], share: Document) -> dict[str, str]:
    """By label, and for all failures together, the first command."""
    commands: dict[str, str] = {}
    for one in found:
        for label in (one.label, "fails") if one.label in FAILURES else (one.label,):
            if one.command:
                commands.setdefault(label, portable(one.command, share.environments.values()))
    return commands


def found(document: Document, name: str, refused: Sequence[Refusal]) -> tuple[list[Row], list[str]]:
    """The findings, then the folded ones as lines. `name`: the run's name in commands. Copies are
    in the summary, and effects of imports beside the environment."""
    rows: list[Row] = []
    folded: list[str] = []
    commands: dict[str, str] = {}
    for machine, share in document.shares():
        where = f"{machine}: " if machine else ""
        all_of = findings.find(share, name)
        commands = _commands(all_of, share) | commands
        for one in all_of:
            text = values.with_signs(where + one.text.replace("->", ARROW))
            if one.label in FOLDED:
                folded.append(f"{one.label}: {text}")
            elif one.label not in ("copies", *COUNTED) and not one.label.startswith("imports"):
                command = portable(one.command, share.environments.values())
                rows.append({"label": one.label, "text": text, "command": command})
    noise = {"noise", *(code.replace("-", " ") for code in findings.DISTURBED)}
    disturbed = [row for row in rows if row["label"] in noise]
    results = [row for row in rows if row not in disturbed]
    observed = {str(row["label"]) for row in results}
    return [*results, *_counted(refused, observed, commands), *disturbed], folded


def _counted(
    refused: Iterable[Refusal], observed: Container[str], commands: Mapping[str, str]
) -> Iterator[Row]:
    """Outcomes without a number that no finding lists, including those of a case sweep."""
    for outcome, rows in grouped(refused, lambda row: row.outcome).items():
        if outcome in observed:
            continue
        cells, reasons = sum(row.cells for row in rows), count(len(rows), "reason")
        texts = [f"{row.pairs}: {row.reason}" for row in rows]
        if len(rows) > MOST_REASONS:
            texts = [f"{count(cells, 'cell')}, {reasons}"]
        for text in texts:
            command = commands.get(outcome, "")
            yield {"label": outcome, "text": text, "command": command, "section": "refusals"}


def _copied(document: Document) -> list[tuple[int, Measured]]:
    """Exchanges that copy, each with its index. Of a case sweep only the plain array counts."""
    sweeps = case_sweep.has_case_sweep(document)
    return [
        (place, entry)
        for place, entry in enumerate(document.measured)
        if entry.is_exchange and entry.outcome in COPIED
        and (not sweeps or entry.case == case_sweep.BASELINE)
    ]  # fmt: skip


def copies(document: Document) -> list[Row]:
    """Pairs that copy, by the library that copies. Of a case sweep only the plain array counts."""
    copied = _copied(document)

    def key(item: tuple[int, Measured]) -> tuple[str, ...]:
        entry = item[1]
        return (entry.copying_library, entry.consumer, entry.device, entry.case,
                entry.environment, entry.machine)  # fmt: skip

    rows = []
    for (owner, _, device, case, environment, machine), members in sorted(
        grouped(copied, key).items()
    ):
        alike = [entry for _, entry in members]
        rates = [
            rate
            for pair in grouped(alike, lambda e: e.pair).values()
            if (rate := fastest_rate(pair))
        ]
        sizes = sorted({entry.bytes for entry in alike})
        places = [one for one in (device, environment, machine) if one not in ("", "default")]
        rows.append({
            "pairs": pairs_text(entry.pair for entry in alike).replace("->", ARROW),
            "by": owner or "unknown",
            "protocols": ", ".join(dict.fromkeys(entry.protocol for entry in alike)),
            "where": ", ".join(places),
            "case": case,
            "sizes": " .. ".join(map(values.size, dict.fromkeys((sizes[0], sizes[-1])))),
            "rate": _span(rates),
            "first": members[0][0],
        })  # fmt: skip
    return rows


def _span(rates: Sequence[float]) -> str:
    return f"{values.extent(rates, values.rate, ' .. ')} GB/s" if rates else ""


def fallbacks(document: Document) -> list[Row]:
    """The rows of the case sweep, as on the terminal: cases whose outcome differs from the plain
    array's."""
    rows: list[Row] = []
    if not case_sweep.has_case_sweep(document):
        return rows
    for machine, share in document.shares():
        for one in case_sweep.fallbacks(case_sweep.case_sweeps(share.entries)):
            pairs = pairs_text(one.pairs).replace("->", ARROW) if one.pairs else one.producer
            places = [part for part in (one.device, one.environment, machine)
                      if part not in ("", "default")]  # fmt: skip
            rows.append({"pairs": pairs, "becomes": one.becomes, "rate": _span(one.rates),
                         "protocols": ", ".join(one.protocols), "where": ", ".join(places),
                         "cases": one.spelled})  # fmt: skip
    return rows


def warnings(entries: Sequence[Entry]) -> list[Row]:
    """A row for each warning's code, with its first text and the cells; most cells first."""
    found = [(place, one) for place, entry in enumerate(entries) for one in entry.warnings]
    by_code = grouped(found, lambda item: item[1].code)
    rows: list[Row] = []
    for code, members in sorted(by_code.items(), key=lambda item: (-len(item[1]), item[0])):
        places = list(dict.fromkeys(place for place, _ in members))
        pairs = pairs_text(entries[place].pair for place in places).replace("->", ARROW)
        rows.append({"code": code, "text": values.warning_meaning(members[0][1]), "pairs": pairs,
                     "count": len(places), "cells": places[:MOST_CELLS]})  # fmt: skip
    return rows


def refusals(missing: Sequence[NotMeasured], first: int) -> list[Refusal]:
    """A row for each cause of cells without a number, over all protocols and devices, with the
    first cell's reason. `first`: the number of the first cell without a number."""
    refused = [(place, entry) for place, entry in enumerate(missing) if is_refused(entry)]
    causes = grouped(refused, lambda item: (item[1].outcome, item[1].cause))
    # Equal texts of several libraries share a row.
    groups = grouped(
        sorted(causes.values(), key=lambda of: (_place(of[0][1].outcome), of[0][0])),
        lambda of: (of[0][1].outcome, values.shared_reason([entry for _, entry in of])),
    )
    rows = []
    for (outcome, reason), alike_causes in groups.items():
        # Prefer a script without the native library, so that it needs no dlbench.
        members = sorted(
            (item for of in alike_causes for item in of), key=lambda item: NATIVE in item[1].pair
        )
        alike = [entry for _, entry in members]
        pairs = {entry.pair for entry in alike}
        rows.append(Refusal(
            outcome=outcome,
            protocol=", ".join(dict.fromkeys(entry.protocol for entry in alike)),
            device=", ".join(dict.fromkeys(entry.device for entry in alike)),
            reason=reason,
            pairs=pairs_text(pairs).replace("->", ARROW),
            names=" ".join(sorted({name for pair in pairs for name in pair})),
            cells=len(alike),
            first=first + members[0][0],
        ))  # fmt: skip
    return rows


def _place(outcome: str) -> int:
    order = list(FAILURES)
    return order.index(outcome) if outcome in order else 0


def folded(missing: Sequence[NotMeasured], lines: Sequence[str]) -> Row:
    """Pairs without a common protocol or device: the number of cells, and the lines."""
    dull = Counter(e.outcome for e in missing if e.outcome in DULL)
    counts = ", ".join(f"{many} {outcome}" for outcome, many in dull.most_common())
    return {"counts": counts, "lines": list(lines)}
