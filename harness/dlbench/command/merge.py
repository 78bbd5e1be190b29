"""`dlbench merge RUN RUN...`: one document of the runs of several machines, in which each row names
its machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import click

from dlbench import _core, writing
from dlbench.document import MACHINE_NAME, Context, Document, locate, on_machine, read_document
from dlbench.document.record import Record
from dlbench.errors import BadInput, os_line
from dlbench.running import rundir
from dlbench.text import output

FEW_RUNS = "merge needs at least two runs: dlbench merge RUN RUN --out DIR"
#: Options that may differ between machines without a warning, because they do not change the plan.
MAY_DIFFER = {"jobs", "adapters", "env"}
LISTS = ("benchmarks", "not_measured", "checks")


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN RUN ...")
@click.option(
    "--out", metavar="DIR", required=True, help="Write the merged run to this folder, new or empty."
)
def merge(runs: tuple[str, ...], out: str) -> int:
    """Merge the runs of several machines into one run.

    RUN is a run, or NAME=RUN, with a name for its machine; the default is the host's name.
    Documents of `dlbench check` are merged likewise.
    """
    if len(runs) < 2:
        raise BadInput(FEW_RUNS)
    merged = of_runs(runs)
    path = rundir.fresh(out) / "results.json"
    merged.write(path)
    output.print_line(path)
    for remark in merged.remarks:
        output.print_error(f"dlbench: {remark}")
    return 0


@dataclass
class Merged:
    """The merged run. Entries are kept as lines of JSON: as objects, those of many machines would
    not fit in memory."""

    context: dict[str, object]
    lines: dict[str, list[tuple[str, bytes]]]  #: (name, entry) of each list of the document
    remarks: list[str]

    def write(self, path: Path) -> None:
        """Writes the document atomically, one entry in each line."""

        def fill(out: BinaryIO) -> None:
            context = json.dumps(self.context, allow_nan=False, indent=1)
            out.write(f'{{"context": {context}'.encode())
            for key, entries in self.lines.items():
                out.write(f',\n"{key}": ['.encode())
                separator = b"\n"
                for _, line in sorted(entries):
                    out.write(separator + line)
                    separator = b",\n"
                out.write(b"]")
            out.write(b"}\n")
            out.flush()
            try:
                _core.validate_document(out.name)
            except _core.UsageError as error:
                raise BadInput(str(error).replace(out.name, str(path))) from error

        try:
            writing.write(path, fill)
        except OSError as error:
            raise BadInput(os_line(path, error)) from error


def of_runs(runs: Sequence[str]) -> Merged:
    """Merges the runs of the command line. Raises BadInput if they cannot be merged."""
    read = _Reader()
    for run in runs:
        read.add(run)
    return read.merged()


def of_machines(machines: Iterable[tuple[str, str, Document]]) -> Merged:
    """Merges a run of each machine: its name, the run's name in messages, and its document. One
    document at a time is in memory."""
    read = _Reader()
    for name, word, document in machines:
        read.add_machine(name, word, document)
    return read.merged()


class _Reader:
    """Reads one document after another, and keeps the parts that the merged document needs."""

    def __init__(self) -> None:
        self._contexts: dict[str, Context] = {}
        self._words: dict[str, str] = {}  #: by machine: its run's name on the command line
        self._lines: dict[str, list[tuple[str, bytes]]] = {key: [] for key in LISTS}
        self._has_checks = False

    def add(self, text: str) -> None:
        """RUN or NAME=RUN."""
        name, equals, run = text.partition("=")
        named = (
            bool(equals) and MACHINE_NAME.fullmatch(name) is not None and not Path(text).exists()
        )
        run = run if named else text
        document = read_document(locate(run))
        if document.machines and named:
            raise BadInput(f"{run} is of several machines, which have names: leave out {name}=")
        for machine, own in document.by_machine():
            given = machine or (name if named else "")
            self.add_machine(given or _fit(own.context.host_name, text), text, own)

    def add_machine(self, name: str, word: str, document: Document) -> None:
        if name in self._contexts:
            raise BadInput(
                f"two runs have the machine name {name!r}: name them as NAME=RUN "
                f"({self._words[name]} and {word})"
            )
        self._contexts[name], self._words[name] = document.context, word
        self._has_checks |= document.is_of_checks
        for key, records in zip(LISTS, document.lists, strict=True):
            self._lines[key] += (_line(record, name) for record in records)

    def merged(self) -> Merged:
        """The merged document."""
        lines = {key: of for key, of in self._lines.items() if key != "checks" or self._has_checks}
        return Merged(_context(self._contexts), lines, list(_differences(self._contexts)))


def _differences(contexts: Mapping[str, Context]) -> Iterator[str]:
    """Differences that make the times incomparable, or leave cells without a counterpart."""
    if len({context.run.version for context in contexts.values()}) > 1:
        versions = ", ".join(f"{name}: {each.run.version}" for name, each in contexts.items())
        yield f"the machines ran different versions of dlbench: {versions}"
    requests = [each.run.request.to_json(MAY_DIFFER) for each in contexts.values()]
    requests = [request for request in requests if request]  # `dlbench check` has none
    names = sorted({name for request in requests for name in request})
    differ = [name for name in names if len({str(each.get(name) or "") for each in requests}) > 1]
    if differ:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in differ)
        yield f"the machines were measured with different options: {options}"


def _fit(host: str, run: str) -> str:
    """A host's name as a machine's."""
    name = re.sub(r"[^A-Za-z0-9_.+-]", "-", host).lstrip(".+-")
    if not name:
        raise BadInput(f"{run} does not name its host: set one, as NAME={run}")
    return name


def _machine(context: Context) -> dict[str, object]:
    return {**context.run.to_json(), "context": context.to_json(without=("dlbench",))}


def _context(contexts: dict[str, Context]) -> dict[str, object]:
    """Readers of Google Benchmark's JSON read the first run's keys; facts about one machine are
    stored with that machine.
    """
    first = next(iter(contexts.values()))
    own = {
        "schema": first.run.schema,
        "version": _core.version,
        "wall_s": sum(context.run.wall_s for context in contexts.values()),
        "machine": {},
        "environments": {},
        "machines": {name: _machine(context) for name, context in contexts.items()},
    }
    return {**first.to_json(), "host_name": ", ".join(contexts), "dlbench": own}


def _line(record: Record, machine: str) -> tuple[str, bytes]:
    """The sort key and the JSON of an entry or check of that machine."""
    made = on_machine(record, machine)
    name = str(made.get("name") or f"{made['library']} {made['rule']} {machine}")
    return name, json.dumps(made, allow_nan=False).encode()
