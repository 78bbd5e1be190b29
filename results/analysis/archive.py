"""Cells over many runs: the newest result of each, and its history.

Machines are kept apart, and so are versions of Python: both change times and instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from packaging.version import InvalidVersion, Version

from dlbench.analysis import history
from dlbench.analysis.calls import CALL
from dlbench.analysis.case_sweep import BASELINE
from dlbench.document import Axis, Context, Document, Entry, Pair
from dlbench.document.facts import DULL, FIRST_PROTOCOLS
from dlbench.text.grouping import grouped

#: The axes of a cell that a history compares; the environment is a version.
CELL = ("producer", "consumer", "protocol", "device", "case", "bytes", "arrays", "phase",
        "clock")  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where runs can be compared: a machine and a minor version of Python."""

    machine: str
    python: str

    def __str__(self) -> str:
        return f"{self.machine}, Python {self.python}"


@dataclass(frozen=True)
class Run:
    """The record of one run."""

    document: Document

    @property
    def context(self) -> Context:
        return self.document.context

    @property
    def name(self) -> str:
        return self.context.run_id

    @property
    def date(self) -> str:
        return self.context.date[:10]

    @cached_property
    def machine(self) -> str:
        run = self.context.run
        words = [run.machine_name or self.context.host_name, run.machine.processor]
        return ", ".join(filter(None, words)) or "unknown machine"

    def place(self, environment: str) -> Place:
        python = self.document.environment(environment).python
        return Place(self.machine, ".".join(python.split(".")[:2]) or "unknown")


@dataclass(frozen=True)
class Point:
    """A cell of one run."""

    entry: Entry
    run: Run

    @cached_property
    def place(self) -> Place:
        return self.run.place(self.entry.environment)

    @cached_property
    def versions(self) -> tuple[str, str]:
        known = self.run.document.environment(self.entry.environment).libraries
        return known.get(self.entry.producer, ""), known.get(self.entry.consumer, "")

    def version_of(self, library: str) -> str:
        return self.versions[self.entry.pair.index(library)]

    def order_of(self, library: str) -> tuple[object, ...]:
        """Older versions of the library first, then older runs."""
        return version_order(self.version_of(library)), self.run.context.date

    @cached_property
    def order(self) -> tuple[object, ...]:
        """Older versions first, then older runs."""
        return (*map(version_order, self.versions), self.run.context.date, self.run.name)


@dataclass(frozen=True)
class Change:
    """A step of a cell between two of its points."""

    before: Point
    after: Point
    kind: str
    what: str

    @cached_property
    def libraries(self) -> list[str]:
        """Those whose version differs."""
        pair = zip(self.after.entry.pair, self.before.versions, self.after.versions, strict=True)
        return list(dict.fromkeys(name for name, old, new in pair if old != new))

    def of(self, library: str) -> tuple[str, str]:
        """The library's versions before and after."""
        return self.before.version_of(library), self.after.version_of(library)


@dataclass(frozen=True)
class Series:
    """The points of one cell at one place, oldest versions first."""

    place: Place
    points: list[Point]

    @property
    def newest(self) -> Point:
        return self.points[-1]

    @cached_property
    def changes(self) -> list[Change]:
        entries = [point.entry for point in self.points]
        runs = [point.run.name for point in self.points]
        made, at = [], 0
        for segment in history.segments(entries, runs):
            if segment.kind:
                # An unknown point is passed over: the step may be at it.
                of = self.points[:at]
                before = [point for point in of if history.is_known(point.entry, segment.kind)]
                if segment.kind in history.TIMED:
                    before = [point for point in before if point.run.name == runs[at]]
                after = self._beside(self.points[at], before[-1])
                made.append(Change(before[-1], after, segment.kind, segment.what))
            at += len(segment.entries)
        return made

    def _beside(self, point: Point, before: Point) -> Point:
        """The point of the same versions in the run before; without one the point itself."""
        if point.versions == before.versions:
            return point
        alike = (other for other in self.points if other.versions == point.versions)
        return next((other for other in alike if other.run is before.run), point)


