"""The options of a measuring run, and the request that they make."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from dlbench.environments import spelled
from dlbench.errors import BadInput
from dlbench.running.request import AXES, Request

Function = TypeVar("Function", bound=Callable[..., Any])

#: What the core takes, and a seed that every reader of JSON holds exactly.
WORKERS = click.IntRange(1, 1000)
JOBS = click.IntRange(1, 1024)
SEED = click.IntRange(0, 2**32 - 1)

#: What may stand beside --resume: it changes what is shown, not what is measured.
WITH_RESUME = {"resume", "matrix", "quiet", "no_plots"}


def words(ctx: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    """ "a,b,c" -> ["a", "b", "c"]."""
    if value is None:
        return None
    found = [word.strip() for word in value.split(",")]
    if not all(found):
        raise BadInput(f"--{option.name}: {value!r} has an empty name in it")
    return found


def words_option(name: str, told: str) -> Callable[[Function], Function]:
    return click.option(name, callback=words, metavar="A,B", help=told)


#: Of a verb that writes a FILE which a person names.
FORCE = click.option("--force", is_flag=True, help="Replace FILE where it is there already.")

OPTIONS = (
    click.option("--matrix", is_flag=True, help="Measure every couple of the libraries found."),
    words_option("--producers", "Libraries that export, or all; saboteur:FAULT, see list."),
    words_option("--consumers", "Libraries that import, or all."),
    words_option("--protocols", "dlpack, dlpack_c, convert, ..., or all."),
    words_option("--devices", "cpu, cuda:0, rocm:0, sycl:0, sim:0, ...; pairs as cuda:0+cpu."),
    words_option("--cases", "Kinds of array: f32, f32-unaligned, f32-grad, f32-nulls, ..."),
    words_option("--sizes", "Bytes of an array: 4KiB,1MiB."),
    words_option("--phases", "exchange (default), query, export, import, release, or all."),
    words_option("--count", "instructions: of each exchange, by valgrind, after the rounds."),
    click.option("--profile", is_flag=True, help="Ranges for a profiler, a trace; no times."),
    click.option("--trace-api", is_flag=True, help="After the run, count CUDA calls an exchange."),
    click.option("--sync", is_flag=True, help="Also who waits for whom's queue, after the rounds."),
    click.option("--filter", "filter_", metavar="REGEX", help="Only cells whose name it finds."),
    click.option(
        "--budget", metavar="TIME", help="End the run after this time, imports included: 90s, 2m."
    ),
    click.option("--precision", metavar="SHARE", help="Stop refining a cell at it: 2%."),
    click.option("--replicas", type=WORKERS, help="Workers for each couple."),
    click.option("--jobs", type=JOBS, help="Workers that import at the same time."),
    click.option("--timeout", metavar="TIME", help="Deadline of one step of a worker: 30s."),
    click.option("--adapters", metavar="DIR", help="More adapters: DIR/producers, DIR/consumers."),
    click.option(
        "--env",
        multiple=True,
        metavar="NAME=PYTHON",
        help="Also the libraries of that Python; may be given several times.",
    ),
    click.option("--out", metavar="DIR", help="Where the run's files go: a new or empty folder."),
    click.option("--resume", metavar="DIR", help="Go on with a run that was cut off."),
    click.option("--dry-run", is_flag=True, help="Print the plan and stop."),
    click.option("--seed", type=SEED, help="Of the order of rounds."),
    click.option("--no-plots", is_flag=True, help="No figures, no report."),
    click.option("--quiet", is_flag=True, help="Print nothing but errors."),
)


def measuring(function: Function) -> Function:
    """Adds all options of a measuring run."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def given(context: click.Context) -> set[str]:
    """The parameters that were typed."""
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) is source}


def require_utf8(words: Iterable[str]) -> None:
    """Raises BadInput for what no document could hold."""
    for word in words:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise BadInput(f"{word!r} is not UTF-8")


def require_no_empty(ctx: click.Context) -> None:
    """Raises BadInput where the value of an option or argument was typed as an empty text."""
    typed = given(ctx)
    for parameter in ctx.command.params:
        value = ctx.params.get(str(parameter.name))
        if parameter.name in typed and "" in (value if isinstance(value, tuple) else (value,)):
            named = parameter.opts[0] if parameter.opts[0].startswith("-") else "an argument"
            raise BadInput(f"{named} is empty")


def require_resume_alone(typed: set[str], allowed: Collection[str] = WITH_RESUME) -> None:
    for name in sorted(typed - set(allowed)):
        positional = {"libraries": "two libraries", "words": "BASE and HEAD"}
        word = positional.get(name, f"--{name.rstrip('_').replace('_', '-')}")
        raise BadInput(f"--resume takes all from the run's journal: leave out {word}")


def request(params: dict[str, Any], libraries: tuple[str, ...]) -> Request:
    """What the options ask for. Raises BadInput for what no run can be."""
    if libraries and (params["producers"] or params["consumers"]):
        raise BadInput("two libraries name both sides: leave out --producers and --consumers")
    for what in params["count"] or []:
        if what != "instructions":
            raise BadInput(f"cannot count {what!r}; allowed: instructions")
    made = Request(couple=list(libraries), count=params["count"] or [])
    made.trace_api = params.get("trace_api", False)
    made.sync = params.get("sync", False)
    for axis in AXES:
        setattr(made, axis, params[axis] or [])
    for option in ("budget", "precision", "replicas", "jobs", "timeout", "seed"):
        if params[option] is not None:
            setattr(made, option, params[option])
    made.filter = params["filter_"] or ""
    made.env = [f"{name}={python}" for name, python in spelled.read(params["env"]).items()]
    if params["adapters"] is not None:
        made.adapters = str(Path(params["adapters"]).absolute())
    # Their folders were not typed.
    require_utf8([made.adapters, *made.env])
    return made
