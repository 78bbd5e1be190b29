"""The command line. Every bad use or input is one line on stderr and exit status 2."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import shell_complete

from dlbench import _core
from dlbench.counting import valgrind
from dlbench.document import Run
from dlbench.errors import BadInput, first_line
from dlbench.libraries import discover
from dlbench.machine.noise import Noise, NoiseProbe, wait_idle
from dlbench.running import completion, defaults, options, profiling, request, run, rundir
from dlbench.text import layout, output, streams
from dlbench.text.output import Console

SHORT_HELP = """\
dlbench measures what happens when one array library passes an array to another.

  dlbench --matrix          all pairs of the installed libraries
  dlbench numpy torch       one pair, both directions;  of more libraries all pairs
  dlbench list              libraries, protocols, what is missing
  dlbench check numpy       one library against the rules of the protocols
  dlbench doctor            sources of measurement noise on this machine
  dlbench show latest       the last run;  repro, debug, explain, plot: more about it
  dlbench report latest     the last run as one HTML file

dlbench --help lists all options; dlbench help TERM explains a word of the output.
"""
#: The names in dlbench.command.verbs. A run does not import them: that takes as long as measuring
#: many cells.
VERBS = ("list", "doctor", "help", "show", "repro", "debug", "explain", "plot", "check", "compare",
         "track", "bisect", "canary", "merge", "fleet", "export", "report", "site",
         "selftest")  # fmt: skip


def verbs() -> dict[str, click.Command]:
    """The verbs' commands by name."""
    import dlbench.command.verbs

    return dlbench.command.verbs.VERBS


COMPLETE = "_DLBENCH_COMPLETE"  #: of click: the shell, and what it needs
FEW_FILES = 64  #: with fewer open files a failure is due to that limit


class Measure(click.Command):
    """The measuring run; its help lists the verbs too."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("dlbench", "--matrix [OPTIONS] | A B... [OPTIONS] | VERB ...")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(
                [(name, verb.get_short_help_str(200)) for name, verb in verbs().items()]
            )


class Line(click.Command):
    """Any command line, for completion in a shell."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        verb, command = chosen(args)
        known = defaults.Defaults()
        with contextlib.suppress(BadInput):
            known = defaults_of(verb, command)
        return command.make_context(info_name, args, default_map=known.values, **extra)


def chosen(words: list[str]) -> tuple[str, click.Command]:
    """Removes the verb from the words; returns it and its command: "" for a measuring run."""
    if words and words[0] in VERBS:
        verb = words.pop(0)
        return verb, verbs()[verb]
    return "", dlbench


def defaults_of(verb: str, command: click.Command) -> defaults.Defaults:
    """Raises BadInput."""
    return defaults.read(Path.cwd(), verb, command, dlbench, VERBS)


def print_checks(ctx: click.Context, _: click.Parameter, is_set: bool) -> None:
    """Prints the folder for `reframe -c`."""
    if is_set and not ctx.resilient_parsing:
        output.print_line(Path(__file__).parent / "machines" / "checks")
        ctx.exit(0)


def first_words(ctx: click.Context) -> list[str]:
    """Verbs and libraries for the first word, then libraries."""
    return [*(() if ctx.params.get("libraries") else VERBS), *completion.libraries(ctx)]


@click.command(cls=Measure)
@click.argument("libraries", nargs=-1, shell_complete=completion.of(first_words))
@options.measuring(options.OPTIONS)
@click.option("--reframe-checks", is_flag=True, is_eager=True, expose_value=False,
              callback=print_checks, help="Print the folder of the ReFrame check.")  # fmt: skip
@click.version_option(_core.version, prog_name="dlbench", message="%(prog)s %(version)s")
@click.pass_context
def dlbench(ctx: click.Context, /, libraries: tuple[str, ...], **params: Any) -> int:
    """Measure what happens when one array library passes an array to another."""
    if not options.typed_parameters(ctx):
        output.write_text(SHORT_HELP)
        return 0
    used = options.from_defaults(ctx)
    if params["profile"]:
        profiling.require_alone(options.typed_parameters(ctx))
    if params["resume"]:
        options.require_resume_alone(options.typed_parameters(ctx))
        return resume(rundir.resumable(params["resume"]), options.without(used, params))
    if params["everything"] and not params["dry_run"]:
        raise BadInput("--all prints the cells of a plan: add --dry-run, or leave out --all")
    if bool(libraries) == (params["matrix"] or params["calls"]):
        if libraries and not params["calls"]:
            raise BadInput("--matrix measures all pairs: leave out --matrix, or the libraries")
        if not libraries:
            raise BadInput(
                "nothing to measure: give --matrix, or two libraries as in 'dlbench numpy torch'"
            )
    if libraries:  # defaults are for --matrix
        of_matrix = {"producers", "consumers"} & set(used)
        params = options.without(of_matrix, params)
        used = [name for name in used if name not in of_matrix]
    probe = NoiseProbe()
    requested = options.request(params, libraries)
    places = run.find_environments(requested)
    found = run.find_libraries(requested, places, compiles=not params["dry_run"])
    if libraries:
        require_libraries(libraries, sorted({one.name for one in found}))
    prepared = run.Prepared(requested, places, found, requested.plan(found))
    # Invalid values are reported before a folder is made.
    requested.options(Path(), {}, resume=False)
    if params["wait_idle"] is not None:
        _core.parse_seconds(params["wait_idle"])
    if params["dry_run"]:
        return run.dry_run(prepared, Console(), everything=params["everything"])
    run.require_cells(prepared.plan)
    if used and not params["quiet"]:
        output.print_error(f"defaults of {defaults.FILE}: {', '.join(used).replace('_', '-')}")
    noise = observed(probe, params)
    if params["profile"]:
        return profiling.run_profile(prepared, noise, out=params["out"], quiet=params["quiet"])
    return measure(prepared, noise, params)


