"""The lines under the matrix: one a finding, each with the next command to type."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dlbench import cells, ladder, phases, placed, values
from dlbench import document as documents
from dlbench.layout import listing
from dlbench.profiling import hidden
from dlbench.sync import table as waiting
from dlbench.values import Entry

Pair = tuple[str, str]

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
#: Warnings of a cell's rounds: what they mean for its number, and what to do about it.
DISTURBED = {
    "few rounds": ("fewer than six rounds: no interval", "dlbench {pair} --budget 120s"),
    "bimodal": ("the rounds fall into two groups: the median is one of them", "dlbench doctor"),
    "drift": ("the rounds rise or fall while they run", "dlbench {pair} --replicas 6"),
    "migrated core": ("a third of the rounds changed their core", "dlbench doctor"),
    "preempted": ("a third of the rounds lost their core to others", "dlbench doctor"),
    "slow CPU": ("a third of the rounds ran on a slowed core", "dlbench doctor"),
}
MOST_LINES = 8  #: of one outcome
#: How the line says it where a pair copies in one kind of array only.
WHEN = {
    "f32-unaligned": "when not aligned",
    "f32-strided": "when strided",
    "f32-readonly": "when read-only",
}
ALIKE = 30  #: reasons that begin with as many equal letters differ in the array's name or size


@dataclass(frozen=True)
class Finding:
    """`label` says what was found, `text` where and why, `command` what to type next."""

    label: str
    text: str
    command: str = ""


def pairs_text(pairs: Iterable[Pair]) -> str:
    """ "a, b -> c; d -> e, f": producers with the same consumers stand together."""
    consumers: dict[str, list[str]] = defaultdict(list)
    for producer, consumer in sorted(set(pairs)):
        consumers[producer].append(consumer)
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for producer, targets in consumers.items():
        together[tuple(targets)].append(producer)
    groups = [f"{listing(sources, 4)} -> {listing(to, 4)}" for to, sources in together.items()]
    return "; ".join(groups[:3]) + (f"; and {len(groups) - 3} more" if len(groups) > 3 else "")


def find(
    document: dict[str, Any], run: str = documents.LATEST, most_lines: int = MOST_LINES
) -> list[Finding]:
    """All findings, at most so many of one outcome. `run` is what the commands call this run."""
    quoted = shlex.quote(run)
    # A phase shares the verdict of its exchange, and need not be told again.
    entries = [e for e in documents.entries(document) if e.get("phase", "exchange") == "exchange"]
    if ladder.is_climbed(document):
        entries = [entry for entry in entries if entry["case"] == ladder.BASELINE]
    floors, places = documents.copy_floors(document), placed.places(document, entries)
    found = [*placed.told(places, lambda place: _copies(place.entries, quoted, floors))]
    found += placed.told(places, lambda place: _writes(place.entries, quoted))
    found += placed.told(places, lambda place: _waits(place.entries, quoted))
    found += _dearest(document, quoted)
    for outcome in FAILURES:
        found += placed.told(places, _failing(outcome, quoted, most_lines))
    found += placed.told(places, lambda place: _no_protocol(place.entries))
    found += _environments(document, entries)
    found += _absent(documents.about(document), entries)
    found += [Finding(*each) for each in hidden.told(entries, quoted, pairs_text)]
    found += placed.told(places, lambda place: _disturbed(place.entries))
    found += _noise(documents.about(document))
    return found


def _environments(document: dict[str, Any], entries: list[Entry]) -> Iterator[Finding]:
    """Those that ended before any of their libraries could be named."""
    for name, told in documents.environments(document).items():
        if "failure" in told and not any(entry["environment"] == name for entry in entries):
            command = f"dlbench doctor --env {name}={shlex.quote(told.get('executable', ''))}"
            yield Finding("environment", f"{name}: {told['failure']}", command)


def _by_pair(entries: Iterable[Entry]) -> dict[Pair, list[Entry]]:
    pairs: dict[Pair, list[Entry]] = defaultdict(list)
    for entry in entries:
        pairs[_pair(entry)].append(entry)
    return pairs


def _some(all_of: Iterable[Any], these: Iterable[Any], text: Callable[[Any], str] = str) -> str:
    """Names these where they are not all."""
    chosen = set(these)
    return "" if set(all_of) <= chosen else ", ".join(text(item) for item in sorted(chosen))


def _copies(
    entries: list[Entry], run: str, floors: dict[str, dict[str, float]]
) -> Iterator[Finding]:
    measured = [entry for entry in entries if values.is_measured(entry)]
    groups: dict[tuple[str, ...], list[tuple[Pair, list[Entry]]]] = defaultdict(list)
    for pair, of_pair in _by_pair(measured).items():
        copied = [entry for entry in of_pair if entry["outcome"] in values.COPIED]
        if not copied:
            continue
        who = next((entry["copied_by"] for entry in copied if entry.get("copied_by")), "")
        owner = {"producer": pair[0], "consumer": pair[1]}.get(who, "")
        key = (
            owner or pair[1],
            f"by {owner}" if owner else "",
            _some((e["protocol"] for e in of_pair), (e["protocol"] for e in copied)),
            _some((e["case"] for e in of_pair), (e["case"] for e in copied)),
            _some((e["bytes"] for e in of_pair), (e["bytes"] for e in copied), values.size),
            _some((e["device"] for e in of_pair), (e["device"] for e in copied)),
        )
        groups[key].append((pair, copied))
    for (_, by, *limits), members in sorted(groups.items()):
        copied = [entry for _, of_pair in members for entry in of_pair]
        when = [WHEN[limit] for limit in limits if limit in WHEN]
        said = [f"only {limit}" for limit in limits if limit and limit not in WHEN]
        said += [by] if by else []
        rates = [rate for _, of_pair in members if (rate := _speed(of_pair))]
        if rates:
            low, high = values.rate(min(rates)), values.rate(max(rates))
            where = " in cache" if all("in cache" in e.get("warnings", []) for e in copied) else ""
            beside = values.floors(floors.get(copied[0]["environment"], {}), copied[0]["device"])
            speed = low if low == high else f"{low}..{high}"
            said.append(f"{speed} GB/s{where}{beside}")
        if any(entry.get("late_read") for entry in copied):
            said.append("still reading the source after it returned")
        text = " ".join([pairs_text(pair for pair, _ in members), *when])
        producer, consumer = members[0][0]
        command = f"dlbench show {run} {producer} {consumer}"
        yield Finding("copies", f"{text}: {', '.join(said)}" if said else text, command)


def _writes(entries: list[Entry], run: str) -> Iterator[Finding]:
    """Whoever writes into an array that was only lent."""
    wrote = [e for e in entries if e.get("seen", {}).get("guard", {}).get("written", 0)]
    for pair, of_pair in _by_pair(wrote).items():
        said = [w for entry in of_pair for w in entry.get("warnings", []) if " wrote into " in w]
        if said:
            command = f"dlbench show {run} {pair[0]} {pair[1]}"
            yield Finding("writes", f"{pairs_text([pair])}: {said[0]}", command)


def _waits(entries: list[Entry], run: str) -> Iterator[Finding]:
    """Whose calls hold the host while the producer is busy, and whose do not."""
    for text, (producer, consumer) in waiting.said(entries):
        yield Finding("who waits", text, f"dlbench show {run} {producer} {consumer}")


def _speed(copied: list[Entry]) -> float:
    """A pair's GB/s at its largest size, where the call itself weighs least."""
    timed = [entry for entry in copied if entry.get("gb_per_s")]
    return float(max(timed, key=lambda entry: entry["bytes"])["gb_per_s"]) if timed else 0.0


