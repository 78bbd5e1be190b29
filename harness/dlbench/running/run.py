"""From a request to a run's files and its output on the terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dlbench import _core, plots, values
from dlbench.analysis.calls import CALL
from dlbench.counting import valgrind
from dlbench.document import LATEST, RESULTS, Comparison, Document, read_document
from dlbench.environments import probe
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput, first_line, os_line, os_reason
from dlbench.libraries import discover
from dlbench.libraries.import_orders import ImportOrders
from dlbench.machine import machine
from dlbench.machine.noise import Noise
from dlbench.passes import walk
from dlbench.passes.api_calls import TraceApiCalls
from dlbench.passes.captures import CaptureExchanges
from dlbench.passes.instructions import CountInstructions
from dlbench.passes.synchronization import ClassifySynchronization
from dlbench.running import calls, estimate, reporting, rundir
from dlbench.running.request import Request
from dlbench.terminal import terminal
from dlbench.text import output, progress
from dlbench.text.grouping import grouped
from dlbench.text.layout import count, listing
from dlbench.text.output import Console


def warn(text: str) -> None:
    output.print_error(f"dlbench: {text}")


def interrupted(signal: int, again: str) -> int:
    """Warns with how to continue; the exit status."""
    warn(f"interrupted; what was measured is kept: {again}")
    return 128 + signal


def find_adapters(adapters: str | None, environment: Environment) -> discover.Catalogue:
    """See discover.catalogue(); warns about adapters that were left out."""
    found = discover.catalogue(adapters, environment=environment)
    for warning in found.warnings:
        warn(warning)
    return found


def find_environments(request: Request) -> list[Environment]:
    """The default environment and those of `--env`; see probe.find()."""
    return probe.find(request.env, _core.parse_seconds(request.timeout))


def find_libraries(
    request: Request, places: Iterable[Environment], *, compiles: bool = True
) -> list[_core.Library]:
    """The libraries of each environment, with those requested by argument. Compiles what the
    functions of consumers need for `call`."""
    found = {place.name: find_adapters(request.adapters, place) for place in places}
    requested = request.libraries()
    libraries = [one for each in found.values() for one in discover.libraries(each, requested)]
    if compiles and CALL in request.protocols:
        axes = request.axes()
        axes.environments = list(found)
        plan = _core.make_plan(libraries, axes)  # refuses unknown names before anything is compiled
        consumers = {(environment, name) for environment, _, name, _ in plan.pairs}
        used = [one for one in libraries if (one.environment, one.name) in consumers]
        for place, own in grouped(used, lambda one: one.environment).items():
            calls.compile_sources(own, found[place], warn)
    return libraries


@dataclass(frozen=True)
class Prepared:
    """A request, with its environments, libraries and cells on this machine."""

    request: Request
    places: list[Environment]
    libraries: list[_core.Library]
    plan: _core.Plan

    def __post_init__(self) -> None:
        self.request.decide_replicas(self.plan)


def context(prepared: Prepared, noise: Noise) -> dict[str, Any]:
    """The part of a document's context that is known before the first worker starts."""
    request = prepared.request
    typed = click.get_current_context(silent=True)
    own = {
        "schema": 1,
        "version": _core.version,
        "build": _core.build_id,
        "command": (typed and typed.obj) or sys.argv,
        "seed": request.seed,
        "request": request.kept(),
        "not_installed": not_installed(request, prepared.libraries),
        "machine": machine.describe(),
        "noise": noise.to_json(),
        "environments": describe_environments(prepared),
    }
    if request.count:
        own["counted_by"] = f"callgrind of {valgrind.version()}"
    return {**machine.benchmark_context(), "dlbench": own}


def report_noise(found: Noise) -> None:
    """Prints the noise right before the run. Warns if the machine is too busy to measure, and
    continues."""
    output.print_error(f"machine: {', '.join(found.facts())}")
    if reasons := ", ".join(found.reasons()):
        warn(f"the machine is busy ({reasons}): see 'dlbench doctor'")


def not_installed(request: Request, libraries: list[_core.Library]) -> dict[str, str]:
    """The commands that install missing libraries: those in no environment, and requested libraries
    that one environment lacks.
    """
    requested = request.libraries()
    there = Counter(one.name for one in libraries if one.installed)
    found = {}
    for one in libraries:
        if one.installed or one.absence != "not-installed":
            continue
        named = one.name in requested
        if there[one.name] and named:
            found[f"{one.name} in {one.environment}"] = one.why_not
        elif named or (not there[one.name] and not requested - {"all"} and one.in_default_matrix):
            found.setdefault(one.name, one.why_not)
    return found


