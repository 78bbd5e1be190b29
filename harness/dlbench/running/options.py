"""The options of a measuring run, and the request that they make."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from dlbench.environments import env_option
from dlbench.errors import BadInput
from dlbench.running.request import AXES, Request, parse_shard

Function = TypeVar("Function", bound=Callable[..., Any])

#: The range of the core, and of seeds that every JSON reader keeps exactly.
WORKERS = click.IntRange(1, 1000)
JOBS = click.IntRange(1, 1024)
SEED = click.IntRange(0, 2**32 - 1)

#: Options that --resume allows: they change the output, not the measurement.
WITH_RESUME = {"resume", "matrix", "quiet", "no_plots", "wait_idle"}


def words(ctx: click.Context, option: click.Parameter, value: str | None) -> list[str] | None:
    """ "a,b,c" -> ["a", "b", "c"]."""
    if value is None:
        return None
    found = [word.strip() for word in value.split(",")]
    if not all(found):
        raise BadInput(
            f"--{option.name}: {value!r} has an empty name; allowed: names separated by commas"
        )
    return found


def words_option(name: str, description: str) -> Callable[[Function], Function]:
    return click.option(name, callback=words, metavar="A,B", help=description)


#: For verbs that write a FILE.
FORCE = click.option("--force", is_flag=True, help="Replace FILE if it exists.")

OPTIONS = (
    click.option("--matrix", is_flag=True, help="Measure all pairs of the installed libraries."),
    words_option(
        "--producers",
        "Measure these producers, or all; faulty:FAULT injects a fault. "
        "Default: all installed, except opt-in ones.",
    ),
    words_option(
        "--consumers",
        "Measure these consumers, or all. Default: all installed, except opt-in ones.",
    ),
    words_option(
        "--protocols", "Measure these protocols, or all. Default: dlpack,dlpack_c,convert."
    ),
    words_option(
        "--devices",
        "Measure on these devices: cpu, cuda:0, rocm:0, sycl:0, sim:0, cuda:0+cpu (from one to the "
        "other). Default: cpu, sycl:0, the first GPU.",
    ),
    words_option(
        "--cases", "Measure these cases: f32, f32-unaligned, f32-grad, ..., or all. Default: f32."
    ),
    words_option(
        "--sizes", "Measure arrays of these sizes. Default: 4KiB,256KiB,4MiB; of all cases 64KiB."
    ),
    words_option(
        "--phases", "Time these phases: query, export, import, release, or all. Default: exchange."
    ),
    words_option(
        "--count", "Count `instructions` of each exchange after the rounds, with valgrind."
    ),
    click.option(
        "--profile",
        is_flag=True,
        help="Emit NVTX and ROCTX ranges for a profiler; measure no times.",
    ),
    click.option(
        "--trace-api", is_flag=True, help="Count the CUDA calls of each exchange after the rounds."
    ),
    click.option(
        "--sync",
        is_flag=True,
        help="Classify the synchronization of each exchange after the rounds.",
    ),
    click.option(
        "--capture",
        is_flag=True,
        help="Try each exchange during a graph capture after the rounds, on CUDA and ROCm.",
    ),
    click.option(
        "--filter", "filter_", metavar="REGEX", help="Measure only cells whose name matches."
    ),
    click.option(
        "--budget",
        metavar="TIME",
        help="Measure for this time, imports and floors not counted: 90s, 2m. Default: none.",
    ),
    click.option(
        "--precision",
        metavar="SHARE",
        help="Add rounds within each worker down to this half-width; workers may differ by more. "
        "Default: 2%.",
    ),
    click.option(
        "--replicas",
        type=WORKERS,
        help="Measure each cell in this many worker processes. Default: 3.",
    ),
    click.option(
        "--shard",
        metavar="K/N",
        help="Measure part K of N of --matrix, on one of N equal machines. Default: 1/1.",
    ),
    click.option(
        "--isolate",
        is_flag=True,
        help="Import only the two libraries of a pair into each worker.",
    ),
    click.option(
        "--evict",
        is_flag=True,
        help="Evict the libraries' code from the page cache between replicas; always with --env.",
    ),
    click.option(
        "--jobs",
        type=JOBS,
        help="Import in this many workers at a time. Default: the number of cores, at most 4.",
    ),
    click.option(
        "--timeout", metavar="TIME", help="Deadline of one step of a worker. Default: 30s."
    ),
    click.option(
        "--wait-idle",
        metavar="TIME",
        help="Wait up to TIME until the machine is idle, else end with code 2. Default: no wait.",
    ),
    click.option(
        "--adapters",
        metavar="DIR",
        help="Load the adapters in DIR/producers and DIR/consumers too.",
    ),
    click.option(
        "--env",
        multiple=True,
        metavar="NAME=PYTHON",
        help="Measure the libraries of that Python too; may be repeated.",
    ),
    click.option(
        "--out",
        metavar="DIR",
        help="Write the run to this folder, new or empty. Default: dlbench-results/TIME.",
    ),
    click.option("--resume", metavar="DIR", help="Continue the interrupted run in DIR."),
    click.option("--dry-run", is_flag=True, help="Print the plan and stop."),
    click.option("--seed", type=SEED, help="Seed of the order of rounds. Default: 1."),
    click.option("--no-plots", is_flag=True, help="Write no figures and no report."),
    click.option("--quiet", is_flag=True, help="Print only errors."),
)


def measuring(function: Function) -> Function:
    """Adds all options of a measuring run."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def typed_parameters(context: click.Context) -> set[str]:
    """The names of the parameters on the command line."""
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) is source}


