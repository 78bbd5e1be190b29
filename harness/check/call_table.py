"""`dlbench check --calls`: what bindings do with arguments that their functions do not declare.

Each condition is tried in a process that may die; the others go on in a new one.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.check import boundary
from dlbench.check.runner import CHILD, START_S
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput
from dlbench.libraries import arguments, discover
from dlbench.running import calls
from dlbench.supervisor import RequestFailed, Steps, Worker, send_each
from dlbench.text.escaping import dlbench_command, markdown, markdown_code, shortened
from dlbench.text.grouping import grouped
from dlbench.text.layout import wrap

#: The producers that are tried, in order: a binding is judged with the first whose plain array it
#: takes, and with the next one in conditions for which that producer has no array.
PRODUCERS = ("numpy", "torch", "native", "tvm_ffi", "jax")
PLAIN = "float32"
PASSED = (boundary.TAKEN, boundary.COPIED)
BYTES = 1024


@dataclass(frozen=True)
class Result:
    """What a binding does in one condition, and why."""

    outcome: str
    detail: str = ""
    producer: str = ""  #: of the array, if it is not the row's

    @property
    def words(self) -> str:
        """The outcome, with what tells more than it in one word: an exception, a signal."""
        known = self.outcome in (boundary.REFUSED, boundary.CRASHED, boundary.TIMED_OUT)
        name = self.detail.partition(":")[0]
        words = f"{self.outcome} ({name})" if known and name else self.outcome
        return f"{words} with {self.producer}" if self.producer else words


@dataclass(frozen=True)
class Row:
    """One binding, with arrays of one producer."""

    binding: str
    producer: str
    results: dict[str, Result]


class _NotTaken(Exception):  # noqa: N818
    """A binding does not take a producer's plain array, so that no condition of it is tried."""


class _Conditions(Steps[str, Result]):
    name = "check"

    def __init__(
        self, place: Environment, adapters: Mapping[str, Sequence[str]], timeout_s: float
    ) -> None:
        super().__init__()
        self._place, self._adapters, self._timeout_s = place, adapters, timeout_s
        self._deadline_s = timeout_s  #: of the request that is sent

    def start(self, item: str, folder: Path) -> Worker:
        self._deadline_s = max(self._timeout_s, START_S)
        return Worker([self._place.python, str(CHILD)], self._deadline_s)

    def load(self, worker: Worker, item: str) -> None:
        worker.send_request({"do": "adapters", **self._adapters})

    def send_request(self, worker: Worker, item: str) -> Result:
        case = boundary.CONDITIONS[item]
        request: dict[str, Any] = {"do": "call", "condition": item}
        for key, name in (("plain", "f32"), ("case", case or "f32")):
            request[key] = _core.case(name) | {"bytes": BYTES}
        self._deadline_s = self._timeout_s
        answer = worker.send_request(request, self._timeout_s)
        outcome, detail = str(answer.get("outcome")), str(answer.get("detail", ""))
        if outcome not in boundary.OUTCOMES:
            raise worker.reject(f"no outcome of a call: {str(answer)[:60]!r}")
        return Result(outcome, shortened(detail))

    def fail(self, item: str, failure: RequestFailed) -> Result:
        if failure.outcome == "import-failed":
            return Result(boundary.REFUSED, str(failure))
        if failure.outcome == boundary.TIMED_OUT:
            return Result(boundary.TIMED_OUT, f"deadline {self._deadline_s:g} s")
        how = failure.death.signal if failure.death is not None else ""
        return Result(boundary.CRASHED, how or str(failure))