def describe_environments(prepared: Prepared) -> dict[str, Any]:
    """Each environment with the versions on which its cells depend; a resumed run must have the
    same. Workers add more facts."""
    used = discover.used_in(prepared.plan)
    environments = {place.name: place.to_json() for place in prepared.places}
    for one in prepared.libraries:
        if one.version and (one.environment, one.name) in used:
            environments[one.environment]["libraries"][one.name] = one.version
    return environments


def dry_run(prepared: Prepared, console: Console, *, everything: bool) -> int:
    """Prints the size of the plan and about how long it takes; with `everything` each cell too, and
    each impossible cell with the reason."""
    plan, replicas = prepared.plan, prepared.request.replicas
    for cell in plan.cells if everything else ():
        console.print(cell.name, soft_wrap=True)
    for cell, outcome, reason in plan.excluded if everything else ():
        console.print(f"{cell.name}  {outcome}: {reason}", soft_wrap=True)
    pairs = {(cell.producer, cell.consumer) for cell in plan.cells}
    time = estimate.text(prepared.request, plan.cells)
    times = "once" if replicas == 1 else f"in {replicas} processes"
    lines = [
        f"{count(len(pairs), 'pair')}, {count(len(plan.cells), 'cell')} to measure {times}: {time}"
    ]
    if outcomes := Counter(outcome for _, outcome, _ in plan.excluded):
        named = ", ".join(f"{times} {outcome}" for outcome, times in outcomes.most_common())
        lines.append(f"{len(plan.excluded)} without a worker: {named}")
    lines += [] if everything else ["--all lists them"]
    for line in lines:
        console.print(line, soft_wrap=True)
    return 0


def require_cells(plan: _core.Plan) -> None:
    """Raises BadInput, with the reasons, for a plan without a cell to measure."""
    if plan.cells:
        return
    reasons = Counter(f"{outcome}: {reason}" for _, outcome, reason in plan.excluded)
    why = listing((reason for reason, _ in reasons.most_common()), 3)
    raise BadInput(f"nothing to measure: {why or 'no cell of the plan passes the filter'}")


def execute(
    prepared: Prepared,
    options: dict[str, Any],
    folder: Path,
    noise: Noise,
    *,
    quiet: bool,
    stage: str = "",
    shows_first: bool = False,
) -> _core.Summary:
    """Runs the plan; `_core.Summary`. Reports the noise once the run has begun, so that a refused
    run prints only the error. `latest` points at `folder` once a cell is recorded. `stage` as of
    progress.observer. With `shows_first`, on a terminal, it prints the matrix of the first process
    of each cell. Raises BadInput if the system refuses a resource."""
    orders = ImportOrders(prepared.libraries, prepared.plan, prepared.places)
    replicas = options["replicas"]
    with progress.observer(sys.stderr, quiet, stage) as observer:
        first = progress.First(
            observer,
            begin=lambda: None if quiet else report_noise(noise),
            record=lambda: link_latest(folder),
            cover=lambda: show_first(folder, replicas, observer) if shows_first else None,
        )
        try:
            summary = _core.run(prepared.plan, options | {"orders": orders.known()}, first)
        except OSError as error:
            raise BadInput(os_line(options["out"], error)) from error
        orders.keep(summary.orders)
        if summary.recorded:
            first.record()  # in a resumed run all cells may have been recorded before
    return summary


def show_first(folder: Path, replicas: int, observer: progress.Quiet) -> None:
    """Prints the matrix of the first process while the others are measured."""
    width = observer.shows_lines()
    if not width:
        return
    # A failure here must not stop the run.
    with contextlib.suppress(OSError, BadInput, _core.UsageError):
        path = Path(_core.write_document(str(folder)))
        try:
            observer.print(terminal.render_first(read_document(path), width, replicas))
        finally:
            path.unlink(missing_ok=True)  # the journal is complete only later


def link_latest(folder: Path) -> None:
    """See rundir.link_latest(); a failure is a warning."""
    try:
        rundir.link_latest(folder)
    except OSError as error:
        warn(f"cannot link {RESULTS / LATEST}: {os_reason(error)}")


