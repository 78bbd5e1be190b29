"""`dlbench bisect`: the first version at which an exchange changed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from dlbench import _core, values
from dlbench.analysis import bisection, cells, history, steps
from dlbench.document import Document, Entry, NotMeasured, Run
from dlbench.environments import versions
from dlbench.environments.environment import Environment, here
from dlbench.errors import BadInput
from dlbench.running import completion, options, run, rundir
from dlbench.running.request import Request, read_context, resumed
from dlbench.text import output
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import count
from dlbench.track import measuring

MEASURING = {"jobs", "timeout", "adapters", "out", "seed", "quiet", "resume"}
TIME = "time"
ENDS = "tests/ends"  #: the measurement of both ends, below the run's folder
#: Kinds of steps, in the order in which the two ends are compared.
KINDS = (*history.LEAST, TIME)
#: The axes of a cell's name that its words choose.
NAMED = ("producer", "consumer", "protocol", "device", "case", "bytes")


@dataclass
class Search:
    """The versions from GOOD to BAD, and what was measured of them."""

    request: Request
    recipes: list[versions.Recipe]
    folder: Path
    install_s: float
    quiet: bool
    library: str = ""
    places: dict[int, Environment] = field(default_factory=dict)
    is_slower: bool = False  #: the change of time that is searched
    document: Document | None = None  #: the last measured
    found: dict[int, Entry] = field(default_factory=dict)  #: by version, the last measured
    tested: int = 0

    def say(self, text: str) -> None:
        if not self.quiet:
            output.print_error(text)

    def name(self, index: int) -> str:
        return self.recipes[index].name

    def place(self, index: int) -> Environment:
        """The version's environment, or the failure."""
        if index not in self.places:
            recipe = self.recipes[index]
            if not recipe.is_made:
                self.say(f"  {recipe.name}  installing")
            self.places[index] = measuring.prepare(recipe, self.install_s, self.request)
        return self.places[index]

    def measure(self, indexes: Sequence[int], folder: Path, replicas: int) -> dict[int, Entry]:
        """The cell in these versions, measured in one run; without those that cannot run."""
        fit = {i: self.place(i) for i in indexes if self.place(i).failure is None}
        if not fit:
            return {}
        wanted = replace(self.request, replicas=replicas)
        folder.mkdir(parents=True, exist_ok=True)
        is_begun = (folder / "journal.jsonl").exists()
        if is_begun:
            self._require_same(wanted, [*fit.values()], folder)
        document, signal = measuring.measure(
            wanted, [*fit.values()], folder, quiet=True, resume=is_begun
        )
        if signal:
            again = f"type the command again with --resume {self.folder} in place of --out"
            raise SystemExit(run.interrupted(signal, again))
        self.document = document
        found = {i: _of(document, place.name) for i, place in fit.items()}
        self.found |= found
        return found

    def _require_same(self, wanted: Request, fit: Sequence[Environment], folder: Path) -> None:
        """Raises BadInput if the journal in the folder is of another search. An environment's
        folder is named after what is installed there."""
        context = read_context(folder)
        stored = resumed(context)
        if stored != replace(wanted, env=measuring.named(fit), pair=stored.pair):
            its = dlbench_command(*Run(context["dlbench"]).command[1:])
            raise BadInput(f"cannot resume {str(self.folder)!r}: it is another search: {its}")

    def reason(self, index: int) -> str:
        """What is known of a version that was tried."""
        failure = self.place(index).failure
        return failure.reason if failure else describe(self.found[index])

    def moved(self, pair: Sequence[int]) -> list[str]:
        """Other libraries that differ in two versions of the last measurement."""
        names = [self.name(index) for index in pair]
        known = self.document and history.partners(self.document, names, self.library)
        return history.moved(known[names[0]], known[names[1]]) if known else []

    def facts(self, index: int) -> history.Facts | None:
        """One version, measured once."""
        self.tested += 1
        found = self.measure([index], self.folder / "tests" / self.name(index), 1).get(index)
        self.say(f"  {self.name(index)}  {self.reason(index)}")
        return history.facts(found) if found else None

    def time(self, index: int) -> float | None:
        """One worker of a version."""
        self.tested += 1
        folder = self.folder / "tests" / f"{self.name(index)}-{self.tested}"
        found = self.measure([index], folder, 1).get(index)
        times = history.times(found) if found else []
        known = values.duration(times[0], times[0] / 100) if times else self.reason(index)
        self.say(f"  {self.name(index)}  {known}")
        return times[0] if times else None


def _of(document: Document, environment: str) -> Entry:
    found = [one for one in document.entries if one.environment == environment and one.is_exchange]
    return cells.usual(found)[0]