class Archive:
    """The cells of many records."""

    def __init__(self, documents: Iterable[Document]) -> None:
        by_name = {Run(one).name: Run(one) for one in documents}  # a run that was named twice
        self.runs = sorted(by_name.values(), key=lambda run: (run.context.date, run.name))
        points = [Point(entry, run) for run in self.runs for entry in run.document.entries]
        found = grouped(points, _key)
        self.series = {key: Series(of[0].place, _in_order(of)) for key, of in found.items()}

    @cached_property
    def by_pair(self) -> dict[Pair, list[Series]]:
        """The series of each pair that any run tried to exchange; pairs in alphabetical order."""
        found = grouped(self.series.values(), lambda one: one.newest.entry.pair)
        return {
            pair: of
            for pair, of in sorted(found.items())
            if any(point.entry.outcome not in DULL for one in of for point in one.points)
        }

    @cached_property
    def libraries(self) -> list[str]:
        return sorted({name for pair in self.by_pair for name in pair})

    @cached_property
    def checks(self) -> dict[str, Run]:
        """By library, the newest run of `dlbench check`."""
        return {check.library: run for run in self.runs for check in run.document.checks}

    def matrices(self) -> Mapping[tuple[str, str, str], dict[Pair, Point]]:
        """By machine, device and protocol: the newest result of each pair with plain arrays of the
        smallest size. The machine of most cells is first, the CPU, and the usual protocols."""
        best: dict[tuple[str, str, str], dict[Pair, Point]] = {}
        cells: dict[str, int] = {}
        for series in self.series.values():
            point = series.newest
            entry = point.entry
            cells[series.place.machine] = cells.get(series.place.machine, 0) + 1
            if (entry.case, entry.phase, entry.clock) != (BASELINE, "exchange", "call"):
                continue
            if entry.protocol != CALL:
                of = best.setdefault((series.place.machine, entry.device, entry.protocol), {})
                known = of.get(entry.pair, point)
                of[entry.pair] = max(known, point, key=_rank)
        tried = {
            key: of
            for key, of in best.items()
            if any(point.entry.outcome not in (*DULL, "not-run") for point in of.values())
        }

        def order(key: tuple[str, str, str]) -> tuple[object, ...]:
            machine, device, protocol = key
            known = protocol in FIRST_PROTOCOLS
            place = FIRST_PROTOCOLS.index(protocol) if known else len(FIRST_PROTOCOLS)
            return -cells[machine], machine, device != "cpu", device, place, protocol

        return {key: tried[key] for key in sorted(tried, key=order)}

    def changes(self) -> Iterator[Change]:
        """The changes of all cells with plain arrays."""
        for series in self.series.values():
            if series.newest.entry.is_exchange:
                yield from series.changes


def _key(point: Point) -> tuple[Place | Axis, ...]:
    entry = point.entry
    return (point.place, *entry.axes(CELL))


def _in_order(points: Iterable[Point]) -> list[Point]:
    """By version and date. Of environments of one run with the same versions the first counts."""
    first = {point.order: point for point in reversed(list(points))}
    return [first[order] for order in sorted(first)]


def _rank(point: Point) -> tuple[object, ...]:
    """The newest versions, then the smallest size, then the newest run."""
    return (*point.order[:2], -point.entry.bytes, *point.order[2:])


@cache
def version_order(text: str) -> tuple[bool, Version, str]:
    """Sorts versions; one that is none comes first."""
    try:
        return True, Version(text), ""
    except InvalidVersion:
        return False, Version("0"), text


def is_between(version: str, before: str, after: str) -> bool:
    """Is the version later than `before` and not later than `after`?"""
    return version_order(before) < version_order(version) <= version_order(after)
