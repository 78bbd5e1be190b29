"""The record of a run: what a history needs of its document, at a tenth of the size.

A file of lines of JSON. A record is a line with the facts of the run, and a line for each cell; a
file may hold several records. A document that is read from a record has fewer keys.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.document.document import Document
from dlbench.document.entry import Entry, Measured, NotMeasured
from dlbench.document.keys import Check
from dlbench.errors import BadInput, os_reason
from dlbench.text.escaping import json_text, shortened

FORMAT = 1
MARK = "dlbench_record"  #: the first key of a record, with the number of its format
LONGEST_REASON = 240
LARGEST = 2**63 - 1  #: of whole numbers: what C++ and tables hold
#: Warnings that say what an exchange does; the others are of its measurement.
WARNINGS = ("arguments-copied", "import-order", "source-written")


@dataclass(frozen=True)
class Each:
    """An object with any keys, whose values have this shape."""

    shape: Any


TEXTS = Each(str)
#: The keys of a run that are kept.
CONTEXT = {
    "date": str,
    "host_name": str,
    "num_cpus": int,
    "dlbench": {
        "schema": int,
        "version": str,
        "command": [str],
        "wall_s": float,
        "seed": int,
        "run": str,
        "not_installed": TEXTS,
        "noise": {"other_processes": float, "too_busy": bool},
        "machine": {
            "cpu": str, "architecture": str, "cores": int, "memory_bytes": int, "kernel": str,
            "governor": str, "turbo": str, "virtual": bool,
            "devices": [{"name": str, "state": str, "units": [{"name": str}]}],
        },
        "environments": Each({
            "python": str, "gil": bool, "failure": str, "libraries": TEXTS,
            "floors_ns": Each(float), "reference_exchange": {"median_ns": float, "workers": int},
            "between_processes": [{"length_ns": float, "half_width": float, "series": int}],
        }),
    },
}  # fmt: skip
CHECK = {"library": str, "version": str, "rule": str, "role": str, "device": str, "level": str,
         "section": str, "outcome": str, "observed": str, "issue": str,
         "accepted": bool}  # fmt: skip
#: The keys of a cell that many cells have in common.
SHARED = {
    "phase": str, "clock": str, "device": str, "arrays": int, "environment": str,
    "imports": [str], "outcome": str, "found": str, "code": str, "data": TEXTS, "reason": str,
    "exception": str, "signal": str, "changed": [str], "writable": str, "copied_by": str,
    "late_read": bool, "evidence": TEXTS, "interval": str,
    "observed": {"used": str, "via": str, "struct": str, "version": [int], "flags": [str]},
    "warnings": [{"code": str, "text": str, "data": TEXTS}],
}  # fmt: skip
#: Values of these keys that are left out, as empty ones and proofs that were skipped are.
USUAL: Mapping[str, Any] = {
    "phase": "exchange", "clock": "call", "device": "cpu", "environment": "default", "arrays": 1,
    "observed": {"via": "direct"},
}  # fmt: skip
SKIPPED = "skipped"
#: The values of a line: its own axes, the number of the shared keys, the median with its interval,
#: the lowest round of each worker, then numbers that may be missing.
NUMBERS = {"instructions": float, "floor_ratio": float, "between_half_width": float,
           "gb_per_s": float, "below_ns": float}  # fmt: skip
COLUMNS = {"producer": str, "consumer": str, "protocol": str, "case": str, "bytes": int,
           "shared": int, "time_ns": [float], "lowest_ns": [float], **NUMBERS}  # fmt: skip
OWN = ("producer", "consumer", "protocol", "case", "bytes")
TIMES = ("real_time", "lo_ns", "hi_ns")
HEAD = {MARK: int, "machine": str, "columns": [str], "context": CONTEXT, "shared": [SHARED],
        "checks": [CHECK]}  # fmt: skip


def schema() -> dict[str, Any]:
    """The JSON Schema of a line of a record: the first has the facts of the run, others a cell."""
    columns = {key: _schema_of(shape) for key, shape in COLUMNS.items()}
    columns |= {key: {"anyOf": [columns[key], {"type": "null"}]} for key in NUMBERS}
    columns["time_ns"]["anyOf"] = [
        {"minItems": count, "maxItems": count} for count in (0, len(TIMES))
    ]
    head = _schema_of(HEAD) | {"required": list(HEAD)}
    head["properties"] |= {MARK: {"const": FORMAT}, "columns": {"const": list(COLUMNS)}}
    cell = {"type": "array", "prefixItems": [*columns.values()], "items": False,
            "minItems": len(OWN) + 1}  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of the record of a run of dlbench",
        "description": "Rules that a schema cannot express: integers are written without a point, "
        "and `shared` of a cell is the place of an item in the head's `shared`.",
        "oneOf": [head, cell],
    }


def _schema_of(shape: Any) -> dict[str, Any]:
    if isinstance(shape, list):
        return {"type": "array", "items": _schema_of(shape[0])}
    if isinstance(shape, Each):
        return {"type": "object", "additionalProperties": _schema_of(shape.shape)}
    if isinstance(shape, dict):
        known = {key: _schema_of(each) for key, each in shape.items()}
        return {"type": "object", "properties": known, "additionalProperties": False}
    number = {"type": "number", "minimum": -sys.float_info.max, "maximum": sys.float_info.max}
    plain: dict[Any, dict[str, Any]] = {
        str: {"type": "string"},
        bool: {"type": "boolean"},
        float: number,
    }
    return plain.get(shape, {"type": "integer", "minimum": 0, "maximum": LARGEST})


def text(document: Document) -> str:
    """The record of a document; of several machines, a record each."""
    lines: list[str] = []
    for machine, own in document.by_machine():
        lines += _lines(own, machine)
    return "".join(f"{line}\n" for line in lines)


def is_record(path: Path) -> bool:
    """Does the file begin as a record?"""
    try:
        with path.open("rb") as file:
            return file.read(len(MARK) + 3).startswith(f'{{"{MARK}"'.encode())
    except OSError:
        return False


def read(path: Path) -> list[Document]:
    """The documents of a file's records. Raises BadInput that names the line."""
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = os_reason(error) if isinstance(error, OSError) else "not UTF-8"
        raise BadInput(f"cannot read {path}: {why}") from error
    return parse(lines, str(path))