def require_utf8(words: Iterable[str]) -> None:
    """Raises BadInput for words that are not UTF-8, because no document can hold them."""
    for word in words:
        if any("\ud800" <= letter <= "\udfff" for letter in word):
            raise BadInput(f"{word!r} is not UTF-8")


def typed_options(ctx: click.Context) -> dict[str, str]:
    """The parameters on the command line: name -> "--option", or "an argument"."""
    typed = typed_parameters(ctx)
    return {
        str(parameter.name): parameter.opts[0]
        if isinstance(parameter, click.Option)
        else "an argument"
        for parameter in ctx.command.params
        if parameter.name in typed
    }


def require_no_empty(ctx: click.Context) -> None:
    """Raises BadInput if the value of an option or argument is an empty text."""
    for name, option in typed_options(ctx).items():
        value = ctx.params.get(name)
        if "" in (value if isinstance(value, tuple) else (value,)):
            raise BadInput(f"{option} is empty")


def require_read(ctx: click.Context, mode: str, read: Collection[str]) -> None:
    """If the option `mode` is given, raises BadInput for a parameter that it does not read."""
    typed = typed_options(ctx)
    for name, option in typed.items() if mode in typed else ():
        if name != mode and name not in read:
            word = "the argument" if option == "an argument" else option
            raise BadInput(f"{typed[mode]} does not read {word}: leave out one of them")


def require_resume_alone(typed: set[str], allowed: Collection[str] = WITH_RESUME) -> None:
    for name in sorted(typed - set(allowed)):
        positional = {"libraries": "two libraries", "words": "BASE and HEAD"}
        word = positional.get(name, f"--{name.rstrip('_').replace('_', '-')}")
        raise BadInput(f"--resume reads all options from the run's journal: leave out {word}")


def request(params: dict[str, Any], libraries: tuple[str, ...]) -> Request:
    """The request from the options. Raises BadInput for an impossible run."""
    if libraries and (params["producers"] or params["consumers"]):
        raise BadInput("a pair names both sides: leave out --producers and --consumers")
    for what in params["count"] or []:
        if what != "instructions":
            raise BadInput(f"cannot count {what!r}; allowed: instructions")
    made = Request(pair=list(libraries), count=params["count"] or [])
    made.trace_api = params.get("trace_api", False)
    made.sync = params.get("sync", False)
    made.capture = params.get("capture", False)
    made.isolate = params.get("isolate", False)
    made.evict = params.get("evict", False)
    for axis in AXES:
        setattr(made, axis, params[axis] or [])
    for option in ("budget", "precision", "replicas", "jobs", "timeout", "seed"):
        if params[option] is not None:
            setattr(made, option, params[option])
    if params.get("shard") is not None:
        parse_shard(params["shard"])
        if libraries:
            raise BadInput("--shard divides --matrix: a pair of libraries is one part")
        made.shard = params["shard"]
    made.filter = params["filter_"] or ""
    made.env = [f"{name}={python}" for name, python in env_option.read(params["env"]).items()]
    if params["adapters"] is not None:
        made.adapters = str(Path(params["adapters"]).absolute())
    # Their folders are not words of the command line.
    require_utf8([made.adapters, *made.env])
    return made