@click.command("bisect")
@click.argument("library", shell_complete=completion.of(completion.libraries))
@click.argument("good")
@click.argument("bad")
@click.argument("cell", nargs=-1, required=True)
@click.option(
    "--step", type=click.Choice(KINDS), help="Search this kind of step. Default: the first found."
)
@measuring.WHEELS
@measuring.installing
@options.measuring(MEASURING)
def bisect(library: str, good: str, bad: str, cell: tuple[str, ...], **params: Any) -> int:
    """Find the first version of a library at which an exchange changed.

    LIBRARY is a library or a package, GOOD and BAD are two of its versions. CELL is PRODUCER
    CONSUMER [PROTOCOL] [CASE] [SIZE], or a cell's name; default: dlpack f32 4KiB. Both versions are
    measured first. The outcome decides, or else the protocol, the instructions, the time.
    """
    if params["resume"] and params["out"]:
        raise BadInput("--resume writes to the folder of the search: leave out --out")
    request = requested(cell, params)
    low, high = sorted((versions.release("GOOD", good), versions.release("BAD", bad)))
    if low == high:
        raise BadInput(f"GOOD and BAD are one version: {low}")
    package = package_of(request, library)
    try:
        recipes = measuring.recipes(request, f"{package}>={low},<={high}", params)
    except BadInput as error:
        known = run.find_adapters(request.adapters, here()).files
        raise BadInput(f"{error}{_core.did_you_mean(package, list(known))}") from error
    for version, recipe in ((low, recipes[0]), (high, recipes[-1])):
        if versions.release("--versions", recipe.name) != version:  # 2.1 is 2.1.0
            raise BadInput(f"{package} has no version {version}; --pre has pre-releases too")
    install_s = _core.parse_seconds(params["install_timeout"])
    folder = rundir.resumable(params["resume"]) if params["resume"] else rundir.fresh(params["out"])
    if params["resume"] and not (folder / ENDS / "journal.jsonl").exists():
        raise BadInput(f"cannot resume {str(folder)!r}: it holds no measurement of bisect")
    named = {one: name for name, one in measuring.packages(request).items()}
    search = Search(
        request, recipes, folder, install_s, params["quiet"], named.get(package, package)
    )
    try:
        return report(search, *found_gap(search, params["step"]))
    finally:
        rundir.remove_folder(folder)  # keeps what was measured


def package_of(request: Request, word: str) -> str:
    """The package of a library, or the word as the name of a package. Raises BadInput."""
    adapters = run.find_adapters(request.adapters, here())
    found = measuring.package_of(adapters, word) if word in adapters.files else [word]
    if not found:
        raise BadInput(f"{word} comes with dlbench, so it has no versions")
    return found[0]


def requested(cell: Sequence[str], params: dict[str, Any]) -> Request:
    """The request of one cell."""
    words = list(cell)
    if len(words) == 1 and "/" in words[0]:
        axes = dict(part.partition(":")[::2] for part in words[0].split("/"))
        if next(iter(axes)) != "exchange" or axes.get("clock", "call") != "call":
            raise BadInput(f"bisect measures the phase exchange by the clock call, not {words[0]}")
        words = [axes[name] for name in NAMED if name in axes]
        words += [f"{cells.ARRAYS}{number}" for name, number in axes.items() if name == "arrays"]
    if len(words) < 2:
        raise BadInput("CELL is PRODUCER CONSUMER [PROTOCOL] [CASE] [SIZE], or a cell's name")
    named: dict[str, str] = {}
    for word in words[2:]:
        axis = _axis(word)
        if axis in named:
            raise BadInput(f"CELL has two {axis}, {named[axis]} and {word}: leave out one")
        named[axis] = word
    found = {axis: [word.removeprefix(cells.ARRAYS)] for axis, word in named.items()}
    usual = {"protocols": ["dlpack"], "devices": ["cpu"], "count": measuring.counts()}
    return measuring.make_request({**params, **usual, **found}, words[:1], words[1:2])


def _axis(word: str) -> str:
    if word in _core.protocols:
        return "protocols"
    if _core.is_case(word):
        return "cases"
    if word.startswith(cells.ARRAYS):
        return "arrays"
    if word[0].isdigit():
        return "sizes"
    try:
        _core.parse_device(word, [])
    except _core.UsageError:
        hint = _core.did_you_mean(
            word, [*_core.protocols, *itertools.chain(*_core.case_axes.values())]
        )
        raise BadInput(f"CELL: {word!r} is no protocol, case, size or device{hint}") from None
    return "devices"


