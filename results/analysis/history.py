"""Exchanges over versions: the environments of a run, oldest version first."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlbench.analysis import steps
from dlbench.document import Document, Entry, Measured, NotMeasured
from dlbench.document.entry import EXCHANGE, Axis
from dlbench.text.grouping import grouped

#: A larger change of the instructions is a change of code.
INSTRUCTIONS = 0.02
#: Outcomes that report nothing about the exchange.
UNKNOWN = ("unproven", "not-run")
#: Kinds of steps in which only the time differs.
TIMED = ("layout", "time")
CELL = (*EXCHANGE[1:], "phase", "clock")


@dataclass(frozen=True)
class Segment:
    """Consecutive versions of a cell without a step between them, and the step before them."""

    entries: list[Entry]
    ns: float  #: 0: not measured
    kind: str = ""  #: of the step
    what: str = ""

    @property
    def first(self) -> Entry:
        """The first entry with a known outcome, if there is one."""
        known = (entry for entry in self.entries if entry.observed_outcome not in UNKNOWN)
        return next(known, self.entries[0])


def cells(document: Document, environments: Sequence[str]) -> dict[tuple[Axis, ...], list[Segment]]:
    """The segments of each cell that any of these environments has."""
    order = {name: index for index, name in enumerate(environments)}
    known = [entry for entry in document.entries if entry.environment in order]
    known.sort(key=lambda entry: order[entry.environment])
    found = grouped(known, lambda entry: entry.axes(CELL))
    beside = partners(document, environments)
    return {
        cell: [_with_partners(one, before, beside) for before, one in _pairs(segments(entries))]
        for cell, entries in sorted(found.items())
        if any(entry.outcome != "import-failed" for entry in entries)
    }


def partners(
    document: Document, environments: Sequence[str], tracked: str = ""
) -> dict[str, dict[str, str]]:
    """By environment, the versions of the libraries beside the tracked one. Without its name it is
    the only library whose versions are the names of all environments."""
    every = {name: document.versions(name) for name in environments}
    named = [
        library
        for library in {library for found in every.values() for library in found}
        if all(
            found.get(library, "").partition("+")[0] == name.removeprefix("v").partition("+")[0]
            for name, found in every.items()
        )
    ]
    own = tracked or (named[0] if len(named) == 1 else "")
    return {
        name: {library: version for library, version in found.items() if library != own}
        for name, found in every.items()
    }


def moved(last: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The libraries that differ in both: "numpy 1.26 -> 2.4"."""
    return [
        f"{name} {last[name]} -> {version}"
        for name, version in now.items()
        if last.get(name, version) != version
    ]


def _pairs(found: Sequence[Segment]) -> Iterable[tuple[Segment | None, Segment]]:
    return zip([None, *found], found, strict=False)


def _with_partners(
    segment: Segment, before: Segment | None, beside: Mapping[str, Mapping[str, str]]
) -> Segment:
    """A step may be due to another library, whose version changes there, too."""
    if before is None:
        return segment
    last, now = beside[before.entries[-1].environment], beside[segment.entries[0].environment]
    return replace(segment, what=", with ".join([segment.what, *moved(last, now)]))


def segments(entries: Sequence[Entry], runs: Sequence[str] = ()) -> list[Segment]:
    """Cuts the series of one cell at its steps. `runs`: of each entry; by default they are of one.
    Times of different runs are not compared."""
    found = _certain(entries)
    for step_ns in _slower_or_faster(entries, found, runs or [""] * len(entries)):
        before, after = entries[step_ns.index - 1], entries[step_ns.index]
        is_counted = _instructions(before) and _instructions(after)
        share = _change(step_ns.before_ns, step_ns.after_ns)
        kind, what = found.get(step_ns.index, ("layout" if is_counted else "time", ""))
        found[step_ns.index] = (kind, f"{share}, {what}" if what else share)
    ends = [0, *sorted(found), len(entries)]
    return [
        Segment(list(entries[a:b]), lowest(entries[a:b]), *found.get(a, ()))
        for a, b in itertools.pairwise(ends)
    ]


