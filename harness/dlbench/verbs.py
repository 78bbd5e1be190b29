"""The verbs: what can be asked about a machine, its libraries, or an earlier run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from dlbench import (
    _core,
    cells,
    comparing,
    couple,
    debug,
    discover,
    doctor,
    listing,
    publish,
    repro,
    run,
    terminal,
)
from dlbench import document as documents
from dlbench.check import table as check_table
from dlbench.check import verb
from dlbench.compare.verb import compare
from dlbench.counting import bill_text, explain, valgrind
from dlbench.environments import probe, spelled
from dlbench.environments.environment import DEFAULT, Environment, here
from dlbench.errors import BadInput
from dlbench.merge import merge

PROBE_S = 30.0  #: may an interpreter take to tell what it is
ENV = click.option("--env", multiple=True, metavar="NAME=PYTHON", help="Also of that Python.")
ADAPTERS = click.option("--adapters", metavar="DIR", help="More adapters: DIR/producers, ...")


@click.command("list")
@ADAPTERS
@ENV
def list_libraries(adapters: str | None, env: tuple[str, ...]) -> None:
    """Libraries found, versions, protocols, what is missing and how to install it."""
    console = Console()
    places = probe.find(env, PROBE_S)
    for place in places:
        if len(places) > 1:
            terminal.show(listing.title(place, console.width), console)
        found = run.find_adapters(adapters, place)
        terminal.show(listing.table(discover.libraries(found), place, console.width), console)
    terminal.show(listing.by_argument(found, console.width), console)


@click.command("doctor")
@ENV
def see_doctor(env: tuple[str, ...]) -> None:
    """What of this machine makes numbers wander, its devices, and what to do."""
    console = Console()
    interpreters = doctor.environments(spelled.read(env), PROBE_S)
    found = [*doctor.checks(), *interpreters, doctor.noise(doctor.jitter())]
    terminal.show(doctor.table(found, console.width), console)


@click.command()
@click.argument("run_", metavar="RUN")
@click.argument("cell", nargs=-1)
def show(run_: str, cell: tuple[str, ...]) -> None:
    """An earlier run again; with CELL, all that is known of some of its cells.

    RUN is a run's folder, a results.json, or `latest`. CELL is a cell's name, or words that choose:
    PRODUCER CONSUMER [PROTOCOL] [BYTES] ...
    """
    console = Console()
    path = documents.locate(run_)
    document = documents.load(path)
    if not cell and document.get("checks"):
        for told in check_table.of_document(document, console.width):
            verb.say(told, console)
        return
    if not cell:
        made = files(path.parent)
        for machine, part in documents.parts(document):
            if machine:
                console.print(f"\nmachine {machine}", style="bold", highlight=False)
            lines = terminal.render_as_asked(
                part, console.width, run_, str(path.parent), made, most_lines=1000
            )
            terminal.show(lines, console)
        return
    chosen = cells.matching(document, cell)
    if len(chosen) > 1:
        terminal.show(couple.table(chosen, console.width), console)
        return
    own = dict(documents.parts(document))[chosen[0].get("machine", "")]
    environment = documents.environments(own).get(chosen[0]["environment"], {})
    for line in couple.details(chosen[0], environment):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def files(folder: Path) -> tuple[str, ...]:
    """What a run's folder holds for a person to open."""
    made = (path.name for path in folder.iterdir() if path.suffix in (".html", ".svg", ".json"))
    return tuple(sorted(made))


def _chosen(run_: str, cell: tuple[str, ...], adapters: str | None) -> tuple[Any, Any, Any]:
    """The cell, with its machine's share of the document, and the folder of adapters."""
    document = documents.load(documents.locate(run_))
    entry = cells.one(document, cell)
    if "machine" in entry:
        document = documents.part_of(document, entry["machine"])
    folder = adapters or documents.about(document).get("request", {}).get("adapters", "")
    return document, entry, folder


def _its_environment(document: dict[str, Any], entry: Any) -> Environment:
    """The cell's, asked anew. Raises BadInput where no worker can run there any more."""
    name = entry["environment"]
    if name == DEFAULT:
        return here()
    python = documents.environments(document).get(name, {}).get("executable", "")
    if not Path(python).is_file():
        raise BadInput(f"the run's environment {name!r} is not here: {python or 'no interpreter'}")
    found = probe.probe(name, python, PROBE_S)
    if found.failure is not None:
        raise BadInput(f"environment {name!r}: {found.failure.reason}")
    return found


