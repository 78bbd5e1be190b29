"""The page's facts about a run's machine, environments and floors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlbench import values
from dlbench.analysis import case_sweep
from dlbench.document import Context, Document, Entry, EnvironmentFacts, Measured
from dlbench.document.facts import NATIVE
from dlbench.findings.import_effects import in_words
from dlbench.text.escaping import dlbench_command
from dlbench.text.grouping import grouped
from dlbench.text.layout import listing

from .tables import portable

FLOORS = {
    "empty": "an empty loop",
    "clock": "one reading of the clock",
    "call": "a call of a C function that does nothing",
    "proxy": "the same call through a proxy's __dlpack__",
}
MOST_LIBRARIES = 16  #: limit in the head of the page
MOST_NAMES = 20  #: limit for one kind of effect of an import
COPIES = {"warm": "into memory written before", "fresh": "into new pages"}


@dataclass(frozen=True)
class Environment:
    """One environment: facts, versions by library, and floors, as (name, text) pairs."""

    name: str
    facts: list[tuple[str, str]]
    libraries: list[tuple[str, str]]
    floors: list[tuple[str, str, str]]
    effects: list[tuple[str, str]]  #: of imports, by library


@dataclass(frozen=True)
class Facts:
    """The facts of one machine."""

    machine_name: str
    headline: list[str]
    machine: list[tuple[str, str]]
    run: list[tuple[str, str]]
    not_installed: list[tuple[str, str]]
    environments: list[Environment]


def of(document: Document) -> list[Facts]:
    """The facts of each machine."""
    found = []
    entries = grouped(document.entries, lambda entry: entry.machine)
    for name, context in document.contexts.items():
        own = entries.get(name, [])
        run = context.run
        found.append(Facts(
            machine_name=name,
            headline=list(_headline(own, context)),
            machine=list(_machine(context)),
            run=list(_run(own, context)),
            not_installed=sorted(run.not_installed.items()),
            environments=[_environment(*item) for item in run.environments.items()],
        ))  # fmt: skip
    return found


def libraries(document: Document) -> str:
    """The libraries that were measured, with their versions: "numpy 2.4.6, torch 2.13.0"."""
    names = {name for entry in document.measured for name in entry.pair} - {NATIVE}
    places = (
        place for own in document.contexts.values() for place in own.run.environments.values()
    )
    versions = dict(item for place in places for item in place.libraries.items())
    shown = (f"{name} {versions.get(name, '')}".strip() for name in sorted(names))
    return listing(shown, MOST_LIBRARIES)


def _headline(entries: Sequence[Entry], context: Context) -> Iterator[str]:
    if processor := context.run.machine.processor:
        yield processor
    devices = {entry.device for entry in entries if isinstance(entry, Measured)}
    yield from context.run.machine.units(devices)
    pythons = {facts.python for facts in context.run.environments.values() if facts.python}
    yield from (f"Python {python}" for python in sorted(pythons))
    yield context.date[:10]
    yield f"{len(entries)} cells: {', '.join(case_sweep.outcome_words(entries))}"


def _machine(context: Context) -> Iterator[tuple[str, str]]:
    yield "host", context.host_name
    machine = context.run.machine
    for key, value in machine.facts():
        if key == "devices":
            states = (f"{driver.name}: {driver.state}" for driver in machine.devices)
            yield "devices", ", ".join(states)
            for driver in machine.devices:
                for number, unit in enumerate(driver.units):
                    state = (f"{key.replace('_', ' ')} {text}" for key, text in unit.facts.items())
                    yield f"{driver.name}:{number}", ", ".join([unit.name, unit.uuid, *state])
        elif key == "memory_bytes" and machine.memory_bytes:
            yield "memory", f"{machine.memory_bytes / 2**30:.1f} GiB"
        elif isinstance(value, str | int | float):
            yield key.replace("_", " "), _text(value)
    for cache in context.caches:
        name = f"L{cache.level} {cache.type.lower()}"
        yield name, f"{values.size(cache.size)}, shared by {cache.num_sharing}"
    noise = context.run.noise
    if noise.other_processes is not None:
        yield "other processes before", f"{values.percent(noise.other_processes)} of the cores"
    if noise.stolen is not None:
        yield "stolen time before", values.percent(noise.stolen)
    if context.load_avg:
        yield "load before", ", ".join(f"{load:g}" for load in context.load_avg)


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _run(entries: Sequence[Entry], context: Context) -> Iterator[tuple[str, str]]:
    run = context.run
    yield "began", context.date
    yield "took", f"{run.wall_s:.0f} s"
    yield "dlbench", run.version
    if run.command:
        command = dlbench_command(*run.command[1:])
        yield "command", portable(command, run.environments.values())
    if run.seed is not None:
        yield "seed", str(run.seed)
    outcomes = Counter(entry.observed_outcome for entry in entries)
    yield "cells", ", ".join(f"{count} {word}" for word, count in outcomes.most_common())


def _environment(name: str, found: EnvironmentFacts) -> Environment:
    facts = [("Python", found.python)]
    facts += [("GIL", "yes" if found.gil else "no")] if found.has("gil") else []
    reference = found.reference_exchange
    if reference:
        text = values.duration(reference.median_ns)
        facts.append(("native -> native", f"{text} ({reference.workers} workers)"))
    if found.import_seconds:
        seconds = (f"{library} {s:.2g} s" for library, s in found.import_seconds.items())
        facts.append(("imports took", ", ".join(seconds)))
    floors = [(key, _nanoseconds(ns), FLOORS.get(key, ""))
              for key, ns in found.floors_ns.items()]  # fmt: skip
    for key, rate in found.copy_floors_gb_per_s.items():
        if not key.split()[-1].isdigit():  # each size's own rates are beside its copies
            floors.append((f"copy, {key}", f"{values.rate(rate)} GB/s", COPIES.get(key, "")))
    effects = [
        (library, in_words(effects, MOST_NAMES))
        for library, effects in sorted(found.import_effects.items())
    ]
    return Environment(name, facts, list(found.packages.items()), floors, effects)


def _nanoseconds(ns: float) -> str:
    return values.duration(ns) if ns > 0 else "0 ns"
