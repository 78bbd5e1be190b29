"""`dlbench compare BASE HEAD`, and between two environments of one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dlbench import _core, writing
from dlbench.analysis import inconclusive
from dlbench.compare import gate, junit, sides, stages
from dlbench.document import Comparison, locate
from dlbench.errors import BadInput
from dlbench.running import comparing, completion, options, run, rundir
from dlbench.running.request import WORKERS
from dlbench.terminal import changes, terminal
from dlbench.text.escaping import json_text
from dlbench.text.output import Console, write_text

#: Options of a measuring run that apply to a comparison of two environments.
MEASURING = {"matrix", "producers", "consumers", "protocols", "devices", "cases", "sizes", "phases",
             "filter", "budget", "jobs", "timeout", "adapters", "out", "seed",
             "quiet", "resume"}  # fmt: skip
#: Options that --resume allows: they change the output, or name code that the journal names, too.
WITH_RESUME = {"resume", "fail_on", "as_json", "everything", "quiet", "junit", "base_env",
               "head_env", "adapters"}  # fmt: skip


@click.command("compare")
@click.argument("words", nargs=-1, metavar="BASE HEAD | [A B] --aa | [A B] --base-env ...",
                shell_complete=completion.runs)  # fmt: skip
@click.option(
    "--threshold",
    metavar="SHARE",
    help="Call a cell SAME if its change is surely smaller. "
    f"Default: {_core.threshold:.0%}; of counts {_core.count_threshold:.0%}.",
)
@click.option("--fail-on", metavar="A,B", default=",".join(gate.ALL),
              help="End with code 1 on these results; inconclusive: 3, or 4 if most cells are. "
                   f"Default: {','.join(gate.ALL)}.",
              shell_complete=completion.of(lambda _: gate.ALL, is_list=True))  # fmt: skip
@click.option("--force", is_flag=True, help="Compare runs of different machines.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option(
    "--junit",
    metavar="FILE",
    help="Write a test case for each cell to FILE, a new file, as JUnit XML.",
)
@click.option("--all", "everything", is_flag=True, help="Print unchanged cells too.")
@click.option("--count", metavar="WHAT", help="Compare counts instead of times: instructions.")
@click.option(
    "--aa", is_flag=True, help="Measure this environment as both sides and count false alarms."
)
@click.option("--base-env", metavar="NAME=PYTHON", help="Measure that Python as base.")
@click.option("--head-env", metavar="NAME=PYTHON", help="Measure that Python as head.")
@click.option(
    "--workers",
    type=WORKERS,
    help=f"Use at most this many workers for each pair and side. Default: {_core.most_workers}.",
)
@options.measuring(MEASURING)
@click.pass_context
def compare(ctx: click.Context, /, words: tuple[str, ...], **params: Any) -> int:
    """Report changes between two runs, or between two environments.

    BASE and HEAD are runs: a folder, a results.json, or `latest`. With --base-env and --head-env,
    or --aa, both sides are measured now, with interleaved workers: a coarse pass, then more workers
    for the cells that it left open.
    """
    fail_on = gate.reasons(params["fail_on"])
    if params["junit"]:
        # --force compares different machines, so it cannot also mean to replace a file.
        place = Path(params["junit"])
        writing.require_free(place, "--junit", force=False, advice="remove it first")
    comparison = resumed(ctx, params) if params["resume"] else compared(ctx, words, params)
    if params["junit"]:
        made = junit.xml(comparison, fail_on)
        writing.write_requested(Path(params["junit"]), lambda out: out.write(made))
    if params["as_json"]:
        write_text(json_text(comparison.to_json()) + "\n")
    elif not params["quiet"]:
        show(comparison, everything=params["everything"])
    option = "--workers" if params["resume"] or sides.is_requested(params) else "--replicas"
    undecided = inconclusive.in_words(comparison, option)
    if not params["quiet"]:
        if failed := gate.failures(comparison, fail_on):
            run.warn(f"a regression: {', '.join(failed)}")
        if undecided:
            run.warn(undecided)
    return gate.status(comparison, fail_on)


def compared(ctx: click.Context, words: tuple[str, ...], params: dict[str, Any]) -> Comparison:
    """The comparison that the options request."""
    if params["count"] not in (None, "instructions"):
        raise BadInput(f"cannot count {params['count']!r}; allowed: instructions")
    threshold = _core.count_threshold if params["count"] else _core.threshold
    if params["threshold"]:
        threshold = _core.parse_percent(params["threshold"])
    reported = {"threshold": threshold, "instructions": bool(params["count"])}
    if not sides.is_requested(params):
        return of_runs(ctx, words, params, reported)
    pair = sides.requested(words, params, reported)
    # Invalid values are reported before a folder is made.
    pair.request.options(Path(), {}, resume=False)
    run.require_cells(pair.plan())
    return stages.measure(pair, rundir.fresh(params["out"]))


def resumed(ctx: click.Context, params: dict[str, Any]) -> Comparison:
    """Resumes an interrupted comparison of two sides."""
    options.require_resume_alone(options.typed_parameters(ctx), WITH_RESUME)
    folder = rundir.resumable(params["resume"])
    params = options.without(options.from_defaults(ctx), params)
    return stages.measure(sides.kept(folder, params), folder)


def of_runs(
    ctx: click.Context, words: tuple[str, ...], params: dict[str, Any], reported: dict[str, Any]
) -> Comparison:
    """Compares two earlier runs."""
    for name in sorted((MEASURING | {"workers"}) & options.typed_parameters(ctx) - {"quiet"}):
        word = f"--{name}"
        raise BadInput(f"{word} needs a measurement: add --aa, or --base-env and --head-env")
    if len(words) != 2:
        raise BadInput("compare needs two runs: dlbench compare BASE HEAD")
    base, head = map(locate, words)
    everything = bool(params["as_json"] or params["everything"] or params["junit"])
    wanted = {"force": params["force"], "only_changed": not everything} | reported
    return comparing.compare(base, head, **wanted)


def show(comparison: Comparison, *, everything: bool) -> None:
    """The comparison on the terminal."""
    console = Console()
    terminal.show(changes.lines(comparison, console.width, everything=everything), console)