def found_gap(search: Search, step: str | None) -> tuple[bisection.Gap, str]:
    """The gap, and the kind of step between its versions."""
    last = len(search.recipes) - 1
    search.say(f"{count(last + 1, 'version')} from {search.name(0)} to {search.name(last)}")
    ends = search.measure([0, last], search.folder / ENDS, 1)
    for index in (0, last):
        search.place(index).require_worker()
        search.say(f"  {search.name(index)}  {describe(ends[index])}")
    search.tested += 2
    known = {0: history.facts(ends[0]), last: history.facts(ends[last])}
    kind = step or known[0].step(known[last])
    if kind and kind != TIME:
        if known[0].change(known[last], kind) < history.LEAST[kind]:
            raise BadInput(f"{search.name(0)} and {search.name(last)} do not differ in {kind}")
        if kind != "code":
            search.request.count = []  # counting takes most of a measurement
        return bisection.by_facts(lambda i: known.get(i) or search.facts(i), last, kind), kind
    search.request.count = []  # it found no step
    search.say(f"no other step: {measuring.REPLICAS} workers of both for the time")
    timed = search.measure([0, last], search.folder / "tests/times", measuring.REPLICAS)
    good, bad = (np.array(history.times(timed[index])) for index in (0, last))
    search.tested += len(good) + len(bad)
    if len(good) != len(bad) or not len(good) or not steps.find(np.array([good, bad]).T):
        raise BadInput(
            f"{search.name(0)} and {search.name(last)} do not differ: {describe(timed[0])}; "
            f"{describe(timed[last])}"
        )
    search.is_slower = bool(np.median(bad) > np.median(good))
    return bisection.by_times(search.time, good, bad, last), TIME


def describe(entry: Entry) -> str:
    """What decides, in one line."""
    facts, known = history.facts(entry), history.times(entry)
    time = float(np.median(known)) if known else 0.0
    why = (
        f"{entry.observed_outcome}: {values.reason(entry)}"
        if isinstance(entry, NotMeasured)
        else entry.observed_outcome
    )
    words = [why, facts.protocol, values.duration(time, time / 100) if time else ""]
    words += [f"{facts.code:,.0f} instructions"] if facts.code else []
    return ", ".join(filter(None, words))


def report(search: Search, gap: bisection.Gap, kind: str) -> int:
    """Measures the two versions of the gap again, and prints what was found."""
    pair = [gap.low, gap.high]
    again = search.measure(pair, search.folder, measuring.REPLICAS if kind == TIME else 1)
    before, after = again[gap.low], again[gap.high]
    seen = confirmation(before, after, kind, is_slower=search.is_slower)
    first = search.name(gap.high)
    about = (before.protocol, before.case, values.size(before.bytes))
    output.print_line(f"{before.producer} -> {before.consumer} {' '.join(about)}")
    output.print_line(f"first changed version: {first}, after {search.name(gap.low)}")
    for index in pair:
        output.print_line(f"  {search.name(index)}  {describe(again[index])}")
    if moved := search.moved(pair):
        output.print_line(f"may be the cause too: {', '.join(moved)}")
    output.print_line(f"second measurement of both: {seen or 'not confirmed'}")
    workers = "worker" if kind == TIME else "measurement"
    output.print_line(f"found with {count(search.tested, workers)}")
    if gap.confidence < bisection.CONFIDENCE:
        output.print_line(f"confidence of this gap: {values.percent(gap.confidence)}")
    if gap.is_several:
        output.print_line("there are several steps: this is one of them")
    for index in range(gap.low + 1, gap.high):
        text = f"may be the first: {search.name(index)}, not decided: {search.reason(index)}"
        output.print_line(text)
    for index in pair:
        place = search.places[index]
        words = cells.words_for(again[index], [before, after])
        env = f"{place.name}={place.python}"
        repro = ("repro", search.folder, before.producer, before.consumer, *words)
        output.print_line(dlbench_command(*repro, "--run", "--env", env))
        if index == gap.high and kind == "outcome" and after.outcome != "zero-copy":
            output.print_line(dlbench_command(*repro, "--issue", "--env", env))
    if kind in ("code", TIME):
        output.print_line(compare_command(search, again, pair, kind))
    return 0 if seen else 1


def confirmation(before: Entry, after: Entry, kind: str, *, is_slower: bool = False) -> str:
    """The step of this kind between both, or nothing. One in time goes the way of the search."""
    if kind == TIME:
        found = history.segments([before, after])
        return "".join(
            f"confirmed: {one.kind}: {one.what}"
            for one in found[1:]
            if one.kind in history.TIMED and (one.ns > found[0].ns) == is_slower
        )
    base, head = history.facts(before), history.facts(after)
    if base.change(head, kind) < history.LEAST[kind]:
        return ""
    return f"confirmed: {kind}: {base.words(head, kind)}"


def compare_command(search: Search, again: dict[int, Entry], pair: Sequence[int], kind: str) -> str:
    """The command that measures the change of a number again; no script shows it."""
    entry = again[pair[0]]
    base, head = (f"{search.places[i].name}={search.places[i].python}" for i in pair)
    words = ["compare", "--matrix", "--producers", entry.producer, "--consumers", entry.consumer]
    words += ["--protocols", entry.protocol, "--cases", entry.case, "--sizes", str(entry.bytes)]
    words += ["--base-env", base, "--head-env", head]
    return dlbench_command(*words, *(["--count", "instructions"] if kind == "code" else []))
