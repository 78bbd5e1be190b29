"""The options of a measuring run, and the request that they make."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, TypeVar

import click

from dlbench.environments import env_option
from dlbench.errors import BadInput
from dlbench.libraries import arguments, discover
from dlbench.running import calls, completion
from dlbench.running.request import Request

Function = TypeVar("Function", bound=Callable[..., Any])

#: Options that --resume allows: they change the output, or name code that the journal names, too.
WITH_RESUME = {"resume", "matrix", "quiet", "no_plots", "wait_idle", "env", "adapters"}


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


def declared(each: Field[Any]) -> Callable[[Function], Function]:
    """The option of a field of Request. Its value is empty unless it is given."""
    flag, about = "--" + each.name.replace("_", "-"), dict(each.metadata)
    if each.name in completion.OPTIONS:
        about["shell_complete"] = completion.OPTIONS[each.name]
    if each.default is False:
        return click.option(flag, is_flag=True, help=about["help"])
    if each.default_factory is list and not about.get("multiple"):
        about["callback"] = words
    return click.option(flag, **about)


#: By the names of their parameters. A journal keeps those of Request; the others say how a run
#: begins, and what it writes and prints.
OPTIONS: dict[str, Callable[[Any], Any]] = {
    "matrix": click.option(
        "--matrix", is_flag=True, help="Measure all pairs of the installed libraries."
    ),
    "calls": click.option(
        "--calls",
        is_flag=True,
        help="Measure calls of compiled functions with 0 to 20 arrays, by binding.",
    ),
    **{each.name: declared(each) for each in fields(Request) if each.metadata},
    "wait_idle": click.option(
        "--wait-idle",
        metavar="TIME",
        help="Wait up to TIME until the machine is idle, else end with code 2. Default: no wait.",
    ),
    "out": click.option(
        "--out",
        metavar="DIR",
        help="Write the run to this folder, new or empty. Default: dlbench-results/TIME.",
    ),
    "resume": click.option("--resume", metavar="DIR", help="Continue the interrupted run in DIR."),
    "dry_run": click.option(
        "--dry-run",
        is_flag=True,
        help="Print the size of the plan and about how long it takes, and stop.",
    ),
    "everything": click.option(
        "--all", "everything", is_flag=True, help="Print each cell of a --dry-run too."
    ),
    "profile": click.option(
        "--profile",
        is_flag=True,
        help="Emit NVTX and ROCTX ranges for a profiler; measure no times.",
    ),
    "no_plots": click.option("--no-plots", is_flag=True, help="Write no figures and no report."),
    "quiet": click.option("--quiet", is_flag=True, help="Print only errors."),
}


def measuring(names: Collection[str], **defaults: object) -> Callable[[Function], Function]:
    """Adds these options of a measuring run. `defaults`: what a verb has in place of a run's."""

    def add(function: Function) -> Function:
        for name in reversed(OPTIONS):
            function = OPTIONS[name](function) if name in names else function
        for option in getattr(function, "__click_params__", ()):
            if option.name in defaults:
                about, _, _ = option.help.partition(" Default: ")
                option.help = f"{about} Default: {defaults[option.name]}."
        return function

    return add


def typed_parameters(context: click.Context) -> set[str]:
    """The names of the parameters on the command line."""
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) is source}


def meanings() -> dict[str, str]:
    """The help of each option of a measuring run."""
    command = click.command()(measuring(OPTIONS)(lambda: None))
    found = (option for option in command.params if isinstance(option, click.Option))
    return {option.opts[0].lstrip("-"): str(option.help) for option in found}


def from_defaults(context: click.Context) -> list[str]:
    """The parameters with a value of pyproject.toml."""
    source = click.core.ParameterSource.DEFAULT_MAP
    return [name for name in context.params if context.get_parameter_source(name) is source]


def without(names: Collection[str], params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, those of `names` as if they were not given."""
    return {name: None if name in names else value for name, value in params.items()}


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
        positional = {"libraries": "the libraries", "words": "BASE and HEAD"}
        word = positional.get(name, f"--{name.replace('_', '-')}")
        raise BadInput(f"--resume reads this from the run's journal: leave out {word}")


def _place_calls(made: Request, found: discover.Catalogue) -> None:
    """Each NAME:CALL is a consumer; the other library of a pair is its producer."""
    made.consumers = found.expanded(made.consumers)
    if any(map(found.is_call, made.pair)):
        made.producers = [name for name in made.pair if not found.is_call(name)] or made.pair
        made.consumers, made.pair = list(filter(found.is_call, made.pair)), []
    for name in filter(found.is_call, made.producers):
        base, call = arguments.split(name)
        raise BadInput(f"{name} makes no arrays: {call} is a call that imports; producer: {base}")


def request(params: dict[str, Any], libraries: tuple[str, ...]) -> Request:
    """The request from the options. Raises BadInput for an impossible run."""
    if libraries and (params["producers"] or params["consumers"]):
        raise BadInput("a pair names both sides: leave out --producers and --consumers")
    for what in params["count"] or []:
        if what != "instructions":
            raise BadInput(f"cannot count {what!r}; allowed: instructions")
    given = {each.name: params.get(each.name) for each in fields(Request) if each.metadata}
    typed = {name: value for name, value in given.items() if value not in (None, ())}
    made = Request(pair=list(libraries), **typed)
    if params.get("calls"):
        calls.complete(made)
    if any(arguments.split(word)[1] for word in made.libraries()):
        _place_calls(made, discover.catalogue(made.adapters))
    made.env = [f"{name}={python}" for name, python in env_option.read(made.env).items()]
    if made.adapters:
        made.adapters = str(Path(made.adapters).absolute())
    # Their folders are not words of the command line.
    require_utf8([made.adapters, *made.env])
    return made
