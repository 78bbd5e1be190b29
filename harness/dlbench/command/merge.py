"""`dlbench merge RUN RUN...`: one document of several runs. Shards of a run become that run; runs
of several machines become one document in which each row names its machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import click

from dlbench import _core, writing
from dlbench.command import archives, shards
from dlbench.document import MACHINE_NAME, Context, Document, locate, on_machine, read_document
from dlbench.document.record import Record
from dlbench.errors import BadInput, os_line
from dlbench.running import rundir
from dlbench.text import output

FEW_RUNS = "merge needs at least two runs: dlbench merge RUN RUN --out DIR"
INCOMPLETE = 3  #: exit status where a shard is missing, or did not end
LISTS = ("benchmarks", "not_measured", "checks")


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN RUN ...")
@click.option(
    "--out", metavar="DIR", required=True, help="Write the merged run to this folder, new or empty."
)
def merge(runs: tuple[str, ...], out: str) -> int:
    """Merge the shards of a run, or the runs of several machines, into one run.

    RUN is a run, an archive of runs (.zip, .tar, .tar.gz), or NAME=RUN; the default name is the
    host's name. Shards (--shard) without a name, or with the same one, become the run that they are
    parts of; with names, they become a run for each machine. Documents of `dlbench check` are
    merged likewise. The exit code is 3 if a shard is missing, or did not end.
    """
    if not runs:
        raise BadInput(FEW_RUNS)
    merged = of_runs(runs)
    has_archive = any(archives.is_archive(Path(run.rpartition("=")[2])) for run in runs)
    if len(runs) < 2 and not has_archive and not merged.is_incomplete:
        raise BadInput(FEW_RUNS)
    path = rundir.fresh(out) / "results.json"
    merged.write(path)
    output.print_line(path)
    for remark in merged.remarks:
        output.print_error(f"dlbench: {remark}")
    if merged.is_incomplete:
        output.print_error(
            f"dlbench: {out} is incomplete: measure what is missing, and merge again"
        )
        return INCOMPLETE
    return 0


@dataclass
class Merged:
    """The merged run. Entries are kept as lines of JSON: as objects, those of many machines would
    not fit in memory."""

    context: dict[str, object]
    lines: dict[str, list[tuple[str, bytes]]]  #: (name, entry) of each list of the document
    remarks: list[str] = field(default_factory=list)
    is_incomplete: bool = False  #: is a shard missing, or interrupted?
    left_out: list[str] = field(default_factory=list)  #: a line for each machine that does not fit

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


def of_machines(machines: Iterable[tuple[str, Sequence[tuple[str, Document]]]]) -> Merged:
    """Merges machines: each name has a run or its shards, with their names in messages. The
    documents of one machine at a time are in memory. Raises BadInput if no machine fits."""
    read, left_out = _Reader(), list[str]()
    for name, parts in machines:
        try:
            for word, document in parts:
                read.add_document(name, word, document)
            read.join_shards()
        except BadInput as error:
            read.drop_shards()
            left_out.append(f"{name} is not merged: {error}")
    if not read.has_machines():
        raise BadInput("; ".join(left_out))
    merged = read.merged()
    merged.left_out = left_out
    return merged


class _Reader:
    """Reads one document after another, and keeps the parts that the merged document needs."""

    def __init__(self) -> None:
        self._contexts: dict[str, Context] = {}
        self._words: dict[str, str] = {}  #: by machine: its run's name on the command line
        self._lines: dict[str, list[tuple[str, bytes]]] = {key: [] for key in LISTS}
        self._has_checks = False
        #: by machine; an empty name for a run without one
        self._shards: dict[str, list[tuple[str, Document]]] = {}
        self._remarks: list[str] = []
        self._is_incomplete = False

    def add(self, text: str) -> None:
        """RUN or NAME=RUN."""
        name, equals, run = text.partition("=")
        named = (
            bool(equals) and MACHINE_NAME.fullmatch(name) is not None and not Path(text).exists()
        )
        run = run if named else text
        for word, document in _documents(run, text):
            if document.machines and named:
                raise BadInput(f"{run} is of several machines, which have names: leave out {name}=")
            for machine, own in document.by_machine():
                self.add_document(machine or (name if named else ""), word, own)

    def add_document(self, name: str, word: str, document: Document) -> None:
        """Adds a document of one machine. Without a name it gets its host's name."""
        if document.run.shard.missing:
            self._shards.setdefault(name, []).append((word, document))
        else:
            self.add_machine(name or _fit(document.context.host_name, word), word, document)

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
        for word, document in self._shards.get("", ())[:1]:
            self._require_no_whole(word, document)
        if len(self._shards) == 1 and not self._contexts:
            _, joined = self._joined(*self._shards.popitem())
            return _of_single(joined, self._remarks, self._is_incomplete)
        self.join_shards()
        self._remarks += _differences(self._contexts)
        lines = {key: of for key, of in self._lines.items() if key != "checks" or self._has_checks}
        return Merged(_context(self._contexts), lines, self._remarks, self._is_incomplete)

    def join_shards(self) -> None:
        """Makes a machine of the shards of each name."""
        for name, parts in self._shards.items():
            called, joined = self._joined(name, parts)
            self.add_machine(called, parts[0][0], joined)
        self._shards.clear()

    def has_machines(self) -> bool:
        return bool(self._contexts)

    def drop_shards(self) -> None:
        """Forgets shards that are not joined."""
        self._shards.clear()

    def _joined(self, name: str, parts: Sequence[tuple[str, Document]]) -> tuple[str, Document]:
        """The name and the run of the machine that has these shards."""
        called = name or _fit(parts[0][1].context.host_name, parts[0][0])
        joined, remarks = shards.join(called, parts)
        self._remarks += remarks
        ended = all(document.run.did_end for _, document in parts)
        self._is_incomplete |= bool(joined.run.shard.missing) or not ended
        return called, joined

    def _require_no_whole(self, word: str, shard: Document) -> None:
        """Without names, a run and its shard would count cells twice if their hosts differ."""
        plan = shard.run.shard.plan
        for name, context in self._contexts.items():
            if plan and plan in (context.run.fingerprint, context.run.shard.plan):
                raise BadInput(
                    f"{self._words[name]} is the whole run of which {word} is a shard: leave out "
                    "one of them, or name the machines, as NAME=RUN"
                )


