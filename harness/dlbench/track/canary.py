"""`dlbench canary`: do the newest releases still exchange arrays as the last good ones did?"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dlbench import _core, values
from dlbench.analysis import history
from dlbench.analysis.compared import named
from dlbench.compare import gate
from dlbench.document import (
    DOCUMENT,
    ComparedCell,
    Comparison,
    Document,
    locate,
    read_document,
)
from dlbench.environments import versions
from dlbench.environments.environment import Environment, here
from dlbench.errors import BadInput
from dlbench.exporters import changes
from dlbench.exporters.tables import table
from dlbench.libraries.facts import requirement_name
from dlbench.running import completion, options, run, rundir
from dlbench.running.request import Request
from dlbench.text import output
from dlbench.text.escaping import dlbench_command, markdown
from dlbench.text.layout import count, listing
from dlbench.track import measuring

MEASURING = {"protocols", "cases", "sizes", "jobs", "timeout", "adapters", "out", "seed", "quiet",
             "resume"}  # fmt: skip
#: Options that --resume allows; the last two are those of the commands that are printed.
WITH_RESUME = {"resume", "quiet", "adapters", "env", "pre", "with"}
GOOD, NEWEST = "good", "newest"
NOT_COUNTED = "not counted in head"  #: of a cell that both sides measured
MOST_LISTED = 20


@click.command("canary")
@click.argument("libraries", nargs=-1, metavar="LIBRARY...",
                shell_complete=completion.of(completion.libraries))  # fmt: skip
@click.option(
    "--base", metavar="RUN", shell_complete=completion.runs,
    help="Compare with the versions of this run, the last good canary. "
         "Default: the versions installed here.",
)  # fmt: skip
@click.option(
    "--env",
    multiple=True,
    metavar="NAME=PYTHON",
    help="With --resume: newest=PYTHON, as the interrupted canary printed it.",
)
@measuring.installing
@options.measuring(MEASURING, **measuring.DEFAULTS)
@click.pass_context
def canary(ctx: click.Context, /, libraries: tuple[str, ...], **params: Any) -> int:
    """Find out what the newest releases of libraries break, and print it as Markdown.

    Installs the newest releases together, measures the exchanges of the LIBRARIES with each other
    there and with good versions, and compares outcomes and, with valgrind, instructions. The exit
    code is 1 if an exchange broke.
    """
    if params["resume"]:
        options.require_resume_alone(options.typed_parameters(ctx), WITH_RESUME)
        folder = rundir.resumable(params["resume"])
        return measured(*measuring.resumed(folder, params), folder, params, is_resumed=True)
    if params["env"]:
        raise BadInput("--env is for --resume, which starts an interpreter of the run's folder")
    if not libraries:
        raise BadInput("canary needs libraries, as in: dlbench canary numpy jax")
    every = list(dict.fromkeys(libraries))
    request = measuring.make_request({**params, "count": measuring.counts()}, every, every)
    request.replicas = 1
    base = read_document(locate(params["base"])) if params["base"] else None
    good = good_versions(measuring.packages(request), base)
    install_s = _core.parse_seconds(params["install_timeout"])
    folder = rundir.fresh(params["out"])
    try:
        return compared(request, good, folder, install_s, params)
    finally:
        rundir.remove_folder(folder)  # keeps a run that has begun


def good_versions(packages: Mapping[str, str], base: Document | None) -> dict[str, str]:
    """The version of each package in the base, or installed here. Raises BadInput."""
    known: dict[str, str] = {}
    for name in sorted(base.environments, key=lambda name: name == NEWEST) if base else ():
        known |= base.versions(name) if base else {}
    found = {}
    for library, package in packages.items():
        version = known.get(library) or here().installed_version([requirement_name(package)])
        if not version:
            raise BadInput(f"{library} is not installed here: name a run with it as --base RUN")
        found[package] = version.partition("+")[0]
    return found


def compared(
    wanted: Request,
    good: Mapping[str, str],
    folder: Path,
    install_s: float,
    params: Mapping[str, Any],
) -> int:
    """Installs both, measures them in one run, and prints the report; the exit status."""
    beside, quiet = params["with"] or [], params["quiet"]
    any_release = versions.ANY_RELEASE if params["pre"] else ""
    free = [f"{package}{any_release}" for package in good]
    pinned = [f"{package}=={version}" for package, version in good.items()]
    recipes = [
        versions.recipe(measuring.environments(), GOOD, [*pinned, *beside]),
        # In the run's folder, because the newest are others at another time.
        versions.recipe(folder.absolute(), NEWEST, [*free, *beside]),
    ]
    places = measuring.install(recipes, install_s, wanted, quiet=quiet)
    return measured(wanted, places, folder, params)


def measured(
    wanted: Request,
    places: Sequence[Environment],
    folder: Path,
    params: Mapping[str, Any],
    *,
    is_resumed: bool = False,
) -> int:
    """Measures both, and prints the report; the exit status."""
    if {place.name for place in places} != {GOOD, NEWEST}:
        raise BadInput(f"cannot resume {str(folder)!r}: it is no run of canary")
    for place in places:
        place.require_worker()
    document, signal = measuring.measure(
        wanted, places, folder, quiet=params["quiet"], resume=is_resumed
    )
    if signal:
        newest = places[-1]
        named = ["--env", f"{newest.name}={newest.python}"]
        named += ["--adapters", wanted.adapters] if wanted.adapters else []
        named += ["--pre"] * params["pre"]
        named += ["--with", ",".join(params["with"])] if params["with"] else []
        again = dlbench_command("canary", "--resume", folder, *named)
        return run.interrupted(signal, again)
    path = str(folder / DOCUMENT)
    comparison = Comparison(
        _core.compare(
            base=[path],
            head=[path],
            base_environment=GOOD,
            head_environment=NEWEST,
            threshold=history.INSTRUCTIONS,
            instructions=bool(wanted.count),
        )
    )
    output.write_text(report(document, comparison, params))
    return gate.REGRESSION if any(map(is_broken, comparison.cells)) else 0


def is_broken(cell: ComparedCell) -> bool:
    """Has it more instructions, a worse outcome, or is it gone? A lost count is none of these."""
    found = gate.regressions(cell)
    return bool(found) and not (found == ["lost"] and is_uncounted(cell))


def is_uncounted(cell: ComparedCell) -> bool:
    return NOT_COUNTED in cell.details


def report(document: Document, comparison: Comparison, params: Mapping[str, Any]) -> str:
    """The Markdown, fit for an issue."""
    good, newest = (document.versions(name) for name in (GOOD, NEWEST))
    moved = {name: (good.get(name, ""), newest[name]) for name in newest
             if newest[name] != good.get(name)}  # fmt: skip
    broken = [cell for cell in comparison.cells if is_broken(cell)]
    news = (
        ", ".join(f"{name} {version}" for name, (_, version) in moved.items()) or "no new release"
    )
    title = f"{count(len(broken), 'exchange')} broke" if broken else "No exchange broke"
    rows = [[name, good.get(name, ""), version] for name, version in newest.items()]
    python = document.environment(NEWEST).python
    lines = [
        f"# {title}: {markdown(news)}",
        "",
        table(["library", GOOD, NEWEST], rows),
        f"Python {python}, {markdown(platform.platform())}, dlbench {_core.version}.",
        "",
        changes.section(comparison),
    ]
    if reasons := reasons_of(document, broken):
        lines += ["Reasons:", "", *reasons, ""]
    if uncounted := [" ".join(named(cell)) for cell in comparison.cells if is_uncounted(cell)]:
        text = markdown(listing(uncounted, MOST_LISTED))
        lines += [f"Instructions counted only in {GOOD}, so not compared: {text}", ""]
    if commands := bisections(broken, moved, params):
        lines += ["To find the release:", "", "```sh", *commands, "```", ""]
    return "\n".join(lines)


def reasons_of(document: Document, broken: Sequence[ComparedCell]) -> list[str]:
    """Why exchanges have no number in the newest releases, with the order of imports; each reason
    once."""
    entries = {entry.name: entry for entry in document.not_measured}
    cells: dict[str, list[str]] = {}
    for cell in broken:
        entry = entries.get(f"{cell.name}/environment:{NEWEST}")
        if entry:
            text = f"{entry.outcome}: {values.reason(entry)}"
            if entry.imports:
                text += f" (imported in this order: {', '.join(entry.imports)})"
            cells.setdefault(text, []).append(" ".join(named(cell)))
    return [
        f"- {markdown(text)}: {markdown(listing(names, MOST_LISTED))}"
        for text, names in cells.items()
    ]


def bisections(
    broken: Sequence[ComparedCell],
    moved: Mapping[str, tuple[str, str]],
    params: Mapping[str, Any],
) -> list[str]:
    """The commands that find the release of each library in a broken exchange, for the first
    exchange of each pair."""
    more = ["--adapters", params["adapters"]] if params["adapters"] else []
    more += ["--pre"] if params["pre"] else []
    more += ["--with", ",".join(params["with"])] if params["with"] else []
    found: dict[tuple[str, ...], str] = {}
    for cell in broken:
        for library in sorted({cell.producer, cell.consumer} & moved.keys()):
            # A local part, as of 2.6.0+cpu, is not on the index.
            ends = [version.partition("+")[0] for version in moved[library]]
            if ends[0] == ends[1]:
                continue
            words = [library, *ends, cell.producer, cell.consumer, cell.protocol]
            words += [cell.case, str(cell.bytes), *more]
            found.setdefault(
                (library, cell.producer, cell.consumer), dlbench_command("bisect", *words)
            )
    return list(found.values())[:MOST_LISTED]
