"""Who copies, and who writes into what was only lent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dlbench import values
from dlbench.escaping import dlbench_command
from dlbench.findings.finding import Finding, Pair, by_pair, limits, pairs_text
from dlbench.grouping import grouped
from dlbench.values import Entry

#: How the line says it where a pair copies in one kind of array only.
WHEN = {
    "f32-unaligned": "when not aligned",
    "f32-strided": "when strided",
    "f32-readonly": "when read-only",
}


def copies(
    entries: list[Entry], run: str, floors: dict[str, dict[str, float]]
) -> Iterator[Finding]:
    measured = [entry for entry in entries if values.is_measured(entry)]
    groups: dict[tuple[str, ...], list[tuple[Pair, list[Entry]]]] = defaultdict(list)
    for pair, of_pair in by_pair(measured).items():
        copied = [entry for entry in of_pair if entry["outcome"] in values.COPIED]
        every = limits(of_pair, copied)
        # What is so of one cell need not be so of the pair's others.
        for (role, late, device), alike in grouped(copied, _how).items():
            owner = {"producer": pair[0], "consumer": pair[1]}.get(role, "")
            found = map(_limit, limits(of_pair, alike), every)
            key = (owner or pair[1], f"by {owner}" if owner else "", late, device, *found)
            groups[key].append((pair, alike))
    for (_, by, late, device, *words), members in sorted(groups.items()):
        copied = [entry for _, alike in members for entry in alike]
        when = [word for word in words if word in WHEN.values()]
        said = [word for word in (*words, by) if word and word not in when]
        rates = [rate for _, alike in members if (rate := _speed(alike))]
        if rates:
            low, high = values.rate(min(rates)), values.rate(max(rates))
            where = " in cache" if all("in cache" in e.get("warnings", []) for e in copied) else ""
            beside = values.floors(floors.get(copied[0]["environment"], {}), device)
            speed = low if low == high else f"{low}..{high}"
            said.append(f"{speed} GB/s{where}{beside}")
        said += [late] if late else []
        text = " ".join([pairs_text(pair for pair, _ in members), *when])
        producer, consumer = members[0][0]
        command = dlbench_command("show", run, producer, consumer)
        yield Finding("copies", f"{text}: {', '.join(said)}" if said else text, command)


def _how(entry: Entry) -> tuple[str, str, str]:
    """Who copied, where that is known, when and where."""
    late = "still reading the source after it returned" if entry.get("late_read") else ""
    return entry.get("copied_by", ""), late, entry["device"]


def _limit(limit: str, every: str) -> str:
    """ "only" where the pair's other copies, of which another line tells, have that limit too."""
    return WHEN.get(limit, f"only {limit}" if limit and limit == every else limit)


def writes(entries: list[Entry], run: str) -> Iterator[Finding]:
    """Whoever writes into an array that was only lent."""
    wrote = [e for e in entries if e.get("seen", {}).get("guard", {}).get("written", 0)]
    for pair, of_pair in by_pair(wrote).items():
        said = [w for entry in of_pair for w in entry.get("warnings", []) if " wrote into " in w]
        if said:
            command = dlbench_command("show", run, *pair)
            yield Finding("writes", f"{pairs_text([pair])}: {said[0]}", command)


def _speed(copied: list[Entry]) -> float:
    """A pair's GB/s at its largest size, where the call itself weighs least."""
    timed = [entry for entry in copied if entry.get("gb_per_s")]
    return float(max(timed, key=lambda entry: entry["bytes"])["gb_per_s"]) if timed else 0.0