def _differences(contexts: Mapping[str, Context]) -> Iterator[str]:
    """Differences that make the times incomparable, or leave cells without a counterpart."""
    if len({context.run.version for context in contexts.values()}) > 1:
        versions = ", ".join(f"{name}: {each.run.version}" for name, each in contexts.items())
        yield f"the machines ran different versions of dlbench: {versions}"
    requests = [each.run.request.to_json(shards.MAY_DIFFER) for each in contexts.values()]
    requests = [request for request in requests if request]  # `dlbench check` has none
    names = sorted({name for request in requests for name in request})
    differ = [name for name in names if len({str(each.get(name) or "") for each in requests}) > 1]
    if differ:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in differ)
        yield f"the machines were measured with different options: {options}"


def _documents(run: str, text: str) -> Iterator[tuple[str, Document]]:
    """A run, or all runs of an archive, each with its name in messages; that of a run is `text`."""
    if archives.is_archive(Path(run)):
        yield from archives.documents(Path(run))
    else:
        yield text, read_document(locate(run))


def _of_single(document: Document, remarks: list[str], is_incomplete: bool) -> Merged:
    lines = {
        key: [(str(entry["name"]), json.dumps(entry, allow_nan=False).encode()) for entry in of]
        for key, of in document.to_json().items()
        if key != "context"
    }
    return Merged(document.context.to_json(), lines, remarks, is_incomplete)


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