@dataclass(frozen=True)
class Facts:
    """What decides a step without chance; empty or 0 where it is not known. The names are those of
    the kinds of steps, the strongest first."""

    outcome: str
    protocol: str
    code: float  #: instructions

    def change(self, other: Facts, kind: str) -> float:
        """How much the other one differs: of counts the logarithm of the ratio; 0 if unknown."""
        before, after = getattr(self, kind), getattr(other, kind)
        if not before or not after:
            return 0.0
        return abs(float(np.log(after / before))) if kind == "code" else float(before != after)

    def step(self, other: Facts) -> str:
        """The strongest kind in which the other one differs, or nothing."""
        return next(
            (kind for kind, least in LEAST.items() if self.change(other, kind) >= least), ""
        )

    def words(self, other: Facts, kind: str) -> str:
        """The step to the other one."""
        before, after = getattr(self, kind), getattr(other, kind)
        if kind == "code":
            return f"{_change(before, after)} in instructions"
        return f"{before} -> {after}"


#: The smallest change that is a step, by kind.
LEAST = {"outcome": 1.0, "protocol": 1.0, "code": float(np.log1p(INSTRUCTIONS))}


def facts(entry: Entry) -> Facts:
    """What is known of a cell."""
    outcome = "" if entry.observed_outcome in UNKNOWN else _outcome(entry)
    return Facts(outcome, _protocol(entry), _instructions(entry))


def is_known(entry: Entry, kind: str) -> bool:
    """Is known of the entry what a step of that kind compares?"""
    return bool(times(entry) if kind in TIMED else getattr(facts(entry), kind))


def _certain(entries: Sequence[Entry]) -> dict[int, tuple[str, str]]:
    """The steps in which chance has no part, by their index: the kind and what changed. An entry
    without an outcome, a protocol or a count is passed over."""
    found = {}
    last = Facts("", "", 0.0)
    for index, now in enumerate(map(facts, entries)):
        if kind := last.step(now):
            found[index] = (kind, last.words(now, kind))
        last = Facts(*(getattr(now, kind) or getattr(last, kind) for kind in LEAST))
    return found


def _change(before: float, after: float) -> str:
    return f"{(after / before - 1) * 100:+.1f} %"


def _outcome(entry: Entry) -> str:
    """Without the reason's text, which may hold values."""
    cause = entry.code if isinstance(entry, NotMeasured) and entry.code != entry.outcome else ""
    return f"{entry.observed_outcome} ({cause})" if cause else entry.observed_outcome


def _protocol(entry: Entry) -> str:
    """What the consumer used: times of two protocols are times of different calls."""
    seen = entry.observed
    if seen is None:
        return ""
    via = "" if seen.via == "direct" else f"via {seen.via}"
    return " ".join(word for word in (seen.used, seen.struct, via) if word)


def _instructions(entry: Entry) -> float:
    return entry.instructions if isinstance(entry, Measured) else 0.0


def times(entry: Entry, of: Callable[[Sequence[float]], float] = min) -> list[float]:
    """The lowest round of each worker, or another one of its rounds."""
    workers = entry.workers if isinstance(entry, Measured) else ()
    return [float(of(worker.samples_ns)) for worker in workers if worker.samples_ns]


def lowest(entries: Sequence[Entry]) -> float:
    """The median over entries of their workers' median of these; 0 without any."""
    found = [np.median(of) for of in map(times, entries) if of]
    return float(np.median(found)) if found else 0.0


def _slower_or_faster(
    entries: Sequence[Entry], found: dict[int, tuple[str, str]], runs: Sequence[str]
) -> list[steps.Step]:
    """The steps in time, of the versions between two changes of outcome or protocol that all
    replicas measured."""
    series = [times(entry) for entry in entries]
    replicas = max(map(len, series), default=0)
    bounds = [index for index, (kind, _) in sorted(found.items()) if kind != "code"]
    made = []
    for first, end in zip([0, *bounds], [*bounds, len(entries)], strict=True):
        every = [index for index in range(first, end) if len(series[index]) == replicas > 0]
        for whole in grouped(every, lambda index: runs[index]).values():
            if len(whole) > 1:
                of_replicas = np.array([series[index] for index in whole]).T
                if of_replicas.min() <= 0:  # an overhead was subtracted
                    of_replicas = np.array([times(entries[i], np.median) for i in whole]).T
                made += [
                    steps.Step(whole[step.index], step.before_ns, step.after_ns)
                    for step in steps.find(of_replicas)
                ]
    return made
