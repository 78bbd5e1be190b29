"""The command line. Every bad use or input is one line on stderr and exit status 2."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dlbench import _core
from dlbench.counting import valgrind
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput, first_line
from dlbench.machine.noise import Noise, NoiseProbe
from dlbench.profiling import verb as profiling
from dlbench.running import options, request, run, rundir
from dlbench.text import layout, output, streams
from dlbench.text.escaping import dlbench_command
from dlbench.text.output import Console

SHORT_HELP = """\
dlbench measures what happens when one array library passes an array to another.

  dlbench --matrix          all pairs of the installed libraries
  dlbench numpy torch       one pair, both directions
  dlbench list              libraries, protocols, what is missing
  dlbench check numpy       one library against the rules of the protocols
  dlbench doctor            sources of measurement noise on this machine
  dlbench show latest       the last run;  repro, debug, explain, plot: more about it
  dlbench report latest     the last run as one HTML file

dlbench --help lists all options, dlbench help the terms of the output.
"""
#: Same names as in dlbench.command.verbs. A run needs none of them, and loading them takes as long
#: as measuring many cells.
VERBS = ("list", "doctor", "help", "show", "repro", "debug", "explain", "plot", "check", "compare",
         "merge", "export", "report", "selftest")  # fmt: skip


def verbs() -> dict[str, click.Command]:
    """The verbs' commands by name."""
    import dlbench.command.verbs

    return dlbench.command.verbs.VERBS


class Measure(click.Command):
    """The measuring run; its help lists the verbs too."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("dlbench", "--matrix [OPTIONS] | A B [OPTIONS] | VERB ...")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(
                [(name, verb.get_short_help_str(200)) for name, verb in verbs().items()]
            )


@click.command(cls=Measure)
@click.argument("libraries", nargs=-1)
@options.measuring
@click.version_option(_core.version, prog_name="dlbench", message="%(prog)s %(version)s")
@click.pass_context
def dlbench(ctx: click.Context, /, libraries: tuple[str, ...], **params: Any) -> int:
    """Measure what happens when one array library passes an array to another."""
    if not options.typed_parameters(ctx):
        output.hand_out(SHORT_HELP)
        return 0
    if params["profile"]:
        profiling.require_alone(options.typed_parameters(ctx))
    if params["resume"]:
        options.require_resume_alone(options.typed_parameters(ctx))
        return resume(rundir.resumable(params["resume"]), params)
    if bool(libraries) == params["matrix"]:
        if libraries:
            raise BadInput("--matrix measures all pairs: leave out the libraries, or --matrix")
        raise BadInput(
            "say what to measure: --matrix, or two libraries as in 'dlbench numpy torch'"
        )
    probe = NoiseProbe()
    asked = options.request(params, libraries)
    places = run.find_environments(asked)
    found = run.find_libraries(asked, places)
    if libraries:
        require_pair(libraries, sorted({one.name for one in found}))
    plan = _core.make_plan(found, asked.axes())
    asked.options(Path(), {}, resume=False)  # invalid values are reported before a folder is made
    if params["dry_run"]:
        return run.dry_run(plan, Console())
    run.require_cells(plan)
    noise = probe.finish()
    context = run.context(asked, found, plan, places, sys.argv, noise)
    if params["profile"]:
        return profile(asked, plan, places, context, params)
    if asked.count:
        valgrind.require()
    folder = rundir.fresh(params["out"])
    return measure(folder, asked, places, plan, context, noise, params, resuming=False)


def require_pair(words: Sequence[str], known: list[str]) -> None:
    """Raises BadInput, naming what is nearest, unless these are two libraries."""
    for word in words:
        if word not in known:
            kind = "verb or library" if word == words[0] else "library"
            hint = _core.did_you_mean(word, [*known, *VERBS])
            raise BadInput(f"unknown {kind} {word!r}{hint}; 'dlbench list' names them")
    if len(words) != 2:
        raise BadInput(f"a pair is two libraries, not {len(words)}: 'dlbench numpy torch'")


def resume(folder: Path, params: dict[str, Any]) -> int:
    """Goes on with the run in this folder."""
    probe = NoiseProbe()
    kept = request.journal_context(folder)
    if "compare" in kept["dlbench"]:
        go_on = dlbench_command("compare", "--resume", folder)
        raise BadInput(f"{str(folder)!r} is a comparison: {go_on}")
    asked = request.resumed(kept)
    places = run.find_environments(asked)
    found = run.find_libraries(asked, places)
    plan = _core.make_plan(found, asked.axes())
    if asked.count:
        valgrind.require()
    # This machine's own context: the core refuses where the journal's is another.
    noise = probe.finish()
    context = run.context(asked, found, plan, places, sys.argv, noise)
    return measure(folder, asked, places, plan, context, noise, params, resuming=True)


def profile(
    asked: request.Request,
    plan: _core.Plan,
    places: list[Environment],
    context: dict[str, Any],
    params: dict[str, Any],
) -> int:
    """Ranges instead of times; see docs/how-to/profile.md."""
    status, warnings = profiling.conduct(
        asked, plan, places, context, out=params["out"], quiet=params["quiet"]
    )
    for warning in warnings:
        run.warn(warning)
    return status


def measure(
    folder: Path,
    asked: request.Request,
    places: list[Environment],
    plan: _core.Plan,
    context: dict[str, Any],
    noise: Noise,
    params: dict[str, Any],
    *,
    resuming: bool,
) -> int:
    quiet = params["quiet"]
    try:
        wanted = asked.options(folder, context, resuming)
        summary = run.execute(plan, wanted, folder, noise, quiet=quiet)
        signal = summary.signal or run.after_rounds(folder, asked, places, summary, quiet=quiet)
    except Exception:
        if not resuming:
            rundir.give_up(folder)
        raise
    plots = not params["no_plots"]
    return run.conclude(folder, summary, signal=signal, plots=plots, quiet=quiet, console=Console())


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with streams.guarded():
        output.prepare()
        try:
            try:
                return conduct(words)
            finally:
                sys.stdout.flush()
        except click.exceptions.Exit as end:
            return end.exit_code
        except click.ClickException as error:
            run.warn(first_line(error.format_message()))
        except (BadInput, _core.UsageError, OSError) as error:
            run.warn(first_line(error))
        except RuntimeError as error:
            # Python has no type of its own for it.
            if str(error) != "can't start new thread":
                raise
            run.warn("no thread can be started here: raise the limit of processes (ulimit -u)")
        except KeyboardInterrupt:
            return 130
    return 2


def conduct(words: list[str]) -> int:
    """Do what the arguments request; return the exit status. Raises errors that main() prints."""
    options.require_utf8(words)
    layout.forget_bad_columns()
    command: click.Command = dlbench
    name = "dlbench"
    if words and words[0] in VERBS:
        name = f"dlbench {words[0]}"
        command = verbs()[words.pop(0)]
    with command.make_context(name, words) as ctx:
        options.require_no_empty(ctx)
        return int(command.invoke(ctx) or 0)