def _dearest(document: dict[str, Any], run: str) -> Iterator[Finding]:
    found = phases.dearest(document)
    if found is None:
        return
    entry, part = found
    name = part["what"].partition("(")[0]
    times = f"{values.duration(part['ns'])} of {values.duration(entry['phases']['exchange_ns'])}"
    text = f"{pairs_text([_pair(entry)])}: {times} is {part['phase']} ({name})"
    words = [entry["producer"], entry["consumer"], entry["protocol"]]
    # As many words as it takes to mean this one.
    for more in (str(entry["bytes"]), "call", entry["case"], entry["device"], entry["environment"]):
        if len(cells.matching(document, words)) > 1:
            words.append(more)
    yield Finding("dearest", text, f"dlbench explain {run} {' '.join(words)}")


def _failing(
    outcome: str, run: str, most_lines: int
) -> Callable[[placed.Place], Iterator[Finding]]:
    return lambda place: _failures(place.entries, outcome, run, most_lines)


def _failures(entries: list[Entry], outcome: str, run: str, most_lines: int) -> Iterator[Finding]:
    failed = [entry for entry in entries if entry["outcome"] == outcome]
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for pair, of_pair in _by_pair(failed).items():
        tried = [e for e in entries if _pair(e) == pair]
        for why in dict.fromkeys(values.reason(entry)[:ALIKE] for entry in of_pair):
            same = [entry for entry in of_pair if values.reason(entry).startswith(why)]
            only = _some((e["protocol"] for e in tried), (e["protocol"] for e in same))
            groups[why, only].extend(same)
    lines = sorted(groups.items(), key=lambda item: -len(item[1]))
    for (_, only), same in lines[:most_lines]:
        pairs = pairs_text(_pair(entry) for entry in same)
        where = f"{pairs} ({only})" if only else pairs
        first = next((entry for entry in same if entry["protocol"] == "dlpack"), same[0])
        why = values.reason(first)
        yield Finding(outcome, f"{where}: {why}", _next_command(outcome, first, run))
    if len(lines) > most_lines:
        more = f"and {len(lines) - most_lines} more reasons"
        yield Finding(outcome, more, f"dlbench show {run}")


