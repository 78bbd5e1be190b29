"""The pages of the site, each a template with what it shows."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dlbench import _core, values
from dlbench.analysis import calls
from dlbench.analysis.archive import Archive, Change, Point, Run, Series
from dlbench.analysis.case_sweep import BASELINE
from dlbench.document import EXCHANGE, Measured, Pair, run_record
from dlbench.document.facts import DULL, PHASES
from dlbench.errors import BadInput
from dlbench.exporters import arrow
from dlbench.libraries import discover
from dlbench.text import glossary
from dlbench.text.escaping import printable_lines, shell_words
from dlbench.text.grouping import grouped

from ..report import parts
from . import shown
from .folder import RUNS
from .known_reports import Report

HERE = Path(__file__).parent
STALE_DAYS = 90
MOST_CHARTS = 12  #: of a page
SCHEMA = "record.schema.json"  #: of the lines of a run's file
LICENSES = {"CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
            "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
            "Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0"}  # fmt: skip
Page = tuple[str, bytes]  #: a path within the site, and its content


@dataclass(frozen=True)
class Matrix:
    """One matrix with the address of its page."""

    machine: str
    device: str
    protocol: str
    cells: Mapping[Pair, Point]
    path: str

    @cached_property
    def tried(self) -> dict[Pair, Point]:
        found = self.cells.items()
        return {pair: point for pair, point in found if shown.state(point.entry) != "absent"}

    @cached_property
    def producers(self) -> list[str]:
        return sorted({pair[0] for pair in self.tried})

    @cached_property
    def consumers(self) -> list[str]:
        return sorted({pair[1] for pair in self.tried})

    @property
    def sizes(self) -> str:
        found = {point.entry.bytes for point in self.tried.values()}
        return values.extent(found, lambda size: values.size(int(size)), " to ")

    def row(self, producer: str) -> list[Point]:
        return [point for pair, point in self.tried.items() if pair[0] == producer]

    def version(self, library: str, side: int) -> str:
        """The newest version in this role."""
        found = [point for pair, point in self.tried.items() if pair[side] == library]
        return max(found, key=lambda point: point.order).versions[side]

    def median_ns(self, producer: str) -> float:
        found = [p.entry.median_ns for p in self.row(producer) if isinstance(p.entry, Measured)]
        return sorted(found)[len(found) // 2] if found else 0.0


class Site:
    """All pages of an archive. `reports`: known reports; `license_`: that of the data."""

    title = "Which libraries exchange arrays, and at what cost"

    def __init__(self, archive: Archive, reports: Sequence[Report], license_: str) -> None:
        self.archive, self.reports, self.license = archive, reports, license_
        self._catalogue = discover.catalogue()
        self._paths: dict[tuple[str, ...], str] = {}
        self._templates = parts.engine(HERE)
        self._templates.globals |= {
            "site": self, "shown": shown, "values": values, "version": _core.version,
            "states": shown.STATES, "lines": _lines, "command": shell_words,
        }  # fmt: skip
        self._templates.filters["state_of"] = shown.state
        found = archive.matrices().items()
        self.matrices = [
            Matrix(*key, cells, "index.html" if not i else self.path("matrix", *key))
            for i, (key, cells) in enumerate(found)
        ]
        for run in archive.runs:
            self.path(RUNS, run.name, extension="jsonl")

    def path(self, folder: str, *names: str, extension: str = "html") -> str:
        """The address of a page: always the same for the same names."""
        key = (folder, *names, extension)
        if key not in self._paths:
            words = "--".join(re.sub(r"[^\w.+-]+", "-", name).strip(".-") or "x" for name in names)
            made, number = f"{folder}/{words}.{extension}", 2
            while made in self._paths.values():
                made, number = f"{folder}/{words}-{number}.{extension}", number + 1
            self._paths[key] = made
        return self._paths[key]

    def library_path(self, name: str) -> str:
        return self.path("library", name)

    def pair_path(self, pair: Pair) -> str:
        return self.path("pair", *pair)

    def run_path(self, run: Run) -> str:
        return self.path(RUNS, run.name, extension="jsonl")

    def has_page(self, pair: Pair) -> bool:
        return pair in self.archive.by_pair

    @property
    def newest(self) -> str:
        return self.archive.runs[-1].date

    def is_stale(self, date: str) -> bool:
        """Is the date long before the site's newest run?"""
        with contextlib.suppress(ValueError):
            ends = [datetime.date.fromisoformat(text) for text in (date, self.newest)]
            return (ends[1] - ends[0]).days > STALE_DAYS
        return False

    def pages(self) -> Iterator[Page]:
        """Every file of the site."""
        for matrix in self.matrices:
            yield self._page(matrix.path, "matrix", matrix=matrix)
        if not self.matrices:
            yield self._page("index.html", "matrix", matrix=None)
        for name in self.libraries:
            yield self._library(name)
        for pair, series in self.archive.by_pair.items():
            yield self._pair(pair, series)
        yield self._page("calls.html", "calls", tables=self._calls())
        machines = grouped(reversed(self.archive.runs), lambda run: run.machine)
        yield self._page("machines.html", "machines", machines=machines)
        points = [self._state(*item) for item in self._states()]
        yield from ((point.pop("file"), point.pop("content")) for point in points)
        yield self._page("diff.html", "diff", points=json.dumps(points))
        table = self._table()
        yield from table
        yield self._page("data.html", "data", columns=list(run_record.COLUMNS),
                         has_table=bool(table), license_url=LICENSES[self.license],
                         schema=SCHEMA)  # fmt: skip
        for run in self.archive.runs:
            yield self.run_path(run), run_record.text(run.document).encode()
        yield "data/datapackage.json", self._package()
        yield f"data/{SCHEMA}", _json(run_record.schema())
        yield "site.css", (parts.style() + _text("site.css")).encode()
        yield "site.js", _scripts().encode()

    def _page(self, path: str, template: str, **shows: Any) -> Page:
        root = "../" * path.count("/")
        made = self._templates.get_template(f"{template}.html.j2")
        return path, made.render(root=root, path=path, **shows).encode()

    # A library

    @property
    def libraries(self) -> list[str]:
        return sorted({*self.archive.libraries, *self.archive.checks})

    def _library(self, name: str) -> Page:
        run = self.archive.checks.get(name)
        checks = [one for one in run.document.checks if one.library == name] if run else []
        series = [
            one for pair in ((name, "native"), ("native", name), (name, "numpy"), ("numpy", name))
            for one in self._plain(self.archive.by_pair.get(pair, []))
        ]  # fmt: skip
        own = [point for side in (0, 1) for of in self.uses(name, side).values()
               for point in of.values()]  # fmt: skip
        return self._page(
            self.library_path(name), "library", name=name,
            newest=max(own, key=lambda point: point.order_of(name), default=None),
            sides=[("exports to", 0), ("imports from", 1)],
            broken=[one for one in checks if one.outcome == "broken"],
            kept=[one for one in checks if one.outcome == "holds"],
            others=[one for one in checks if one.outcome not in ("broken", "holds")],
            checked=run, steps=self._steps(name), charts=self._charts(series),
        )  # fmt: skip

    def uses(self, name: str, side: int) -> dict[str, dict[str, Point]]:
        """By other library, by protocol: the result on the first machine's CPU."""
        found: dict[str, dict[str, Point]] = {}
        for matrix in self.matrices:
            if (matrix.machine, matrix.device) == (self.matrices[0].machine, "cpu"):
                for pair, point in sorted(matrix.tried.items()):
                    if pair[side] == name:
                        found.setdefault(pair[1 - side], {})[matrix.protocol] = point
        return found

    def _steps(self, name: str) -> list[dict[str, Any]]:
        """The steps of a library's versions, newest first; alike ones of several kinds of arrays
        are one row."""
        own = [change for change in self.changes if name in change.libraries]

        def key(change: Change) -> tuple[object, ...]:
            entry = change.after.entry
            is_exact = change.kind in ("outcome", "protocol")
            what = change.what if is_exact else "".join(re.findall("[+-]", change.what))
            place = change.after.place
            axes = entry.axes(("producer", "consumer", "protocol", "device", "clock"))
            return (*change.of(name), place, axes, change.kind, what)

        rows = [self._step(of, name) for of in grouped(own, key).values()]
        return sorted(rows, key=lambda row: row["order"], reverse=True)

    @cached_property
    def changes(self) -> list[Change]:
        return list(self.archive.changes())

    def _step(self, alike: list[Change], name: str) -> dict[str, Any]:
        first = min(
            alike, key=lambda one: (one.after.entry.case != BASELINE, one.after.entry.bytes)
        )
        return {
            "change": first, "versions": first.of(name), "order": first.after.order_of(name),
            "cases": list(dict.fromkeys(one.after.entry.case for one in alike)),
            "reports": [one for one in self.reports if one.explains(first, name)],
        }  # fmt: skip

    # A pair

    def _pair(self, pair: Pair, every: list[Series]) -> Page:
        plain = self._plain(every)
        tried = [one for one in plain if shown.state(one.newest.entry) != "absent"] or plain
        steps = [
            self._step([change], next(iter(change.libraries), pair[0]))
            for one in tried for change in one.changes
        ]  # fmt: skip
        return self._page(
            self.pair_path(pair), "pair", pair=pair, newest=tried, steps=steps,
            phases=list(_phases(every)), kinds=list(_kinds(every)), sizes=list(_sizes(every)),
            charts=self._charts(tried),
            scripts={one.newest.entry.protocol: self._script(one.newest) for one in tried},
        )  # fmt: skip

    def _plain(self, every: Iterable[Series]) -> list[Series]:
        """The whole exchanges of plain arrays, of the smallest size."""
        whole = [
            one for one in every
            if (one.newest.entry.case, one.newest.entry.phase) == (BASELINE, "exchange")
            and one.newest.entry.clock == "call" and one.newest.entry.arrays == 1
        ]  # fmt: skip
        groups = grouped(
            whole, lambda one: (one.place, *one.newest.entry.axes(("device", "protocol")))
        )
        found = [min(of, key=lambda one: one.newest.entry.bytes) for of in groups.values()]
        order = {(m.machine, m.device, m.protocol): i for i, m in enumerate(self.matrices)}

        def place(one: Series) -> int:
            entry = one.newest.entry
            key = (one.place.machine, entry.device, entry.protocol)
            return order.get(key, len(order))

        return sorted(found, key=place)

    def _charts(self, series: Iterable[Series]) -> list[tuple[Series, str]]:
        """Of histories with several times."""
        found = [
            one for one in series
            if sum(isinstance(point.entry, Measured) for point in one.points) > 1
        ]  # fmt: skip
        return [(one, shown.chart(one)) for one in found[:MOST_CHARTS]]

    def _script(self, point: Point) -> str:
        """Without a script the adapter is not known here, or nothing was tried. That of a call
        loads the adapter from this machine's folder, so it is not published."""
        if point.entry.protocol == "call":
            return ""
        # Import late, because it imports NumPy.
        from dlbench.scripts import exchange

        with contextlib.suppress(BadInput, _core.UsageError):
            return exchange.of_run(point.run.document, point.entry, self._catalogue)
        return ""

    # The other pages

    def _calls(self) -> list[tuple[Run, str, list[dict[str, str]]]]:
        """The newest tables of each machine."""
        found = {}
        for run in self.archive.runs:
            for key, lines in calls.of_document(run.document):
                if rows := calls.rows(lines):
                    found[run.machine, key] = (run, calls.title(key), rows)
        return list(found.values())

    def _states(self) -> Iterator[tuple[Run, str]]:
        for run in self.archive.runs:
            for environment in dict.fromkeys(e.environment for e in run.document.exchanges):
                yield run, environment

    def _state(self, run: Run, environment: str) -> dict[str, Any]:
        """One environment of a run, for the comparison in the browser."""
        name = run.name if environment == "default" else f"{run.name}.{environment}"
        cells = {
            "/".join(map(str, entry.axes((*EXCHANGE[1:], "clock")))): [
                shown.state(entry), shown.cost(entry), shown.memory(entry), shown.protocol(entry),
                *(_numbers(entry) if isinstance(entry, Measured) else ()),
            ]
            for entry in run.document.exchanges
            if entry.environment == environment and entry.outcome not in (*DULL, "not-run")
        }  # fmt: skip
        facts = run.document.environment(environment)
        varied = [f"{library} {version}" for library, version in facts.versions.items()
                  if version == environment.removeprefix("v")]  # fmt: skip
        made = json.dumps(cells, separators=(",", ":"))
        path = self.path("data/states", name, extension="js")
        return {
            "id": name, "run": run.name, "date": run.date, "place": str(run.place(environment)),
            "label": next(iter(varied), environment), "versions": facts.versions, "path": path,
            "file": path, "content": f"loaded({json.dumps(name)}, {made});\n".encode(),
        }  # fmt: skip

    def _table(self) -> list[Page]:
        """All cells as Parquet; none without pyarrow."""
        with contextlib.suppress(BadInput):
            documents = [run.document for run in self.archive.runs]
            return [("data/cells.parquet", arrow.export_parquet(*documents))]
        return []

    def _package(self) -> bytes:
        """The description of the data, as of the Data Package standard."""
        resources = [
            {"name": run.name.lower(), "path": f"runs/{Path(self.run_path(run)).name}",
             "format": "jsonl", "title": f"{run.machine}, {run.date}"}
            for run in self.archive.runs
        ]  # fmt: skip
        license_ = {"name": self.license, "path": LICENSES[self.license]}
        made = {"name": "dlbench", "title": self.title, "created": self.newest,
                "licenses": [license_], "resources": resources,
                "dlbench:columns": list(run_record.COLUMNS),
                "dlbench:record_schema": SCHEMA}  # fmt: skip
        return _json(made)

    def meaning(self, word: str) -> str:
        """Of an outcome or a code."""
        return glossary.terms().get(word, ("", ""))[1]


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


