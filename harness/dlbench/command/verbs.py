"""The verbs that report on a machine, its libraries, or an earlier run."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import click
from rich.text import Text

from dlbench import _core
from dlbench.analysis import cells, phases
from dlbench.analysis.machines import require_machine
from dlbench.check import conformance, verb
from dlbench.check.rules import RULES
from dlbench.command import debug, listing, publish, showing
from dlbench.command.fleet import fleet
from dlbench.command.merge import merge
from dlbench.command.site import site
from dlbench.compare.verb import compare
from dlbench.counting import breakdown_text, explain, valgrind
from dlbench.document import Document, Entry, locate, read_document
from dlbench.environments import env_option, probe
from dlbench.environments.environment import DEFAULT, Environment, here
from dlbench.errors import BadInput
from dlbench.libraries import discover
from dlbench.machine import doctor
from dlbench.machine.noise import NoiseProbe
from dlbench.running import comparing, completion, options, run
from dlbench.running.request import SEED
from dlbench.scripts import bug_report, exchange, running
from dlbench.terminal import pair, terminal
from dlbench.text import glossary, output
from dlbench.text.layout import fold
from dlbench.text.output import Console
from dlbench.text.progress import Waiting
from dlbench.track.bisect import bisect
from dlbench.track.canary import canary
from dlbench.track.verb import track

RUN = click.argument("run_", metavar="RUN", shell_complete=completion.runs)
PROBE_S = 30.0  #: deadline for an interpreter to report its facts
ENV = click.option(
    "--env",
    multiple=True,
    metavar="NAME=PYTHON",
    help="List the libraries of that Python too; may be repeated.",
)
RELATIVE_TO = click.option(
    "--relative-to", metavar="MACHINE", default="",
    help="Of a merged run, show times relative to this machine. Default: the first.",
)  # fmt: skip
ADAPTERS = click.option(
    "--adapters", metavar="DIR", help="Load the adapters in DIR/producers and DIR/consumers too."
)


def of_cell(function: options.Function) -> options.Function:
    """Adds the arguments of the verbs that run one cell."""
    its_env = click.option("--env", multiple=True, metavar="NAME=PYTHON",
                           help="Run the cell of environment NAME with this Python.")  # fmt: skip
    cell = click.argument("cell", nargs=-1, required=True, shell_complete=completion.cell)
    return RUN(cell(ADAPTERS(its_env(function))))


@click.command("list")
@click.argument("names", nargs=-1, metavar="[LIBRARY]...",
                shell_complete=completion.of(completion.libraries))  # fmt: skip
@ADAPTERS
@ENV
def list_libraries(names: tuple[str, ...], adapters: str | None, env: tuple[str, ...]) -> None:
    """List libraries: version, protocols, and how to install what is missing.

    Imports each installed library once for each of its versions. A failed import is tried again
    after an hour, or when the library is named.
    """
    console = Console()
    waiting = Waiting(sys.stderr)

    def start(requested: list[_core.Library]) -> None:
        names = ", ".join(f"{one.name} {one.version}".strip() for one in requested)
        output.print_error(f"importing, once for each version: {names}")

    places = probe.find(env, PROBE_S)
    for place in places:
        found = run.find_adapters(adapters, place)
        libraries = discover.libraries(found, names)
        for name in names:
            _core.require_known("library", name, [one.name for one in libraries])
        if len(places) > 1:
            terminal.show(listing.title(place, console.width), console)
        chosen = [one for one in libraries if not names or one.name in names]
        for line in listing.table(
            chosen, place, console.width, start, waiting.show, retry=bool(names)
        ):
            waiting.clear()
            console.print(line, soft_wrap=True)
            sys.stdout.flush()
    if not names:
        terminal.show(listing.by_argument(found, console.width), console)


@click.command("doctor")
@click.option("--env", multiple=True, metavar="NAME=PYTHON",
              help="Report whether a worker runs in that Python too; may be repeated.")  # fmt: skip
def report_noise_sources(env: tuple[str, ...]) -> None:
    """Report sources of measurement noise on this machine, and its devices."""
    console, probe = Console(), NoiseProbe()
    interpreters = doctor.environments(env_option.read(env), PROBE_S)
    found = [*doctor.checks(), *interpreters, *doctor.noise(probe.finish())]
    terminal.show(doctor.table(found, console.width), console)


@click.command()
@RUN
@click.argument("cell", nargs=-1, shell_complete=completion.cell)
@RELATIVE_TO
def show(run_: str, cell: tuple[str, ...], relative_to: str) -> None:
    """Print an earlier run; with CELL, all facts about the cells that match.

    RUN is a run's folder, a results.json, or `latest`. CELL is a cell's name, or words that choose:
    PRODUCER CONSUMER [PROTOCOL] [BYTES] ... For several cells, the evidence and warnings of
    all and the details of one are printed.
    """
    console = Console()
    path = locate(run_)
    document = read_document(path)
    if relative_to:
        require_machine(document, relative_to)
    if not cell:
        showing.show(document, path, run_, console, relative_to)
        return
    chosen = cells.matching(document, cell)
    if len(chosen) > 1:
        parts = phases.columns(document.entries)
        terminal.show(pair.table(chosen, console.width, parts, relative_to), console)
        terminal.show([Text(), *pair.shared_facts(chosen, console.width)], console)
        chosen = cells.usual(chosen)[:1]
        heading = "the first of these cells; for another one add its protocol, size or case"
        terminal.show([Text(), Text(heading, style="bold")], console)
    _, environment = document.origin(chosen[0])
    for line in pair.details(chosen[0], environment):
        console.print(line, soft_wrap=True)


def _chosen(run_: str, cell: tuple[str, ...], adapters: str | None) -> tuple[Document, Entry]:
    """The cell, with its machine's share of the document. The document is not trusted, so adapters
    from a folder that it names are not loaded."""
    document = read_document(locate(run_))
    entry = cells.single(document, cell)
    if entry.machine:
        document = document.share_of(entry.machine)
    took = document.run.request.adapters
    if took and not adapters:
        run.warn(
            f"the run used adapters of a folder; to load them, add --adapters {shlex.quote(took)}"
        )
    return document, entry


def _its_environment(document: Document, entry: Entry, env: tuple[str, ...]) -> Environment:
    """The cell's environment, probed again: our own, or the one that this command line names.

    The document is not trusted, so the interpreter that it names is not started. Raises BadInput
    if no worker can run there.
    """
    name = entry.environment
    if name == DEFAULT:
        if env:
            raise BadInput("the cell is of dlbench's own Python: leave out --env")
        return here()
    named = env_option.read(env)
    if name not in named:
        had = document.environment(name).executable
        python = had if Path(had).is_absolute() else "PYTHON"
        raise BadInput(
            f"the cell is of environment {name!r}; to run it, add --env "
            + shlex.quote(f"{name}={python}")
        )
    found = probe.probe(name, named[name], PROBE_S)
    found.require_worker()
    return found


@click.command("repro")
@of_cell
@click.option(
    "--run", "is_run", is_flag=True, help="Run the script; print the run's result and that of now."
)
@click.option(
    "--imports",
    is_flag=True,
    help="Print only the import statements, in the order that fails.",
)
@click.option(
    "--issue", is_flag=True, help="Run the script; print a bug report if it shows a fault."
)
@click.option(
    "--timeout",
    metavar="TIME",
    default="120s",
    help="Deadline of the script under --run and --issue. Default: 120s.",
)
def reproduce(
    run_: str,
    cell: tuple[str, ...],
    adapters: str | None,
    env: tuple[str, ...],
    is_run: bool,
    imports: bool,
    issue: bool,
    timeout: str,
) -> int:
    """Print a script that reproduces a cell's outcome without dlbench.

    With --run the exit code is 1 where the result differs from that of the run, and 0 where it does
    not or the script has no verdict. With --issue it is 2 where the script shows no fault.
    """
    if is_run and issue:
        raise BadInput("--issue runs the script, too: leave out --run")
    document, entry = _chosen(run_, cell, adapters)
    # Without --run or --issue nothing is started, so the document may be of another machine.
    made = exchange.of_imports if imports else exchange.of_run
    script = made(document, entry, discover.catalogue(adapters))
    if not is_run and not issue:
        if env:
            raise BadInput(
                "without --run no interpreter is started: leave out --env, or add --run or --issue"
            )
        output.write_text(script)
        return 0
    place = _its_environment(document, entry, env)
    verdict = running.run_script(script, place, _core.parse_seconds(timeout))
    if issue:
        title = f"{entry.producer} -> {entry.consumer}, {entry.protocol}: {verdict.actual}"
        title += f" instead of {verdict.expected}"
        device = entry.source_device
        output.write_text(bug_report.text(title, [], script, verdict, place, device))
        return 0
    for line in verdict.printed:
        output.print_line(line)
    if not verdict.actual:
        output.print_line("the script is inconclusive")
        return 0
    observed = exchange.observed(entry)
    output.print_line(f"expected  {verdict.expected}")
    output.print_line(f"observed  {observed or entry.outcome}")
    output.print_line(f"now       {verdict.actual}")
    holds = verdict.actual.partition(":")[0] == observed if observed else verdict.is_fault
    return 0 if holds else 1


@click.command("debug")
@of_cell
def debug_cell(
    run_: str, cell: tuple[str, ...], adapters: str | None, env: tuple[str, ...]
) -> None:
    """Run one cell in the foreground without a deadline, for gdb."""
    document, entry = _chosen(run_, cell, adapters)
    place = _its_environment(document, entry, env)
    path = debug.write(debug.requests(entry, discover.catalogue(adapters, environment=place)))
    output.print_line(debug.debugger_line(path, place.python))
    sys.stdout.flush()
    argv = debug.command(path, place.python)
    os.execv(argv[0], argv)


@click.command("explain")
@of_cell
@click.option(
    "--timeout", metavar="TIME", default="300s", help="Deadline of one step. Default: 300s."
)
def explain_cell(
    run_: str,
    cell: tuple[str, ...],
    adapters: str | None,
    env: tuple[str, ...],
    timeout: str,
) -> None:
    """Print the instruction breakdown of one exchange. Needs valgrind."""
    valgrind.require()
    timeout_s = _core.parse_seconds(timeout)
    document, entry = _chosen(run_, cell, adapters)
    place = _its_environment(document, entry, env)
    found = discover.catalogue(adapters, environment=place)
    console = Console()
    exchange = explain.countable(entry)
    title = breakdown_text.title(exchange)
    what = f"the instructions of {title} in valgrind"
    run.warn(f"counting {what}, which may take minutes; a step ends after {timeout} (--timeout)")
    breakdown, versions = explain.explain(exchange, found, timeout_s)
    for line in explain.changed(document, exchange, versions):
        run.warn(line)
    timed = explain.phases_of(document.entries, exchange)
    terminal.show(breakdown_text.lines(exchange, timed, breakdown, console.width), console)


@click.command()
@RUN
@click.option(
    "--figure",
    metavar="NAME",
    help="Draw only this figure: matrix, scaling, phases, ... Default: all.",
)
@click.option("--base", metavar="RUN", help="Draw the changes since RUN, the figure `change`.")
@RELATIVE_TO
def plot(run_: str, figure: str | None, base: str | None, relative_to: str) -> None:
    """Draw the figures of a run; with --base, the changes since that run.

    Of several machines, `matrix` and `machines` show all; the other figures are drawn for each
    machine, in a folder of its name.
    """
    path = locate(run_)
    if base is not None and figure not in (None, "change"):
        raise BadInput(f"--base is for the figure change: {figure} shows one run")
    if base is not None or figure == "change":
        for name in run.draw_change(comparing.since(base, path), path):
            output.print_line(path.parent / name)
        return
    document = read_document(path)
    if relative_to:
        require_machine(document, relative_to)
    drawn = run.draw_requested(document, path.parent, figure, relative_to)
    for name in drawn:
        output.print_line(path.parent / name)


@click.command()
@click.option(
    "--short",
    is_flag=True,
    help="End in a minute or two: fewer repetitions, native libraries only.",
)
@click.option("--times", type=click.IntRange(1, 100_000), default=100,
              help="Inject each fault this many times. Default: 100.")  # fmt: skip
@options.words_option("--only", "Run only these trials: faults, delays, ... Default: all.")
@click.option("--seed", type=SEED, default=1, help="Seed of the trials. Default: 1.")
def selftest(short: bool, times: int, only: list[str] | None, seed: int) -> int:
    """Inject faults, delays and copies, and report which ones the tool finds."""
    from dlbench.selftest import table

    chosen = tuple(only or ())
    for name in chosen:
        _core.require_known("trial", name, list(table.TRIALS))
    console = Console()
    return table.run_trials(chosen, short=short, times=times, seed=seed, console=console)


def _other_names(term: str) -> list[glossary.Row]:
    """The meaning of a rule, of a group of rules, or of a library."""
    if rule := RULES.by_name.get(term):
        where = f"dlbench check --explain {term} LIBRARY"
        return [(term, f"rule ({rule.level}, {rule.section}): {rule.sentence}; {where}")]
    if term in conformance.GROUPS:
        return [(term, f"rules of dlbench check. {conformance.GROUPS[term].replace('`', '')}")]
    if term in discover.catalogue(None).files:
        return [(term, f"library with an adapter; dlbench list {term} shows what it exports")]
    return []


@click.command("help", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="[TERM]",
                shell_complete=completion.of(lambda _: sorted(glossary.terms())))  # fmt: skip
def explain_term(words: tuple[str, ...]) -> None:
    """Print what a term in dlbench's output means, or an option; without TERM, all terms."""
    known = glossary.terms()
    console = Console()
    if not words:
        for group, members in glossary.groups().items():
            console.print(Text(group, style="bold"))
            *names, last = sorted(members)
            for line in fold([*(f"{name}," for name in names), last], console.width, gap=" "):
                output.print_line(line)
        return
    term = " ".join(words).lower()
    axis = term.lstrip("-").partition(":")[0]  # of arrays:8
    option = options.meanings().get(axis)
    rows = [known[word] for word in (term, term.replace(" ", "-")) if word in known][:1]
    if row := glossary.case_meaning(term):
        rows = rows or [row]
    if not rows and term in VERBS:
        raise BadInput(f"{term!r} is a command: dlbench {term} --help")
    rows = rows or ([(f"--{axis}", option)] if option else [])
    rows = rows or _other_names(term)
    axes = _core.case_axes.values()
    rows = rows or [known[word] for axis in axes for word in axis if axis[word] == term]
    for word in filter(None, (term, term.removesuffix("s"))):
        parts = {row for name, row in known.items() if word in re.split(r"[ -]", name)}
        rows = rows or sorted(parts)
    if not rows:
        near = _core.did_you_mean(term, sorted({*known, *options.meanings(), *VERBS}))
        raise BadInput(f"unknown term {term!r}{near}; 'dlbench help' lists all terms")
    for heading, meaning in rows:
        output.print_line(f"{heading}: {meaning}")


VERBS = {
    str(verb.name): verb
    for verb in (
        list_libraries,
        report_noise_sources,
        explain_term,
        show,
        reproduce,
        debug_cell,
        explain_cell,
        plot,
        verb.check,
        compare,
        track,
        bisect,
        canary,
        merge,
        fleet,
        publish.export,
        publish.report,
        site,
        selftest,
    )
}
