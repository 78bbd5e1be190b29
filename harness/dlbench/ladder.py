"""What becomes of each kind of array: the ladder that `--cases all` climbs for each pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dlbench import grid, values
from dlbench.grouping import grouped
from dlbench.values import Entry

BASELINE = "f32"  #: the plain array that the others are held against
UNTIMED = "untimed"  #: `code` of a cell that ended like the baseline
NOT_MADE = "not made"
Axes = tuple[str, str, str, str, str]
#: What becomes of which cases, to whom and where: word, consumer, cases, environment, device.
Told = tuple[str, str, tuple[str, ...], str, str]


@dataclass
class Ladder:
    """All cases of one pair over one protocol, on the clock `call` and at one size; a case that
    has a size of its own stands there at that."""

    producer: str
    consumer: str
    protocol: str
    device: str
    environment: str
    rungs: dict[str, Entry] = field(default_factory=dict)

    def copied_by(self, case: str) -> str:
        """The library that copied, or nothing where nobody could tell."""
        owner = {"producer": self.producer, "consumer": self.consumer}
        return owner.get(self.rungs[case].get("copied_by", ""), "")

    def becomes(self, case: str) -> str:
        """ "copy", "changes dtype", "refused", ..., or nothing where it ends like the baseline."""
        entry, baseline = self.rungs[case], self.rungs.get(BASELINE)
        found = outcome(entry)
        if is_untimed(entry) or entry is baseline:
            return ""
        changed = [word for word in entry.get("changed", []) if word not in _changed(baseline)]
        if changed:
            return f"changes {', '.join(changed)}"
        if found == "unsupported" and "exception" not in entry:
            return NOT_MADE
        return "" if baseline is not None and found == outcome(baseline) else found


def outcome(entry: Entry) -> str:
    """Its outcome, timed or not."""
    return str(entry.get("found", entry["outcome"]))


def _changed(baseline: Entry | None) -> list[str]:
    return list(baseline.get("changed", [])) if baseline is not None else []


def is_untimed(entry: Entry) -> bool:
    """Was it tried, and left without a number since it ends like the baseline?"""
    return entry.get("code") == UNTIMED


def _shows_nothing(entry: Entry) -> bool:
    return entry["bytes"] == 0 and entry.get("found") == "unproven"


def untimed_said(untimed: Iterable[Entry]) -> list[str]:
    """["41 end as f32 does", "1 without elements"]: what the untimed have in common."""
    cells = list(untimed)
    empty = sum(map(_shows_nothing, cells))
    said = [f"{len(cells) - empty} end as {BASELINE} does"] if len(cells) > empty else []
    return [*said, f"{empty} without elements"] if empty else said


def ladders(entries: Iterable[Entry]) -> list[Ladder]:
    """One for each pair and protocol that the two have in common; in order of their names."""
    found: dict[Axes, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry["phase"] != "exchange" or entry["clock"] != "call":
            continue
        if entry["outcome"] in grid.DULL or _has_no_adapter(entry):
            continue
        axes = (entry["producer"], entry["consumer"], entry["protocol"], entry["device"],
                entry["environment"])  # fmt: skip
        found[axes].append(entry)
    return [Ladder(*axes, _at_one_size(found[axes])) for axes in sorted(found)]


def _has_no_adapter(entry: Entry) -> bool:
    """Does either library not play that role? Then nothing was tried, and no array not made."""
    roles = ("producer", "consumer")
    return entry.get("reason") in [f"dlbench has no {role} for {entry[role]}" for role in roles]


def _at_one_size(entries: Iterable[Entry]) -> dict[str, Entry]:
    """By case, at the baseline's smallest size, or at its own where it has not that one."""
    cases = grouped(entries, lambda entry: str(entry["case"]))
    size = min((entry["bytes"] for entry in cases.get(BASELINE, [])), default=0)
    return {
        case: min(of, key=lambda entry: (entry["bytes"] != size, entry["bytes"]))
        for case, of in cases.items()
    }


def is_climbed(document: Mapping[str, Any]) -> bool:
    """Was this a run of all cases?"""
    asked = document.get("context", {}).get("dlbench", {}).get("request", {})
    return "all" in (asked.get("cases") or []) or any(
        is_untimed(entry) for entry in document.get("not_measured", [])
    )


@dataclass(frozen=True)
class Fallback:
    """Cases that end otherwise than the baseline, for all pairs of which the same is to be told.

    `pairs` is empty where it is the producer's alone. `rates`: GB/s of those copies that have one.
    """

    producer: str
    pairs: tuple[tuple[str, str], ...]
    protocols: tuple[str, ...]
    becomes: str
    cases: tuple[str, ...]
    environment: str
    device: str
    rates: tuple[float, ...] = ()


def fallbacks(climbed: Iterable[Ladder]) -> Iterator[Fallback]:
    """Copies first, then what is changed, then what fails, then what producers cannot make."""
    alike: dict[tuple[Told, str], list[Ladder]] = defaultdict(list)
    not_made: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    for one in climbed:
        cases: dict[str, list[str]] = defaultdict(list)
        for case in one.rungs:
            word = one.becomes(case)
            if word == NOT_MADE:
                not_made[one.producer, one.environment, one.device][case] = None
            elif word in values.COPIED and one.copied_by(case):
                cases[f"{word} by {one.copied_by(case)}"].append(case)
            elif word:
                cases[word].append(case)
        for word, those in cases.items():
            told = (word, one.consumer, tuple(those), one.environment, one.device)
            alike[told, one.producer].append(one)
    # A row says its protocols of each of its producers.
    together: dict[tuple[Told, tuple[str, ...]], list[Ladder]] = defaultdict(list)
    for (told, _), members in alike.items():
        together[told, tuple(one.protocol for one in members)] += members
    ordered = sorted(together.items(), key=lambda item: (_rank(item[0][0][0]), item[0]))
    for ((word, _, same, environment, device), protocols), members in ordered:
        rates = [one.rungs[case].get("gb_per_s", 0.0) for one in members for case in same]
        yield Fallback("", tuple(sorted({(one.producer, one.consumer) for one in members})),
                       protocols, word, same, environment, device,
                       tuple(rate for rate in rates if rate))  # fmt: skip
    for (producer, environment, device), missing in sorted(not_made.items()):
        yield Fallback(producer, (), (), NOT_MADE, tuple(missing), environment, device)


def _rank(word: str) -> tuple[int, str]:
    kinds = (*values.COPIED, "zero-copy", "changes", "wrong", "crashed", "timed-out")
    first = next((i for i, kind in enumerate(kinds) if word.startswith(kind)), len(kinds))
    return first, word
