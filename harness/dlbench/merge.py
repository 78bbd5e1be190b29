"""`dlbench merge RUN RUN...`: one document of several machines, each row knowing its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from dlbench import _core, output, rundir, writing
from dlbench import document as documents
from dlbench.errors import BadInput, os_line

Document = dict[str, Any]

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN RUN ...")
@click.option("--out", metavar="DIR", required=True, help="Where to: a new or empty folder.")
def merge(runs: tuple[str, ...], out: str) -> None:
    """Put runs of several machines into one document, each row knowing its machine.

    RUN is a run, or NAME=RUN; without a name the machine is called by its host's.
    """
    if len(runs) < 2:
        raise BadInput("merge takes two runs at least: dlbench merge RUN RUN --out DIR")
    parts = [part for run in runs for part in _parts(run)]
    merged = of_parts(parts)
    path = rundir.fresh(out) / "results.json"
    write(merged, path)
    output.say(path)


def _parts(text: str) -> Iterator[tuple[str, Document]]:
    """Machines' names with their documents; several where the run was merged before."""
    name, equals, run = text.partition("=")
    named = bool(equals) and NAME.fullmatch(name) is not None and not Path(text).exists()
    document = documents.load(documents.locate(run if named else text))
    if "checks" in document:
        raise BadInput(f"{text} is of 'dlbench check', which has no rows to merge")
    inside = documents.machines(document)
    if inside:
        if named:
            raise BadInput(f"{run} is of several machines, which have names: leave out {name}=")
        yield from ((machine, documents.of_machine(document, machine)) for machine in inside)
        return
    yield (name if named else _fit(document["context"]["host_name"], text)), document


def _fit(host: str, run: str) -> str:
    """A host's name as a machine's."""
    name = re.sub(r"[^A-Za-z0-9_.+-]", "-", host).lstrip(".+-")
    if not name:
        raise BadInput(f"{run} does not say which host it ran on: name it, as NAME={run}")
    return name


def of_parts(parts: Iterable[tuple[str, Document]]) -> Document:
    """One document. Raises BadInput where two machines have one name."""
    merged: Document = {key: [] for key in documents.LISTS}
    machines: dict[str, Any] = {}
    contexts: list[dict[str, Any]] = []
    for name, document in parts:
        if name in machines:
            raise BadInput(f"two machines are called {name!r}: name the runs, as NAME=RUN")
        machines[name] = _machine(document["context"])
        contexts.append(document["context"])
        for key in documents.LISTS:
            merged[key] += [_entry(entry, name) for entry in document[key]]
    for key in documents.LISTS:
        merged[key].sort(key=lambda entry: entry["name"])
    return {"context": _context(contexts, machines), **merged}


def _machine(context: dict[str, Any]) -> dict[str, Any]:
    own = dict(context["dlbench"])
    rest = {key: value for key, value in context.items() if key != "dlbench"}
    return {**own, "context": rest}


def _context(contexts: list[dict[str, Any]], machines: dict[str, Any]) -> dict[str, Any]:
    """Readers of Google Benchmark's JSON look for the first one's keys; what is of one machine
    stands with that machine."""
    own = {
        "schema": contexts[0]["dlbench"]["schema"],
        "version": _core.version,
        "wall_s": sum(context["dlbench"]["wall_s"] for context in contexts),
        "machine": {},
        "environments": {},
        "machines": machines,
    }
    return {**contexts[0], "host_name": ", ".join(machines), "dlbench": own}


def _entry(entry: dict[str, Any], machine: str) -> dict[str, Any]:
    named = f"{entry['name']}/machine:{machine}"
    made = {**entry, "name": named, "machine": machine}
    return made | {"run_name": named} if "run_name" in entry else made


def write(document: Document, path: Path) -> None:
    """The document under this path, whole or not at all, an entry a line."""

    def fill(out: BinaryIO) -> None:
        text = '{"context": ' + json.dumps(document["context"], allow_nan=False, indent=1)
        out.write(text.encode())
        for key in documents.LISTS:
            entries = ",\n".join(json.dumps(e, allow_nan=False) for e in document[key])
            out.write(f',\n"{key}": [\n{entries}]'.encode())
        out.write(b"}\n")
        out.flush()
        _core.validate_document(out.name)

    try:
        writing.write(path, fill)
    except OSError as error:
        raise BadInput(os_line(path, error)) from error
