"""The verbs that report on a machine, its libraries, or an earlier run."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import click
from rich.text import Text

from dlbench import _core
from dlbench.check import table as check_table
from dlbench.check import verb
from dlbench.command import cells, debug, publish
from dlbench.command.merge import merge
from dlbench.compare.verb import compare
from dlbench.counting import breakdown_text, explain, valgrind
from dlbench.document import Document, Entry, locate, read_document
from dlbench.environments import probe, spelled
from dlbench.environments.environment import DEFAULT, Environment, here
from dlbench.errors import BadInput
from dlbench.libraries import discover, listing
from dlbench.machine import doctor
from dlbench.running import comparing, options, run
from dlbench.scripts import exchange
from dlbench.terminal import pair, terminal
from dlbench.text import output
from dlbench.text.output import Console

PROBE_S = 30.0  #: may an interpreter take to tell what it is
ENV = click.option(
    "--env", multiple=True, metavar="NAME=PYTHON", help="List also the libraries of that Python."
)
ITS_ENV = click.option("--env", multiple=True, metavar="NAME=PYTHON",
                       help="Python of the environment NAME of the cell.")  # fmt: skip
ADAPTERS = click.option(
    "--adapters", metavar="DIR", help="Load also the adapters in DIR/producers and DIR/consumers."
)


@click.command("list")
@click.argument("names", nargs=-1, metavar="[LIBRARY]...")
@ADAPTERS
@ENV
def list_libraries(names: tuple[str, ...], adapters: str | None, env: tuple[str, ...]) -> None:
    """List libraries: version, protocols, and how to install what is missing.

    Imports each installed library, or only those that are named.
    """
    console = Console()
    places = probe.find(env, PROBE_S)
    for place in places:
        found = run.find_adapters(adapters, place)
        libraries = discover.libraries(found, names)
        for name in names:
            _core.require_known("library", name, [one.name for one in libraries])
        if len(places) > 1:
            terminal.show(listing.title(place, console.width), console)
        chosen = [one for one in libraries if not names or one.name in names]
        terminal.show(listing.table(chosen, place, console.width), console)
    if not names:
        terminal.show(listing.by_argument(found, console.width), console)


@click.command("doctor")
@ENV
def see_doctor(env: tuple[str, ...]) -> None:
    """Report sources of measurement noise on this machine, and its devices."""
    console = Console()
    interpreters = doctor.environments(spelled.read(env), PROBE_S)
    found = [*doctor.checks(), *interpreters, doctor.noise(doctor.jitter())]
    terminal.show(doctor.table(found, console.width), console)


@click.command()
@click.argument("run_", metavar="RUN")
@click.argument("cell", nargs=-1)
def show(run_: str, cell: tuple[str, ...]) -> None:
    """Print an earlier run; with CELL, all facts about the matching cells.

    RUN is a run's folder, a results.json, or `latest`. CELL is a cell's name, or words that choose:
    PRODUCER CONSUMER [PROTOCOL] [BYTES] ...
    """
    console = Console()
    path = locate(run_)
    document = read_document(path)
    if not cell and document.checks:
        for told in check_table.of_document(document, console.width):
            verb.say(told, console)
        return
    if not cell:
        made = files(path.parent)
        for machine, part in document.shares():
            if machine:
                terminal.show([Text(), Text(f"machine {machine}", style="bold")], console)
            lines = terminal.render_as_asked(
                part, console.width, run_, str(path.parent), made, most_lines=1000
            )
            terminal.show(lines, console)
        return
    chosen = cells.matching(document, cell)
    if len(chosen) > 1:
        terminal.show(pair.table(chosen, console.width), console)
        return
    _, environment = document.origin(chosen[0])
    for line in pair.details(chosen[0], environment):
        console.print(line, soft_wrap=True)


def files(folder: Path) -> tuple[str, ...]:
    """What a run's folder holds for a person to open."""
    made = (path.name for path in folder.iterdir() if path.suffix in (".html", ".svg", ".json"))
    return tuple(sorted(made))


def _chosen(run_: str, cell: tuple[str, ...], adapters: str | None) -> tuple[Document, Entry]:
    """The cell, with its machine's share of the document. A document may come from anywhere: a
    folder of adapters that it names is not followed."""
    document = read_document(locate(run_))
    entry = cells.single(document, cell)
    if entry.machine:
        document = document.share_of(entry.machine)
    took = document.run.request.adapters
    if took and not adapters:
        run.warn(f"the run had more adapters; to have them here add --adapters {shlex.quote(took)}")
    return document, entry