def parse(lines: Sequence[str], name: str) -> list[Document]:
    """The same from the lines of a file of that name."""
    found: list[_Reader] = []
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
            if isinstance(value, dict):
                found.append(_Reader(value))
            elif not found:
                raise ValueError("is no record of a run")
            else:
                found[-1].add(value)
        except (ValueError, RecursionError) as error:
            why = "is not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
            why = "is nested too deeply" if isinstance(error, RecursionError) else why
            raise BadInput(f"{name}, line {number}: {why}") from error
    if not found:
        raise BadInput(f"{name} is empty; expected the record of a run")
    return [reader.document() for reader in found]


def _lines(document: Document, machine: str) -> Iterator[str]:
    shared: dict[str, int] = {}
    rows = [_row(entry, shared) for entry in document.entries]
    head = {
        MARK: FORMAT,
        "machine": machine or document.context.run.machine_name,
        "columns": list(COLUMNS),
        "context": _kept(_portable(document), CONTEXT),
        "shared": [json.loads(one) for one in shared],
        "checks": [_kept(check.to_json(), CHECK) for check in document.checks],
    }
    yield from (json_text(value, separators=(",", ":")) for value in (head, *rows))


def _portable(document: Document) -> dict[str, Any]:
    """The context with the run's name; PYTHON replaces the interpreters' paths in its command."""
    made_of, run = document.context, document.run
    paths = [re.escape(each.executable) for each in run.environments.values() if each.executable]
    place = re.compile(rf"(?<==)({'|'.join(paths)})$")
    words = ["dlbench", *run.command[1:]] if run.command else []
    command = [place.sub("PYTHON", word) if paths else word for word in words]
    return {
        **made_of.to_json(),
        "dlbench": {**run.to_json(), "command": command, "run": made_of.run_id},
    }


def _row(entry: Entry, shared: dict[str, int]) -> list[object]:
    facts = _kept(entry.to_json(), SHARED)
    facts["warnings"] = [one for one in facts.get("warnings", ()) if one["code"] in WARNINGS]
    if "reason" in facts:
        facts["reason"] = shortened(" ".join(facts["reason"].split()), LONGEST_REASON)
    if isinstance(entry, Measured):
        facts["imports"] = []  # their order matters where the pair fails
    number = shared.setdefault(json.dumps(_unusual(facts, USUAL)), len(shared))
    times = [entry.median_ns, entry.lo_ns, entry.hi_ns] if isinstance(entry, Measured) else []
    workers = entry.workers if isinstance(entry, Measured) else []
    lowest = [min(worker.samples_ns) for worker in workers if worker.samples_ns]
    row: list[object] = [*entry.axes(OWN), number, [*map(_short, times)], [*map(_short, lowest)]]
    row += [_short(getattr(entry, key, 0) or 0) or None for key in NUMBERS]
    while len(row) > len(OWN) + 1 and not row[-1]:
        row.pop()
    return row