def _numbers(entry: Measured) -> list[object]:
    """The median, the lowest and the highest of the workers' lowest rounds, their number, and the
    instructions."""
    low = [min(worker.samples_ns) for worker in entry.workers if worker.samples_ns]
    ends = [min(low), max(low)] if low else [None, None]
    return [entry.median_ns, *ends, len(low), entry.instructions]


def _smallest(every: Iterable[Series]) -> Iterator[tuple[Series, list[Series]]]:
    """Of each place, device and protocol: a series of the smallest size, and all of that size."""
    for of in grouped(every, _kind).values():
        size = min(one.newest.entry.bytes for one in of)
        same = [one for one in of if one.newest.entry.bytes == size]
        yield same[0], same


def _kind(series: Series) -> tuple[object, ...]:
    return (series.place, *series.newest.entry.axes(("device", "protocol")))


def _phases(every: Iterable[Series]) -> Iterator[tuple[Series, dict[str, str]]]:
    """The phases of plain arrays."""
    parts_of = [
        one for one in every
        if one.newest.entry.case == BASELINE and one.newest.entry.phase in PHASES
        and isinstance(one.newest.entry, Measured)
    ]  # fmt: skip
    for first, of in _smallest(parts_of):
        yield first, {one.newest.entry.phase: shown.cost(one.newest.entry) for one in of}


