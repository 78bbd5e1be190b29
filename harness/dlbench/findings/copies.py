"""Who copies, and who writes into what was only lent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dlbench import values
from dlbench.findings.finding import Finding, Pair, by_pair, pairs_text, some
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
        if not copied:
            continue
        who = next((entry["copied_by"] for entry in copied if entry.get("copied_by")), "")
        owner = {"producer": pair[0], "consumer": pair[1]}.get(who, "")
        key = (
            owner or pair[1],
            f"by {owner}" if owner else "",
            some((e["protocol"] for e in of_pair), (e["protocol"] for e in copied)),
            some((e["case"] for e in of_pair), (e["case"] for e in copied)),
            some((e["bytes"] for e in of_pair), (e["bytes"] for e in copied), values.size),
            some((e["device"] for e in of_pair), (e["device"] for e in copied)),
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


def writes(entries: list[Entry], run: str) -> Iterator[Finding]:
    """Whoever writes into an array that was only lent."""
    wrote = [e for e in entries if e.get("seen", {}).get("guard", {}).get("written", 0)]
    for pair, of_pair in by_pair(wrote).items():
        said = [w for entry in of_pair for w in entry.get("warnings", []) if " wrote into " in w]
        if said:
            command = f"dlbench show {run} {pair[0]} {pair[1]}"
            yield Finding("writes", f"{pairs_text([pair])}: {said[0]}", command)


def _speed(copied: list[Entry]) -> float:
    """A pair's GB/s at its largest size, where the call itself weighs least."""
    timed = [entry for entry in copied if entry.get("gb_per_s")]
    return float(max(timed, key=lambda entry: entry["bytes"])["gb_per_s"]) if timed else 0.0
