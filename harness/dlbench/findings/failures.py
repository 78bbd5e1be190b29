"""Cells without a number: how they ended, and who has no such protocol."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from dlbench import cells, values
from dlbench.escaping import dlbench_command
from dlbench.findings.finding import Finding, Pair, by_pair, limits, pair_of, pairs_text
from dlbench.layout import listing
from dlbench.values import Entry

#: Outcomes without a number in the order in which they are told, and the verb that looks closer.
FAILURES = {
    "crashed": "debug",
    "timed-out": "debug",
    "wrong": "repro",
    "race": "repro",
    "import-failed": "show",
    "out-of-memory": "show",
    "refused": "repro",
    "unsupported": "repro",
    "no-device": "doctor",
    "not-run": "",
}
MOST_LINES = 8  #: of one outcome
ALIKE = 30  #: reasons that begin with as many equal letters differ in the array's name or size

#: Of a protocol without a word for devices: it tells of neither library.
ELSEWHERE = " asks for no other device"


def failures(
    entries: list[Entry],
    outcome: str,
    run: str,
    most_lines: int,
    asked: Mapping[Pair, list[Entry]],
) -> Iterator[Finding]:
    """`asked`: all cells of the run by pair, among which a command must name one."""
    # What takes too little time to be told from none is no failure.
    failed = [e for e in entries if e["outcome"] == outcome and not values.is_below(e)]
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for pair, of_pair in by_pair(failed).items():
        tried = [e for e in entries if pair_of(e) == pair]
        for why in dict.fromkeys(values.reason(entry)[:ALIKE] for entry in of_pair):
            same = [entry for entry in of_pair if values.reason(entry).startswith(why)]
            only = ", ".join(limit for limit in limits(tried, same) if limit)
            groups[why, only].extend(same)
    lines = sorted(groups.items(), key=lambda item: -len(item[1]))
    for (_, only), same in lines[:most_lines]:
        pairs = pairs_text(pair_of(entry) for entry in same)
        where = f"{pairs} ({only})" if only else pairs
        first = next((entry for entry in same if entry["protocol"] == "dlpack"), same[0])
        why = values.reason(first)
        command = _next_command(outcome, first, run, asked[pair_of(first)])
        yield Finding(outcome, f"{where}: {why}", command)
    if len(lines) > most_lines:
        more = f"and {len(lines) - most_lines} more reasons"
        yield Finding(outcome, more, dlbench_command("show", run))


def _next_command(outcome: str, entry: Entry, run: str, pair: list[Entry]) -> str:
    verb = FAILURES[outcome]
    if outcome == "not-run":
        # What was merged cannot be gone on with.
        return "" if "machine" in entry else dlbench_command("--resume", run)
    if verb == "doctor":
        return "dlbench doctor"
    if not verb:
        return ""
    words = [*pair_of(entry), *cells.words_for(entry, pair)]
    return dlbench_command(verb, run, *words)


def no_protocol(entries: list[Entry]) -> Iterator[Finding]:
    """One line a protocol: who never takes it, who never offers it, and the pairs in between.

    Whose doing it is stands in the reason alone: among a few pairs, one half may have no other.
    """
    here = [e for e in entries if e["outcome"] not in ("no-device", "not-installed")]
    for protocol in dict.fromkeys(entry["protocol"] for entry in here):
        asked = [entry for entry in here if entry["protocol"] == protocol]
        never = _always(asked, "consumer", f" has no call for {protocol}")
        asked = [entry for entry in asked if entry["consumer"] not in never]
        silent = _always(asked, "producer", f" offers no {protocol}")
        asked = [entry for entry in asked if entry["producer"] not in silent]
        pairs = [pair_of(entry) for entry in asked if entry["outcome"] == "no-protocol"]
        said = [f"not taken by {listing(never, 12)}"] if never else []
        said += [f"not offered by {listing(silent, 12)}"] if silent else []
        said += [pairs_text(pairs)] if pairs else []
        if said:
            yield Finding("no-protocol", f"{protocol}: {'; '.join(said)}")


def _always(entries: list[Entry], role: str, why: str) -> list[str]:
    """The libraries in that role of which all entries give this reason."""
    told = [entry for entry in entries if not _is_because(entry, ELSEWHERE)]
    others = {entry[role] for entry in told if not _is_because(entry, why)}
    return sorted({entry[role] for entry in told} - others)


def _is_because(entry: Entry, why: str) -> bool:
    # NumPy's dispatch tells behind it what it makes of the array instead.
    before, _, _ = values.reason(entry).partition(": ")
    return entry["outcome"] == "no-protocol" and before.endswith(why)