@click.command("repro")
@click.argument("run_", metavar="RUN")
@click.argument("cell", nargs=-1, required=True)
@ADAPTERS
def reproduce(run_: str, cell: tuple[str, ...], adapters: str | None) -> None:
    """Print a short script that shows a cell's exchange, refusal or crash without dlbench."""
    document, entry, folder = _chosen(run_, cell, adapters)
    # Nothing is run: a document from another machine will do.
    click.echo(repro.of_run(document, entry, discover.catalogue(folder)), nl=False)


@click.command("debug")
@click.argument("run_", metavar="RUN")
@click.argument("cell", nargs=-1, required=True)
@ADAPTERS
def debug_cell(run_: str, cell: tuple[str, ...], adapters: str | None) -> None:
    """Run one cell in the foreground, without a deadline; the first line is fit for gdb."""
    document, entry, folder = _chosen(run_, cell, adapters)
    place = _its_environment(document, entry)
    path = debug.write(debug.requests(entry, discover.catalogue(folder, environment=place)))
    click.echo(debug.debugger_line(path, place.python))
    sys.stdout.flush()
    argv = debug.command(path, place.python)
    os.execv(argv[0], argv)


@click.command("explain")
@click.argument("run_", metavar="RUN")
@click.argument("cell", nargs=-1, required=True)
@ADAPTERS
@click.option("--timeout", metavar="TIME", default="300s", help="Deadline of one step: 300s.")
def explain_cell(run_: str, cell: tuple[str, ...], adapters: str | None, timeout: str) -> None:
    """The bill of one exchange: its instructions by function and library. Needs valgrind."""
    valgrind.require()
    document, entry, folder = _chosen(run_, cell, adapters)
    found = discover.catalogue(folder, environment=_its_environment(document, entry))
    console = Console()
    bill, versions = explain.explain(entry, found, _core.parse_seconds(timeout))
    for line in explain.changed(document, entry, versions):
        run.warn(line)
    phases = explain.phases_of(documents.entries(document), entry)
    terminal.show(bill_text.lines(entry, phases, bill, console.width), console)


@click.command()
@click.argument("run_", metavar="RUN")
@click.option("--figure", metavar="NAME", help="Only this one: matrix, scaling, ecdf, drift, ...")
@click.option("--base", metavar="RUN", help="Draw the figure change: against that run.")
def plot(run_: str, figure: str | None, base: str | None) -> None:
    """Draw a run's figures again, into its folder; with --base, what changed since that run."""
    path = documents.locate(run_)
    if base is not None and figure not in (None, "change"):
        raise BadInput(f"--base is for the figure change: {figure} shows one run")
    if base is not None or figure == "change":
        for name in run.draw_change(comparing.since(base, path), path.parent):
            click.echo(path.parent / name)
        return
    for machine, part in documents.by_machine(documents.load(path)):
        # Those of several machines have a folder each.
        folder = path.parent / machine
        folder.mkdir(exist_ok=True)
        for name in run.draw(part, folder, figure):
            click.echo(folder / name)


@click.command()
@click.option("--short", is_flag=True, help="A minute or two: fewer looks, own halves only.")
@click.option("--times", default=100, show_default=True, help="Looks at each planted fault.")
@click.option("--only", metavar="TRIAL,...", default="", help="Some trials: faults, delays, ...")
@click.option("--seed", default=1, show_default=True)
def selftest(short: bool, times: int, only: str, seed: int) -> None:
    """Plant faults, delays and copies, and see whether the instruments find them."""
    from dlbench.selftest import table

    chosen = tuple(word for word in only.split(",") if word)
    for name in chosen:
        if name not in table.TRIALS:
            near = _core.nearest(name, list(table.TRIALS))
            meant = f" (did you mean {near!r}?)" if near else ""
            allowed = ", ".join(table.TRIALS)
            raise BadInput(f"unknown trial {name!r}{meant}; allowed: {allowed}")
    if times < 1:
        raise BadInput(f"--times {times}: at least 1 look at each fault")
    console = Console()
    sys.exit(table.conduct(chosen, short=short, times=times, seed=seed, console=console))


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