def after_rounds(prepared: Prepared, folder: Path, summary: _core.Summary, *, quiet: bool) -> int:
    """Runs the passes of `--count`, `--trace-api`, `--capture` and `--sync`; returns the signal
    that ended them or the rounds, or 0."""
    request = prepared.request
    wanted: list[type[walk.Pass[Any, Any]]] = [CountInstructions] if request.count else []
    wanted += [TraceApiCalls] if request.trace_api else []
    # Before `--sync`, because a race is not a measured exchange.
    wanted += [CaptureExchanges] if request.capture else []
    wanted += [ClassifySynchronization] if request.sync else []
    if summary.signal or summary.disk_full or not wanted:
        return summary.signal
    timeout_s = _core.parse_seconds(request.timeout)
    found = discover.catalogues(request.adapters, prepared.places)
    begin, signal = time.monotonic(), 0
    for pass_ in wanted:
        if not signal:
            at_a_time = machine.processes_at_a_time(pass_.worker_bytes)
            signal = walk.resume(pass_(folder, found, timeout_s), at_a_time, quiet=quiet)
    _core.append_end(str(folder), time.monotonic() - begin, signal)
    return signal


def conclude(
    folder: Path,
    summary: _core.Summary,
    *,
    again: str,
    signal: int,
    plots: bool,
    quiet: bool,
    console: Console,
) -> int:
    """Document, figures, report, terminal; the exit status. `again`: the command that continues the
    run."""
    if summary.disk_full:
        warn(f"{summary.disk_full}; what was recorded is kept: {again}")
        return 2
    try:
        path = Path(_core.write_document(str(folder)))
        document = read_document(path)
        plots = plots and bool(document.measured)
        drawn = draw_at_the_end(document, folder) if plots else ()
        page = reporting.at_the_end(document, folder) if plots else ()
        # Each figure is written as SVG too; only one name is printed.
        files = (*page, path.name, *(name for name in drawn if name.endswith(".png")))
    except OSError as error:
        warn(f"{os_line(folder, error)}; the journal is kept: {again}")
        return 2
    if not quiet:
        place = shown_place(folder)
        is_pair = document.run.request.is_pair
        lines = terminal.render(
            document, console.width, *place, files, is_pair=is_pair, is_ending=True
        )
        terminal.show(lines, console)
    if signal:
        warn(f"interrupted; what was recorded is kept: {again}")
        return 128 + signal
    if not document.measured:
        warn(f"nothing could be measured{most_frequent_reason(document)}")
        return 2
    return 0


def most_frequent_reason(document: Document) -> str:
    """ ": " and the reason that most cells without a number have."""
    causes = grouped(document.not_measured, lambda entry: entry.cause).values()
    return f": {values.reason(max(causes, key=len)[0])}" if causes else ""


def shown_place(folder: Path) -> tuple[str, str]:
    """The run's name in commands, and the folder of its files."""
    if rundir.is_latest(folder):
        return LATEST, str(RESULTS / LATEST)
    return str(folder), str(folder)


def draw_at_the_end(document: Document, folder: Path) -> tuple[str, ...]:
    """Draws the figures of a run's end; their files' names; none without the extra."""
    if plots.lacks("a figure", "matplotlib"):
        return ()
    from dlbench.plots import figures  # matplotlib imports slowly

    paths = figures.draw(document, folder, among=figures.AT_THE_END)
    return tuple(path.name for path in paths)


def draw_requested(
    document: Document, folder: Path, figure: str | None, relative_to: str
) -> tuple[str, ...]:
    """Draws one or all figures; their files, relative to the folder. Raises BadInput where the
    document has nothing for it, and without the extra."""
    if lacking := plots.lacks("a figure", "matplotlib"):
        raise BadInput(lacking)
    from dlbench.plots import figures

    try:
        fits = figure is None or figures.has(document, figure)
        paths = figures.draw(document, folder, figure, relative_to=relative_to) if fits else []
    except ValueError as error:
        raise BadInput(first_line(error)) from error
    if not paths:
        needs = f"the figure {figure} needs {figures.NEEDS[figure][1]}" if figure else ""
        raise BadInput(f"nothing to draw: {needs or 'the run has no exchanges'}")
    return tuple(str(path.relative_to(folder)) for path in paths)


def draw_change(comparison: Comparison, head: Path) -> tuple[str, ...]:
    """Draws the figure of changes next to the head's document; returns the file names. Raises
    BadInput without the extra."""
    if lacking := plots.lacks("a figure", "matplotlib"):
        raise BadInput(lacking)
    from dlbench.plots import figures

    machine = read_document(head).run.machine.cpu
    return tuple(path.name for path in figures.draw_change(comparison, head.parent, machine))
