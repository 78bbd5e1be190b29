"""What the page says of a run's machine, environments and floors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlbench import document as documents
from dlbench import ladder, values
from dlbench.escaping import dlbench_command

Entry = Mapping[str, Any]

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
    """Everything of one machine that is no cell."""

    machine_name: str
    headline: list[str]
    machine: list[tuple[str, str]]
    run: list[tuple[str, str]]
    absent: list[tuple[str, str]]
    environments: list[Environment]


def contexts(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Each machine's context, by name; of a document of one machine under no name."""
    context = document["context"]
    machines = context["dlbench"].get("machines")
    if not machines:
        return {"": context}
    return {name: {**own["context"], "dlbench": own} for name, own in machines.items()}


def of(document: Mapping[str, Any]) -> list[Facts]:
    """The facts of each machine."""
    cells = [*document["benchmarks"], *document["not_measured"]]
    found = []
    for name, context in contexts(document).items():
        own = [cell for cell in cells if cell.get("machine", "") == name]
        about = context["dlbench"]
        found.append(Facts(
            machine_name=name,
            headline=list(_headline(own, context)),
            machine=list(_machine(context, about.get("machine", {}))),
            run=list(_run(own, context)),
            absent=sorted(about.get("absent", {}).items()),
            environments=[_environment(*item) for item in about["environments"].items()],
        ))  # fmt: skip
    return found


def _headline(cells: Sequence[Entry], context: Mapping[str, Any]) -> Iterator[str]:
    about = context["dlbench"]
    machine = about.get("machine", {})
    if machine.get("cpu"):
        yield f"{machine['cpu']}, {machine.get('cores', '?')} cores"
    pythons = {env["python"] for env in about["environments"].values() if env["python"]}
    yield from (f"Python {python}" for python in sorted(pythons))
    yield str(context["date"])[:10]
    measured = sum(map(values.is_measured, cells))
    without = [e for e in cells if e["phase"] == "exchange" and not values.is_measured(e)]
    untimed = list(filter(ladder.is_untimed, without))
    yield f"{measured} cells measured, {len(without) - len(untimed)} not"
    yield from ladder.untimed_said(untimed)


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


def _run(cells: Sequence[Entry], context: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    about = context["dlbench"]
    yield "began", str(context["date"])
    yield "took", f"{about['wall_s']:.0f} s"
    yield "dlbench", str(about["version"])
    if about.get("command"):
        yield "command", dlbench_command(*about["command"][1:])
    if "seed" in about:
        yield "seed", str(about["seed"])
    outcomes = Counter(map(ladder.outcome, documents.exchanges(cells)))
    yield "exchanges", ", ".join(f"{count} {word}" for word, count in outcomes.most_common())


def _environment(name: str, found: Mapping[str, Any]) -> Environment:
    facts = [("Python", str(found["python"]))]
    facts += [("GIL", "yes" if found["gil"] else "no")] if "gil" in found else []
    anchor = found.get("anchor", {})
    if anchor:
        text = values.duration(anchor["median_ns"])
        if anchor.get("half_width"):
            text += f", +-{values.percent(anchor['half_width'])} between processes"
        facts.append(("native -> native", f"{text} ({anchor['workers']} workers)"))
    floors = [(key, _nanoseconds(ns), FLOORS.get(key, ""))
              for key, ns in found["floors_ns"].items()]  # fmt: skip
    for key, rate in found.get("copy_floors_gb_per_s", {}).items():
        floors.append((f"copy, {key}", f"{values.rate(rate)} GB/s", COPIES.get(key, "")))
    return Environment(name, facts, sorted(found["libraries"].items()), floors)


def _nanoseconds(ns: float) -> str:
    return values.duration(ns) if ns > 0 else "0 ns"