def _its_environment(document: Document, entry: Entry, env: tuple[str, ...]) -> Environment:
    """The cell's, asked anew: our own, or the one that this line names. A document may come from
    anywhere, and what it names is not run. Raises BadInput where no worker can run there."""
    name = entry.environment
    if name == DEFAULT:
        return here()
    named = spelled.read(env)
    if name not in named:
        had = document.environment(name).executable
        python = had if Path(had).is_absolute() else "PYTHON"
        raise BadInput(
            f"the cell is of environment {name!r}; to run it add --env "
            + shlex.quote(f"{name}={python}")
        )
    found = probe.probe(name, named[name], PROBE_S)
    if found.failure is not None:
        raise BadInput(f"environment {name!r}: {found.failure.reason}")
    return found


@click.command("repro")
@click.argument("run_", metavar="RUN")
@click.argument("cell", nargs=-1, required=True)
@ADAPTERS
def reproduce(run_: str, cell: tuple[str, ...], adapters: str | None) -> None:
    """Print a script that reproduces a cell's outcome without dlbench."""
    document, entry = _chosen(run_, cell, adapters)
    # Nothing is run: a document from another machine will do.
    output.hand_out(exchange.of_run(document, entry, discover.catalogue(adapters)))


@click.command("debug")
@click.argument("run_", metavar="RUN")
@click.argument("cell", nargs=-1, required=True)
@ADAPTERS
@ITS_ENV
def debug_cell(
    run_: str, cell: tuple[str, ...], adapters: str | None, env: tuple[str, ...]
) -> None:
    """Run one cell in the foreground without a deadline, for gdb."""
    document, entry = _chosen(run_, cell, adapters)
    place = _its_environment(document, entry, env)
    path = debug.write(debug.requests(entry, discover.catalogue(adapters, environment=place)))
    output.say(debug.debugger_line(path, place.python))
    sys.stdout.flush()
    argv = debug.command(path, place.python)
    os.execv(argv[0], argv)


@click.command("explain")
@click.argument("run_", metavar="RUN")
@click.argument("cell", nargs=-1, required=True)
@ADAPTERS
@ITS_ENV
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
    breakdown, versions = explain.explain(exchange, found, timeout_s)
    for line in explain.changed(document, exchange, versions):
        run.warn(line)
    phases = explain.phases_of(document.entries, exchange)
    terminal.show(breakdown_text.lines(exchange, phases, breakdown, console.width), console)


@click.command()
@click.argument("run_", metavar="RUN")
@click.option(
    "--figure", metavar="NAME", help="Draw only this figure: matrix, scaling, ecdf, drift, ..."
)
@click.option("--base", metavar="RUN", help="Draw the figure `change`: changes since RUN.")
def plot(run_: str, figure: str | None, base: str | None) -> None:
    """Draw the figures of a run; with --base, the changes since that run."""
    path = locate(run_)
    if base is not None and figure not in (None, "change"):
        raise BadInput(f"--base is for the figure change: {figure} shows one run")
    if base is not None or figure == "change":
        for name in run.draw_change(comparing.since(base, path), path.parent):
            output.say(path.parent / name)
        return
    drawn = False
    for machine, part in read_document(path).by_machine():
        if not run.has_figure(part, figure):
            continue
        # Those of several machines have a folder each.
        folder = path.parent / machine
        folder.mkdir(exist_ok=True)
        for name in run.draw(part, folder, figure):
            drawn = True
            output.say(folder / name)
    if not drawn:
        raise BadInput(run.why_nothing_drawn(figure))


@click.command()
@click.option(
    "--short", is_flag=True, help="A minute or two: fewer repetitions, native libraries only."
)
@click.option("--times", type=click.IntRange(1, 100_000), default=100, show_default=True,
              help="Repetitions of each planted fault.")  # fmt: skip
@options.words_option("--only", "Some trials: faults, delays, ...")
@click.option("--seed", type=options.SEED, default=1, show_default=True)
def selftest(short: bool, times: int, only: list[str] | None, seed: int) -> int:
    """Inject faults, delays and copies, and report which ones the tool finds."""
    from dlbench.selftest import table

    chosen = tuple(only or ())
    for name in chosen:
        _core.require_known("trial", name, list(table.TRIALS))
    console = Console()
    return table.conduct(chosen, short=short, times=times, seed=seed, console=console)


VERBS = {
    str(verb.name): verb
    for verb in (
        list_libraries,
        see_doctor,
        show,
        reproduce,
        debug_cell,
        explain_cell,
        plot,
        verb.check,
        compare,
        merge,
        publish.export,
        publish.report,
        selftest,
    )
}
