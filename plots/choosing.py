"""Which of a document's cells a figure shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Document = Mapping[str, Any]
Entry = Mapping[str, Any]

#: Outcomes of a couple that has nothing to do with each other: no row or column for them alone.
DULL = ("no-protocol", "not-installed")
YARDSTICK = "native"


def is_measured(entry: Entry) -> bool:
    return "real_time" in entry


def exchanges(document: Document) -> list[Entry]:
    """Every settled exchange, with a number or without."""
    entries = [*document.get("benchmarks", ()), *document.get("not_measured", ())]
    return [entry for entry in entries if entry["phase"] == "exchange"]


def has_exchanges(document: Document) -> bool:
    return bool(exchanges(document))


def has_numbers(document: Document) -> bool:
    return any(is_measured(entry) for entry in exchanges(document))


def usual(entries: Iterable[Entry], axis: str, wanted: str) -> str:
    """`wanted` where a measured entry has it, else the value that most measured entries have."""
    counts = Counter(str(entry[axis]) for entry in entries if is_measured(entry))
    if not counts or wanted in counts:
        return wanted
    return min(counts, key=lambda value: (-counts[value], value))


def where(entries: Iterable[Entry], **axes: Any) -> list[Entry]:
    """Entries that have these values, `case_` standing for `case`."""
    wanted = {key.rstrip("_"): value for key, value in axes.items()}
    return [e for e in entries if all(e[key] == value for key, value in wanted.items())]


def in_order(names: Iterable[str], first: str) -> list[str]:
    """By name, but `first` at the front: everything else is read against it."""
    return sorted(set(names), key=lambda name: (name != first, name))


def places(entries: Iterable[Entry]) -> list[tuple[str, str]]:
    """(environment, device) of the entries that say something, the usual ones first."""
    found = {(e["environment"], e["device"]) for e in entries if e["outcome"] not in DULL}
    return sorted(found, key=lambda p: (p[0] != "default", p[0], p[1] != "cpu", p[1]))


def about(document: Document) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document.get("context", {}).get("dlbench", {})
    return found


def environment(document: Document, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = about(document).get("environments", {}).get(name, {})
    return found


def versions(document: Document, name: str) -> dict[str, str]:
    return dict(environment(document, name).get("libraries", {}))


def provenance(document: Document) -> list[str]:
    """What a picture that travels alone must say of its origin."""
    facts = about(document)
    machine = facts.get("machine", {})
    pythons = {e.get("python") for e in facts.get("environments", {}).values()} - {None, ""}
    parts = [f"dlbench {facts['version']}"] if "version" in facts else ["dlbench"]
    parts += [machine["cpu"]] if machine.get("cpu") else []
    parts += [f"CPython {', '.join(sorted(pythons))}"] if pythons else []
    parts += [str(document["context"]["date"])[:10]] if document["context"].get("date") else []
    return parts
