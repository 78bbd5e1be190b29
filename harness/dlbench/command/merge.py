"""`dlbench merge RUN RUN...`: one document of several machines, each row knowing its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import click

from dlbench import _core
from dlbench.document import Context, Document, Entry, locate, parse_document, read_document
from dlbench.errors import BadInput, os_line
from dlbench.running import rundir, writing
from dlbench.text import output

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN RUN ...")
@click.option("--out", metavar="DIR", required=True, help="Folder of the merged run, new or empty.")
def merge(runs: tuple[str, ...], out: str) -> None:
    """Merge the runs of several machines into one run.

    RUN is a run, or NAME=RUN; the default name is the host's name.
    """
    if len(runs) < 2:
        raise BadInput("merge needs at least two runs: dlbench merge RUN RUN --out DIR")
    parts = [part for run in runs for part in _parts(run)]
    merged = of_parts(parts)
    path = rundir.fresh(out) / "results.json"
    write(merged, path)
    output.say(path)


def _parts(text: str) -> Iterator[tuple[str, Document]]:
    """Machines' names with their documents; several where the run was merged before."""
    name, equals, run = text.partition("=")
    named = bool(equals) and NAME.fullmatch(name) is not None and not Path(text).exists()
    document = read_document(locate(run if named else text))
    if document.is_of_checks:
        raise BadInput(f"{text} is of 'dlbench check', which has no rows to merge")
    if document.machines:
        if named:
            raise BadInput(f"{run} is of several machines, which have names: leave out {name}=")
        yield from document.by_machine()
        return
    yield (name if named else _fit(document.context.host_name, text)), document


def _fit(host: str, run: str) -> str:
    """A host's name as a machine's."""
    name = re.sub(r"[^A-Za-z0-9_.+-]", "-", host).lstrip(".+-")
    if not name:
        raise BadInput(f"{run} does not name its host: set one, as NAME={run}")
    return name


def of_parts(parts: Iterable[tuple[str, Document]]) -> Document:
    """One document. Raises BadInput where two machines have one name."""
    documents: dict[str, Document] = {}
    for name, document in parts:
        if name in documents:
            raise BadInput(f"two machines are called {name!r}: name the runs, as NAME=RUN")
        documents[name] = document
    measured = [_entry(e, name) for name, of in documents.items() for e in of.measured]
    others = [_entry(e, name) for name, of in documents.items() for e in of.not_measured]
    return parse_document(
        {
            "context": _context(documents),
            "benchmarks": sorted(measured, key=lambda entry: str(entry["name"])),
            "not_measured": sorted(others, key=lambda entry: str(entry["name"])),
        }
    )


def _machine(context: Context) -> dict[str, object]:
    return {**context.run.to_json(), "context": context.to_json(without=("dlbench",))}


def _context(documents: dict[str, Document]) -> dict[str, object]:
    """Readers of Google Benchmark's JSON read the first run's keys; facts about one machine are
    stored with that machine.
    """
    first = next(iter(documents.values())).context
    own = {
        "schema": first.run.schema,
        "version": _core.version,
        "wall_s": sum(document.run.wall_s for document in documents.values()),
        "machine": {},
        "environments": {},
        "machines": {name: _machine(document.context) for name, document in documents.items()},
    }
    return {**first.to_json(), "host_name": ", ".join(documents), "dlbench": own}


def _entry(entry: Entry, machine: str) -> dict[str, object]:
    named = f"{entry.name}/machine:{machine}"
    made = {**entry.to_json(), "name": named, "machine": machine}
    return made | {"run_name": named} if entry.has("run_name") else made


def write(document: Document, path: Path) -> None:
    """The document under this path, whole or not at all, an entry a line."""

    def fill(out: BinaryIO) -> None:
        json_ = document.to_json()
        text = '{"context": ' + json.dumps(json_.pop("context"), allow_nan=False, indent=1)
        out.write(text.encode())
        for key, entries in json_.items():
            lines = ",\n".join(json.dumps(entry, allow_nan=False) for entry in entries)
            out.write(f',\n"{key}": [\n{lines}]'.encode())
        out.write(b"}\n")
        out.flush()
        _core.validate_document(out.name)

    try:
        writing.write(path, fill)
    except OSError as error:
        raise BadInput(os_line(path, error)) from error