def _next_command(outcome: str, entry: Entry, run: str) -> str:
    verb = FAILURES[outcome]
    if outcome == "not-run":
        return f"dlbench --resume {run}"
    if verb == "doctor":
        return "dlbench doctor"
    if not verb:
        return ""
    words = f"{entry['producer']} {entry['consumer']}"
    if entry["protocol"] != "dlpack":
        words += f" {entry['protocol']}"
    return f"dlbench {verb} {run} {words}"


def _no_protocol(entries: list[Entry]) -> Iterator[Finding]:
    """One line a protocol: who never takes it, who never offers it, and the pairs in between."""
    here = [e for e in entries if e["outcome"] not in ("no-device", "not-installed")]
    for protocol in dict.fromkeys(entry["protocol"] for entry in here):
        asked = [entry for entry in here if entry["protocol"] == protocol]
        takers = {entry["consumer"] for entry in asked if entry["outcome"] != "no-protocol"}
        never = sorted({entry["consumer"] for entry in asked} - takers)
        asked = [entry for entry in asked if entry["consumer"] in takers]
        givers = {entry["producer"] for entry in asked if entry["outcome"] != "no-protocol"}
        silent = sorted({entry["producer"] for entry in asked} - givers)
        asked = [entry for entry in asked if entry["producer"] in givers]
        pairs = [_pair(entry) for entry in asked if entry["outcome"] == "no-protocol"]
        said = [f"not taken by {listing(never, 12)}"] if never else []
        said += [f"not offered by {listing(silent, 12)}"] if silent else []
        said += [pairs_text(pairs)] if pairs else []
        if said:
            yield Finding("no-protocol", f"{protocol}: {'; '.join(said)}")


def _pair(entry: Entry) -> Pair:
    return entry["producer"], entry["consumer"]


def _absent(about: dict[str, Any], entries: list[Entry]) -> Iterator[Finding]:
    absent: dict[str, str] = about.get("absent", {})
    if absent:
        named = ", ".join(f"{name} ({why})" for name, why in sorted(absent.items()))
        yield Finding("not installed", named, "dlbench list")
        return
    for why in sorted({values.reason(e) for e in entries if e["outcome"] == "not-installed"}):
        yield Finding("not installed", why, "dlbench list")


def _disturbed(entries: list[Entry]) -> Iterator[Finding]:
    for warning, (meaning, command) in DISTURBED.items():
        told = [entry for entry in entries if warning in entry.get("warnings", [])]
        if told:
            pairs = pairs_text(_pair(entry) for entry in told)
            cells = f"{len(told)} {'cell' if len(told) == 1 else 'cells'}"
            following = command.format(pair=" ".join(_pair(told[0])))
            yield Finding(warning, f"{cells}: {meaning}: {pairs}", following)


def _noise(about: dict[str, Any]) -> Iterator[Finding]:
    machine = about.get("machine", {})
    facts = []
    if machine.get("virtual"):
        facts.append("virtual machine")
    if machine.get("turbo") == "on":
        facts.append("turbo on")
    if machine.get("governor", "unknown") not in ("unknown", "performance"):
        facts.append(f"governor {machine['governor']}")
    widths = [
        environment["anchor"]["half_width"]
        for environment in about.get("environments", {}).values()
        if environment.get("anchor", {}).get("half_width")
    ]
    if widths:
        least = values.percent(math.sqrt(2) * max(widths))
        facts.append(f"differences under {least} mean nothing")
    if facts:
        yield Finding("noise", ", ".join(facts), "dlbench doctor")
