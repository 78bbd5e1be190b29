"""`dlbench track`: a library's versions side by side, each in its own environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dlbench import _core
from dlbench.analysis import history
from dlbench.document import Document
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput
from dlbench.running import completion, options, run, rundir
from dlbench.running.request import Request
from dlbench.terminal import history as table
from dlbench.terminal import terminal
from dlbench.text import output
from dlbench.text.escaping import dlbench_command
from dlbench.text.output import Console
from dlbench.track import measuring

#: Options of a measuring run that apply to versions.
MEASURING = {"protocols", "devices", "cases", "sizes", "phases", "filter", "count", "replicas",
             "budget", "jobs", "timeout", "adapters", "out", "seed", "quiet",
             "dry_run", "resume"}  # fmt: skip
#: Options that --resume allows.
WITH_RESUME = {"resume", "quiet", "adapters"}


@click.command("track")
@click.argument("libraries", nargs=-1, metavar="LIBRARY...",
                shell_complete=completion.of(completion.libraries))  # fmt: skip
@click.option(
    "--versions", "spec", metavar="PACKAGE",
    help="Measure these releases of a package: 'numpy>=1.25,<2.5'.",
)  # fmt: skip
@click.option("--minor", is_flag=True, help="Only the newest release of each minor version.")
@measuring.WHEELS
@measuring.installing
@options.measuring(MEASURING, **measuring.DEFAULTS)
@click.pass_context
def track(ctx: click.Context, /, libraries: tuple[str, ...], **params: Any) -> int:
    """Measure exchanges over the versions of a library, and report the steps.

    Makes an environment for each release by uv, or else pip, and keeps it in the user's cache.
    Measures the exchanges of the LIBRARIES with each other and themselves, of one library also with
    `native`, in all versions at once.
    """
    if params["resume"]:
        options.require_resume_alone(options.typed_parameters(ctx), WITH_RESUME)
        folder = rundir.resumable(params["resume"])
        return measure(*measuring.resumed(folder, params), folder, params, is_resumed=True)
    if not libraries or not params["spec"]:
        raise BadInput("track needs a library and --versions, as in: "
                       "dlbench track numpy --versions 'numpy>=2'")  # fmt: skip
    every = list(dict.fromkeys(libraries if len(libraries) > 1 else (*libraries, "native")))
    request = measuring.make_request(params, every, every)
    request.replicas = params["replicas"] or measuring.REPLICAS
    install_s = _core.parse_seconds(params["install_timeout"])
    wanted = measuring.recipes(request, params["spec"], params, is_minor=params["minor"])
    if params["dry_run"]:
        for recipe in wanted:
            output.print_line(f"{recipe.name}  {' '.join((*recipe.requirements, *recipe.pins))}")
        return 0
    folder = rundir.fresh(params["out"])
    try:
        places = measuring.install(wanted, install_s, request, quiet=params["quiet"])
        return measure(request, places, folder, params)
    finally:
        rundir.remove_folder(folder)  # keeps a run that has begun


def measure(
    request: Request,
    places: Sequence[Environment],
    folder: Path,
    params: Mapping[str, Any],
    *,
    is_resumed: bool = False,
) -> int:
    """Measures, and prints the table; the exit status."""
    quiet = params["quiet"]
    document, signal = measuring.measure(request, places, folder, quiet=quiet, resume=is_resumed)
    if not quiet:
        show(document, places)
        output.print_line(f"->  {folder / 'results.json'}")
    if signal:
        named = ["--adapters", request.adapters] if request.adapters else []
        again = dlbench_command("track", "--resume", folder, *named)
        return run.interrupted(signal, again)
    return 0


def show(document: Document, places: Sequence[Environment]) -> None:
    """The table on the terminal."""
    names = [place.name for place in places if place.failure is None]
    unfit = {place.name: place.failure.reason for place in places if place.failure is not None}
    beside = history.partners(document, names)
    lines = table.lines(history.cells(document, names), unfit, beside)
    terminal.show([*lines, *table.missing(document)], Console())
