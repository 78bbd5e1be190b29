"""The axes of `--calls`: what a call with several arrays costs, by binding."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from dlbench import _core
from dlbench.adapter import CALL_NUMBERS, CONDITIONS
from dlbench.analysis.calls import CALL
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput, last_line, marked_line, signal_name
from dlbench.libraries import arguments, compiled, discover
from dlbench.running.request import Request
from dlbench.supervisor import WORKER
from dlbench.text.grouping import grouped

#: Each offers another set of protocols, or is common as an argument of compiled functions.
PRODUCERS = ("array", "jax", "native", "numpy", "torch", "tvm_ffi")
#: Beside these, if a device other than the CPU is named.
OF_DEVICES = ("cupy", "numba")


def complete(request: Request) -> None:
    """Fills in the axes that the request leaves open. Raises BadInput if others exclude calls."""
    if request.pair:
        raise BadInput("--calls measures producers against bindings: name them by --producers and "
                       "--consumers")  # fmt: skip
    if request.protocols not in ([], [CALL]):
        raise BadInput("--calls measures the protocol call: leave out --protocols")
    found = discover.catalogue(request.adapters)
    request.protocols = [CALL]
    request.arrays = request.arrays or list(map(str, CALL_NUMBERS))
    request.sizes = request.sizes or ["1KiB"]
    request.consumers = request.consumers or without_conditions(bindings(found))
    request.producers = request.producers or [
        name
        for name in (*PRODUCERS, *(OF_DEVICES if {*request.devices} - {"cpu"} else ()))
        if discover.library(name, found.roles(name)).installed
    ]


def bindings(found: discover.Catalogue, launching: bool = True) -> list[str]:
    """The consumers with functions of arrays, NAME or NAME:CALL; with those that launch kernels."""
    names = []
    for name, roles in found.files.items():
        file = roles.get("consumer")
        if file is None or file.hidden:
            continue
        for call, protocols in {"": file.protocols, **file.calls}.items():
            if CALL in protocols and (launching or call not in file.launches):
                names.append(f"{name}:{call}" if call else name)
    return names


def without_conditions(names: Sequence[str]) -> list[str]:
    """The bindings of these whose function is called as f(x, y) and returns nothing."""
    return [name for name in names if arguments.split(name)[1].split("-")[-1] not in CONDITIONS]


def compile_sources(
    libraries: Sequence[_core.Library],
    found: discover.Catalogue,
    say: Callable[[str], None],
) -> None:
    """Compiles what the functions of these consumers need and the cache lacks. Libraries whose
    source does not compile are as those that are not installed."""
    wanted = [one for one in libraries if one.installed and _source_of(one, found) is not None]
    by_source = grouped(wanted, lambda one: _source_of(one, found))
    sources = [source for source in by_source if source]
    states = _states(found.environment, sources, compiles=False) if sources else []
    for source, (outcome, reason) in zip(sources, states, strict=True):
        users = by_source[source]
        if outcome == compiled.MISSING:
            say(f"compiling {', '.join(one.name for one in users)} for this machine, once")
            ((outcome, reason),) = _states(found.environment, [source], compiles=True)
        for one in users:
            if outcome:
                one.installed, one.absence, one.why_not = False, outcome, reason


def _source_of(library: _core.Library, found: discover.Catalogue) -> tuple[str, str] | None:
    base, call = arguments.split(library.name)
    file = found.files[base].get("consumer")
    name = file.builds.get(call) if file else None
    return (str(file.path), name) if file and name else None


def _states(
    place: Environment, sources: Sequence[tuple[str, str]], *, compiles: bool
) -> list[tuple[str, str]]:
    """Outcome and reason of each source, empty where it is compiled."""
    request = json.dumps({"sources": sources, "compiles": compiles})
    words = [place.python, str(WORKER), "--compile", request]
    try:
        ended = _core.run_program(words, compiled.LIMIT_S)
    except OSError as error:
        return [("import-failed", str(error))] * len(sources)
    if line := marked_line(ended.out, compiled.ANSWERS):
        return [tuple(state) for state in json.loads(line.removeprefix(compiled.ANSWERS))]
    how = "did not end" if ended.status is None else signal_name(ended.status) or "failed"
    return [("import-failed", f"compiling {how}: {last_line(ended.err)}")] * len(sources)