def observed(probe: NoiseProbe, params: dict[str, Any]) -> Noise:
    """The noise right before the run. With --wait-idle it waits for an idle machine, or raises
    BadInput."""
    found = probe.finish()
    if params["wait_idle"] is None:
        return found
    most_s = _core.parse_seconds(params["wait_idle"])
    return wait_idle(found, most_s, lambda: NoiseProbe().finish(), output.print_error)


def require_libraries(words: Sequence[str], known: list[str]) -> None:
    """Raises BadInput, naming what is nearest, unless these are at least two libraries."""
    options = {option.opts[0].lstrip("-"): option.opts[0] for option in dlbench.params}
    for word in words:
        if word not in known:
            kind = "verb or library" if word == words[0] else "library"
            text = discover.unknown(word, [*known, *VERBS, *options], kind)
            for name, option in options.items():
                text = text.replace(f"mean '{name}'", f"mean '{option}'")
            raise BadInput(text)
    if len(words) < 2:
        raise BadInput(f"a pair needs two libraries, not {len(words)}: 'dlbench numpy torch'")


def resume(folder: Path, params: dict[str, Any]) -> int:
    """Resumes the run in this folder."""
    probe = NoiseProbe()
    kept = request.journal_context(folder, params)
    if "compare" in kept["dlbench"]:
        go_on = Run(kept["dlbench"]).resume_command(folder)
        raise BadInput(f"{str(folder)!r} is a comparison; to continue it: {go_on}")
    requested = request.resumed(kept)
    places = run.find_environments(requested)
    found = run.find_libraries(requested, places)
    prepared = run.Prepared(requested, places, found, requested.plan(found))
    return measure(prepared, observed(probe, params), params, folder)


def measure(
    prepared: run.Prepared, noise: Noise, params: dict[str, Any], resumed: Path | None = None
) -> int:
    """Measures, and writes the run. `resumed`: the folder of the run to continue."""
    if prepared.request.count:
        valgrind.require()
    quiet, folder = params["quiet"], resumed or rundir.fresh(params["out"])
    try:
        # The core refuses a journal of another machine.
        context = run.context(prepared, noise)
        wanted = prepared.request.options(folder, context, resume=resumed is not None)
        summary = run.execute(prepared, wanted, folder, noise, quiet=quiet, shows_first=True)
        signal = run.after_rounds(prepared, folder, summary, quiet=quiet)
    except Exception:
        if not resumed:
            rundir.remove_folder(folder)
        raise
    plots = not params["no_plots"]
    again = Run(context["dlbench"]).resume_command(folder)
    return run.conclude(
        folder, summary, again=again, signal=signal, plots=plots, quiet=quiet, console=Console()
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with streams.guarded():
        output.prepare()
        try:
            try:
                return run_command(words)
            finally:
                sys.stdout.flush()
        except click.exceptions.Exit as end:
            return end.exit_code
        except click.MissingParameter as error:
            usage = error.ctx.get_usage() if error.ctx else ""
            run.warn(f"{error.format_message().rstrip('.')}: {' '.join(usage.split()[1:])}")
        except click.ClickException as error:
            run.warn(error.format_message())
        except (BadInput, _core.UsageError) as error:
            run.warn(str(error))
        except OSError as error:
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            cause = f": at most {most} files can be open (ulimit -n)" if most < FEW_FILES else ""
            run.warn(first_line(error) + cause)
        except MemoryError:
            run.warn("not enough memory: raise the limit (ulimit -v), or use a larger machine")
        except RuntimeError as error:
            # Python raises a plain RuntimeError for it.
            if str(error) != "can't start new thread":
                raise
            run.warn("cannot start a thread: raise the limit of processes (ulimit -u)")
        except KeyboardInterrupt:
            return 130
    return 2


def run_command(words: list[str]) -> int:
    """Do what the arguments request; return the exit status. Raises errors that main() prints."""
    options.require_utf8(words)
    layout.forget_bad_columns()
    if requested := os.environ.get(COMPLETE):
        with contextlib.suppress(BadInput, _core.UsageError, click.ClickException):
            return shell_complete(Line(None), {}, "dlbench", COMPLETE, requested)
        return 2
    typed = list(words)
    verb, command = chosen(words)
    # A bad default is no reason to refuse the help.
    known = defaults.Defaults() if "--help" in words else defaults_of(verb, command)
    name = f"dlbench {verb}".strip()
    try:
        with command.make_context(name, words, default_map=known.values) as ctx:
            options.require_no_empty(ctx)
            return int(command.invoke(ctx) or 0)
    except (click.BadParameter, BadInput, _core.UsageError) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        if option := known.cause(typed, message):
            place = "" if option in message else f"{option}: "
            raise BadInput(f"{known.path}: {place}{message}") from error
        raise
