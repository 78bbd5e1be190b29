"""What the page says of a run's machine, environments and floors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dlbench import ladder, values

FLOORS = {
    "empty": "the loop around nothing",
    "clock": "one reading of the clock",
    "call": "a call of a C function that does nothing",
    "relay": "the same through the relay's __dlpack__",
}
COPIES = {"warm": "into memory in use", "fresh": "into pages never touched"}


@dataclass(frozen=True)
class Environment:
    """One interpreter: facts, versions by library and floors, as (name, text) each."""

    name: str
    facts: list[tuple[str, str]]
    libraries: list[tuple[str, str]]
    floors: list[tuple[str, str, str]]


@dataclass(frozen=True)
class Facts:
    """Everything that is no cell."""

    headline: list[str]
    machine: list[tuple[str, str]]
    run: list[tuple[str, str]]
    absent: list[tuple[str, str]]
    environments: list[Environment]


def of(document: Mapping[str, Any]) -> Facts:
    """The facts of one document."""
    context = document["context"]
    about = context["dlbench"]
    return Facts(
        headline=list(_headline(document, about)),
        machine=list(_machine(context, about.get("machine", {}))),
        run=list(_run(document, about)),
        absent=sorted(about.get("absent", {}).items()),
        environments=[_environment(*item) for item in about["environments"].items()],
    )


def _headline(document: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[str]:
    machine = about.get("machine", {})
    if machine.get("cpu"):
        yield f"{machine['cpu']}, {machine.get('cores', '?')} cores"
    pythons = {env["python"] for env in about["environments"].values() if env["python"]}
    yield from (f"Python {python}" for python in sorted(pythons))
    yield str(document["context"]["date"])[:10]
    without = [e for e in document["not_measured"] if e["phase"] == "exchange"]
    untimed = sum(map(ladder.is_untimed, without))
    yield f"{len(document['benchmarks'])} cells measured, {len(without) - untimed} not"
    if untimed:
        yield f"{untimed} end as {ladder.BASELINE} does"


def _machine(context: Mapping[str, Any], machine: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "host", str(context["host_name"])
    for key, value in machine.items():
        if key == "devices":
            states = (f"{device['name']}: {device['state']}" for device in value)
            yield "devices", ", ".join(states)
        elif key == "memory_bytes":
            yield "memory", f"{value / 2**30:.1f} GiB"
        elif isinstance(value, str | int | float):
            yield key.replace("_", " "), _said(value)
    for cache in context["caches"]:
        name = f"L{cache['level']} {cache['type'].lower()}"
        yield name, f"{values.size(cache['size'])}, shared by {cache['num_sharing']}"
    if context.get("load_avg"):
        yield "load before", ", ".join(f"{load:g}" for load in context["load_avg"])


def _said(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _run(document: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "began", str(document["context"]["date"])
    yield "took", f"{about['wall_s']:.0f} s"
    yield "dlbench", str(about["version"])
    if about.get("command"):
        yield "command", " ".join(["dlbench", *about["command"][1:]])
    if "seed" in about:
        yield "seed", str(about["seed"])
    cells = [*document["benchmarks"], *document["not_measured"]]
    outcomes = Counter(ladder.outcome(e) for e in cells if e["phase"] == "exchange")
    yield "exchanges", ", ".join(f"{count} {word}" for word, count in outcomes.most_common())


def _environment(name: str, found: Mapping[str, Any]) -> Environment:
    facts = [("Python", str(found["python"]))]
    facts += [("GIL", "yes" if found["gil"] else "no")] if "gil" in found else []
    anchor = found.get("anchor", {})
    if anchor:
        text = values.duration(anchor["median_ns"])
        if anchor.get("half_width"):
            text += f", one process may lie {values.percent(anchor['half_width'])} off"
        facts.append(("native -> native", f"{text} ({anchor['workers']} workers)"))
    floors = [(key, _nanoseconds(ns), FLOORS.get(key, ""))
              for key, ns in found["floors_ns"].items()]  # fmt: skip
    for key, rate in found.get("copy_floors_gb_per_s", {}).items():
        floors.append((f"copy, {key}", f"{values.rate(rate)} GB/s", COPIES.get(key, "")))
    return Environment(name, facts, sorted(found["libraries"].items()), floors)


def _nanoseconds(ns: float) -> str:
    return values.duration(ns) if ns > 0 else "0 ns"
