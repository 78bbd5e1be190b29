"""Finds and reads a run's results document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dlbench import _core, values
from dlbench.environments.environment import DEFAULT
from dlbench.errors import BadInput, first_line, os_reason
from dlbench.values import Entry, is_measured

RESULTS = Path("dlbench-results")
LATEST = "latest"
PROFILE = "profile.json"  #: what `--profile` leaves in place of a document
LISTS = ("benchmarks", "not_measured")
#: What an exchange is told by: all of a cell but phase and clock.
EXCHANGE = ("environment", "producer", "consumer", "protocol", "device", "case", "bytes")
#: All of a cell but its size.
AXES = ("phase", "clock", *EXCHANGE[:-1])


def locate(run: str) -> Path:
    """RUN -> its results.json. RUN is a directory, a results.json, or `latest`.

    A run that was killed left a journal alone; its document is written here.
    """
    path = RESULTS / LATEST if run == LATEST else Path(run)
    if path.is_file():
        return path
    if not path.is_dir():
        if path.is_symlink():
            raise BadInput(f"no run {run!r}: {path} leads to {path.readlink()}, which is not there")
        asked = f"no run {run!r}" if run != LATEST else f"no {path}: nothing was run here yet"
        raise BadInput(asked)
    document, journal = path / "results.json", path / "journal.jsonl"
    if (path / PROFILE).is_file() and not journal.is_file():
        raise BadInput(f"{run!r} is a profile, which has no times: see {path / PROFILE}")
    if journal.is_file() and (
        not document.is_file() or document.stat().st_mtime_ns < journal.stat().st_mtime_ns
    ):
        return Path(_core.write_document(str(path)))
    if not document.is_file():
        raise BadInput(f"{run!r} holds neither results.json nor journal.jsonl")
    return document


def load(path: Path) -> dict[str, Any]:
    """The document. Raises BadInput or _core.UsageError for what is no results document."""
    return read(path, _core.validate_document)


def read(path: Path, validate: Callable[[str], None]) -> dict[str, Any]:
    """What the file holds, where `validate` lets it pass. Raises BadInput or _core.UsageError,
    which name the file and the place in it: no caller sees a value that was not checked."""
    try:
        if path.stat().st_size > _core.most_document_bytes:
            validate(str(path))  # refused before it is in memory
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = os_reason(error) if isinstance(error, OSError) else "not UTF-8"
        raise BadInput(f"cannot read {path}: {why}") from error
    # Checking takes as long as reading, and lets other threads run.
    with ThreadPoolExecutor(1) as pool:
        checked = pool.submit(validate, str(path))
        try:
            document: dict[str, Any] = json.loads(text)
        except (ValueError, RecursionError) as error:
            checked.result()
            raise BadInput(f"cannot read {path}: {first_line(error)}") from error
        checked.result()
    return document


def entries(document: dict[str, Any]) -> Iterator[Entry]:
    """Every settled cell, measured or not."""
    yield from document.get("benchmarks", [])
    yield from document.get("not_measured", [])


def exchanges(entries: Iterable[Entry]) -> list[Entry]:
    """Each exchange once, though it has a cell for each phase and clock: by one that has a number,
    if any has, and by the clock `call`, if that was asked for."""
    found: dict[tuple[Any, ...], Entry] = {}
    for entry in entries:
        if entry.get("phase", "exchange") == "exchange":
            key = tuple(entry.get(axis) for axis in (*EXCHANGE, "machine"))
            found[key] = max(found.get(key, entry), entry, key=_tells_more)
    return list(found.values())


def _tells_more(entry: Entry) -> tuple[bool, bool]:
    return is_measured(entry), entry.get("clock", "call") == "call"


def differing(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Those of `device` and `case` that rows of these must name: not all have the same."""
    found = list(entries)
    return [axis for axis in ("device", "case") if len({entry[axis] for entry in found}) > 1]


def cell_name(entry: Entry) -> str:
    """The cell's name."""
    return str(entry["name"])


def exchange_name(cell: _core.Cell) -> str:
    """The name of a cell's whole exchange, by the clock `call`."""
    _, _, axes = cell.name.partition("/")
    return "exchange/" + axes.replace(f"/clock:{cell.clock}", "")


def about(document: dict[str, Any]) -> dict[str, Any]:
    """The document's `context.dlbench`."""
    found: dict[str, Any] = document["context"]["dlbench"]
    return found


def machines(document: dict[str, Any]) -> list[str]:
    """The names of the machines of a document that was merged; none in one of a single machine."""
    return sorted(about(document).get("machines", {}))


def part_of(document: dict[str, Any], machine: str) -> dict[str, Any]:
    """One machine's share of a merged document: its own context, and entries that name it still,
    so that commands find them in the merged one."""
    own = dict(about(document)["machines"][machine])
    context = {**own.pop("context"), "dlbench": own}
    lists = {
        key: sorted((e for e in document[key] if e["machine"] == machine), key=_own_name)
        for key in LISTS
    }
    return {"context": context, **lists}


def parts(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(machine, its share) each; of a single machine the document itself, under no name."""
    return [(name, part_of(document, name)) for name in machines(document)] or [("", document)]


def of_machine(document: dict[str, Any], machine: str) -> dict[str, Any]:
    """One machine's own document, as it was before it was merged."""
    part = part_of(document, machine)
    return part | {key: [_without_machine(entry) for entry in part[key]] for key in LISTS}


def _own_name(entry: Entry) -> str:
    """The cell's name before it was merged."""
    return cell_name(entry).partition("/machine:")[0]


def _without_machine(entry: Entry) -> Entry:
    named = _own_name(entry)
    made = {key: value for key, value in entry.items() if key != "machine"} | {"name": named}
    return made | {"run_name": named} if "run_name" in entry else made


def by_machine(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(machine, its document) each; of a single machine the document itself, under no name."""
    return [(name, of_machine(document, name)) for name in machines(document)] or [("", document)]


def copy_floors(document: dict[str, Any]) -> dict[str, dict[str, float]]:
    """GB/s of plain copies on this machine, `warm` and `fresh`, by environment."""
    told = environments(document).items()
    return {name: facts.get("copy_floors_gb_per_s", {}) for name, facts in told}


def between_processes(environment: Mapping[str, Any]) -> str:
    """By how much two processes differ there, and of which exchange that is known: "native ->
    native 61.0 ns, +-28 % between processes"; empty where no worker measured it."""
    anchor = environment.get("anchor", {})
    if not anchor.get("median_ns"):
        return ""
    text = f"native -> native {values.duration(anchor['median_ns'])}"
    width = anchor.get("half_width")
    return f"{text}, +-{values.percent(width)} between processes" if width is not None else text


def environments(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What is told of each environment, that of dlbench itself first."""
    found: dict[str, dict[str, Any]] = about(document).get("environments", {})
    return dict(sorted(found.items(), key=lambda item: environment_rank(item[0])))


def environment_rank(name: str) -> tuple[bool, str]:
    """Sorts environments: our own first."""
    return name != DEFAULT, name


def versions(document: dict[str, Any], environment: str) -> dict[str, str]:
    """Versions by library in one environment."""
    told: dict[str, str] = environments(document).get(environment, {}).get("libraries", {})
    return dict(sorted(told.items()))