def _unusual(facts: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Without what a reader assumes."""
    made = {}
    for key, value in facts.items():
        if isinstance(value, dict):
            value = _unusual(value, USUAL.get(key) or {})
        is_empty = not value and type(value) is not int  # 0 is a number of arrays
        if not is_empty and value not in (usual.get(key), SKIPPED):
            made[key] = value
    return made


def _short(value: float) -> float:
    """With four digits; whole numbers keep theirs."""
    short = value if value >= 1000 else float(f"{value:.4g}")
    return round(short) if short >= 1000 or short == round(short) else short


def _kept(value: Any, shape: Any) -> Any:
    """The part of a JSON value that has this shape."""
    if isinstance(shape, list):
        return [_kept(each, shape[0]) for each in value]
    if isinstance(shape, Each):
        return {key: _kept(each, shape.shape) for key, each in value.items()}
    if isinstance(shape, dict):
        known = ((key, value.get(key)) for key in shape)
        return {key: _kept(each, shape[key]) for key, each in known if each is not None}
    return _short(value) if shape is float else value


def _require(value: Any, shape: Any, place: str) -> None:
    """Raises ValueError that names the place where the value has another shape."""
    kind: Any = type(shape) if isinstance(shape, (list, dict)) else shape
    kind = dict if isinstance(shape, Each) else kind
    is_valid = type(value) is kind and (type(value) is not int or 0 <= value <= LARGEST)
    if kind is float:
        is_valid = type(value) in (int, float) and abs(value) <= sys.float_info.max
    if not is_valid:
        words = {float: "a finite number", int: "a whole number from 0 to 2^63 - 1", str: "a text",
                 bool: "true or false", list: "a list", dict: "an object"}  # fmt: skip
        raise ValueError(f"{place} is not {words[kind]}")
    if isinstance(shape, list):
        for each in value:
            _require(each, shape[0], f"an item of {place}")
    elif isinstance(shape, (dict, Each)):
        for key, each in value.items():
            if isinstance(shape, dict) and key not in shape:
                raise ValueError(f"{place} has the unknown key {key!r}")
            of = shape.shape if isinstance(shape, Each) else shape[key]
            _require(each, of, f"{key!r} of {place}")


class _Reader:
    """Reads a record line by line. Its methods raise ValueError."""

    def __init__(self, head: dict[str, Any]) -> None:
        if MARK not in head:
            raise ValueError("is no record of a run")
        if head[MARK] != FORMAT:
            raise ValueError(f"is a record of format {head[MARK]!r}; this dlbench reads {FORMAT}")
        _require(head, HEAD, "the record")
        missing = [key for key in HEAD if key not in head]
        if missing or head["columns"] != list(COLUMNS):
            raise ValueError(f"has no {missing[0]!r}" if missing else "has other columns")
        self._head = head
        self._measured: list[Measured] = []
        self._not_measured: list[NotMeasured] = []

    def add(self, row: Any) -> None:
        """Adds the cell of a line."""
        if not isinstance(row, list) or not len(OWN) < len(row) <= len(COLUMNS):
            raise ValueError(f"is no list of {len(OWN) + 1} to {len(COLUMNS)} values")
        values = dict(zip(COLUMNS, row, strict=False))
        for key, value in values.items():
            if value is not None or key not in NUMBERS:
                _require(value, COLUMNS[key], f"{key!r}")
        if values["shared"] >= len(self._head["shared"]):
            raise ValueError(f"'shared' is beyond {len(self._head['shared']) - 1}")
        made: dict[str, Any] = {k: v for k, v in USUAL.items() if isinstance(v, str)}
        made |= self._head["shared"][values["shared"]]
        made |= {key: values[key] for key in OWN}
        made |= {key: values[key] for key in NUMBERS if values.get(key) is not None}
        times = values.get("time_ns", [])
        if len(times) not in (0, len(TIMES)):
            raise ValueError(f"'time_ns' is not {len(TIMES)} numbers")
        made |= zip(TIMES, times, strict=False)
        made["name"] = _core.cell_name(made)
        if times:
            lowest = values.get("lowest_ns", [])
            made["workers"] = [{"median_ns": ns, "samples_ns": [ns]} for ns in lowest]
            self._measured.append(Measured(made))
        else:
            self._not_measured.append(NotMeasured(made))

    def document(self) -> Document:
        head = self._head
        context = {"dlbench": {}, **head["context"]}
        context["dlbench"] = {**context["dlbench"], "machine_name": head["machine"]}
        checks = [Check(check) for check in head["checks"]]
        return Document(context, self._measured, self._not_measured, checks or None)


def as_record(document: Document, name: str) -> list[Document]:
    """The documents that are read from the record of a document: those of each machine."""
    return parse(text(document).splitlines(), name)