def _kinds(every: Iterable[Series]) -> Iterator[tuple[Series, str, str, list[str]]]:
    """Where several kinds of arrays were tried: the cases by their result."""
    whole = [
        one for one in every
        if one.newest.entry.is_exchange and one.newest.entry.clock == "call"
        and one.newest.entry.outcome not in DULL
    ]  # fmt: skip
    for of in grouped(whole, _kind).values():
        cases = {one.newest.entry.case: one for one in reversed(of)}
        if len(cases) < 2:
            continue
        alike = grouped(cases.values(), lambda one: (shown.state(one.newest.entry), _outcome(one)))
        for (state, text), same in alike.items():
            yield same[0], state, text, sorted(one.newest.entry.case for one in same)


def _outcome(series: Series) -> str:
    entry = series.newest.entry
    if isinstance(entry, Measured):
        return shown.memory(entry)
    if entry.observed_outcome != entry.outcome:  # not timed, as it is like plain arrays
        return {"zero-copy": "shared", "unproven": "not proven"}.get(
            entry.observed_outcome, entry.observed_outcome
        )
    return f"{entry.outcome} {shown.memory(entry)}".strip()


def _sizes(every: Iterable[Series]) -> Iterator[tuple[Series, list[Series]]]:
    """Where several sizes of plain arrays were timed: the series by size."""
    timed = [
        one for one in every
        if isinstance(one.newest.entry, Measured) and one.newest.entry.is_exchange
        and one.newest.entry.case == BASELINE
    ]  # fmt: skip
    axes = ("device", "protocol", "clock")
    for of in grouped(timed, lambda one: (one.place, *one.newest.entry.axes(axes))).values():
        if len(of) > 1:
            yield of[0], sorted(of, key=lambda one: one.newest.entry.bytes)


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _lines(text: str) -> Any:
    """Foreign text of several lines as HTML; the template would escape its line feeds."""
    import markupsafe

    return markupsafe.Markup(markupsafe.escape(printable_lines(text)))


def _scripts() -> str:
    """The scripts of the report that draw charts and tables, and the site's own."""
    texts = [*map(parts.script, ("text", "theme", "chart")), _text("js/site.js"),
             _text("js/diff.js")]  # fmt: skip
    return '"use strict";\n(() => {\n' + "\n".join(texts) + "\n})();\n"