def rows(
    words: Sequence[str], found: discover.Catalogue, timeout_s: float, say: Callable[[str], None]
) -> Iterator[Row | str]:
    """The rows of the bindings of these names, or of all; for others the reason why not."""
    known = calls.bindings(found, launching=False)
    for word in words:
        if word not in known:
            hint = _core.did_you_mean(word, known)
            what = f"no binding for arrays of the CPU{hint}"
            raise BadInput(f"{word!r} is {what}; allowed: {', '.join(known)}")
    names = list(dict.fromkeys(words)) or calls.without_conditions(known)
    libraries = [discover.library(name, found.roles(name), found.environment) for name in names]
    calls.compile_sources(libraries, found, say)
    producers = [
        name
        for name in PRODUCERS
        if discover.library(name, found.roles(name), found.environment).installed
    ]
    for one in libraries:
        own = arguments.split(one.name)[0]
        ordered = [name for name in producers if name == own]
        ordered += [name for name in producers if name != own]
        row = _row(one, ordered, found, timeout_s) if one.installed else one.why_not
        yield row if isinstance(row, Row) else f"{one.name}: {row}"


def _row(
    binding: _core.Library, producers: Sequence[str], found: discover.Catalogue, timeout_s: float
) -> Row | str:
    """The row, or the reason why the binding takes no producer's array."""
    row, why = None, ""
    for producer in producers:
        left = [
            condition
            for condition in boundary.CONDITIONS
            if row is None or row.results[condition].outcome == boundary.ABSENT
        ]
        if not left:
            break
        path = found.roles(producer)["producer"].path
        adapters = {
            "producer": (producer, str(path)),
            "consumer": (binding.name, binding.consumer_path),
        }
        steps = _Conditions(found.environment, adapters, timeout_s)
        results: dict[str, Result] = {}

        def keep(condition: str, result: Result, results: dict[str, Result] = results) -> None:
            results[condition] = result
            if results[PLAIN].outcome not in PASSED:
                raise _NotTaken

        with contextlib.suppress(_NotTaken):
            send_each(steps, list(dict.fromkeys([PLAIN, *left])), keep)
        plain = results[PLAIN]
        if plain.outcome not in PASSED:
            why = why or f"{plain.outcome} with a plain array of {producer}: {plain.detail}"
            if plain.outcome == boundary.TIMED_OUT:
                break
        elif row is None:
            row = Row(binding.name, producer, results)
        else:
            row.results.update(
                (name, replace(results[name], producer=producer))
                for name in left
                if results[name].outcome != boundary.ABSENT
            )
    return row or why or "no producer is installed"


def lines(row: Row, width: int) -> list[str]:
    """The binding, and the conditions of each of its outcomes."""
    made = [f"{row.binding}, with arrays of {row.producer}"]
    for words, found in grouped(row.results.items(), lambda item: item[1].words).items():
        names = ", ".join(name for name, _ in found)
        made += [f"  {line}" for line in wrap(f"{words}: {names}", width - 2)]
    return made


def as_texts(table: Sequence[Row]) -> list[dict[str, str]]:
    """The table of all bindings and conditions, as texts by their heads."""
    return [
        {"binding": row.binding, "arrays of": row.producer}
        | {name: row.results[name].words for name in boundary.CONDITIONS}
        for row in table
    ]


def as_json(table: Sequence[Row], found: discover.Catalogue) -> bytes:
    """The table for the report of a run, with the versions of its libraries. Its command has no
    paths, because the report may be shared."""
    command = dlbench_command("check", "--calls", *(row.binding for row in table))
    names = {arguments.split(name)[0] for row in table for name in (row.binding, row.producer)}
    each = [discover.library(name, found.roles(name), found.environment) for name in sorted(names)]
    libraries = ", ".join(f"{one.name} {one.version}" for one in each if one.version)
    made = {"command": command, "libraries": libraries, "rows": as_texts(table)}
    return json.dumps(made, indent=1).encode()


def as_markdown(table: Sequence[Row], command: str) -> str:
    """The page with the table."""
    texts = as_texts(table)
    heads = list(texts[0])
    lines = [heads, *(list(row.values()) for row in texts)]
    head, *body = (f"| {' | '.join(map(markdown, line))} |\n" for line in lines)
    return (
        "# What a binding does with other arguments\n\n"
        f"Written by {markdown_code(command)} with dlbench {_core.version}.\n"
        "[Words](../how-to/what-does-a-call-cost.md#what-does-a-binding-do-with-other-arguments)\n"
        f"\n{head}{'|---' * len(heads)}|\n{''.join(body)}"
    )
