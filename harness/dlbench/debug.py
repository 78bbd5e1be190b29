"""`dlbench debug`: one cell in the foreground, without a deadline, fit for a debugger."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from dlbench import _core, values
from dlbench import document as documents
from dlbench.asking import WORKER
from dlbench.discover import Catalogue, adapter
from dlbench.environments.environment import DEFAULT
from dlbench.values import Entry

ROUNDS = 6
ROUND_NS = 2e6


def load(role: str, library: str, path: str) -> dict[str, Any]:
    """The request that runs one adapter file."""
    return {"do": "load", "role": role, "library": library, "path": path}


def loading(entry: Entry, found: Catalogue) -> list[dict[str, Any]]:
    """The requests that run the files of both libraries. Raises BadInput where one is not here."""
    for role in ("producer", "consumer"):
        adapter(found, role, entry[role])
    names = values.import_order(entry)
    roles = {name: found.roles(name) for name in names}
    # Either file of a library may define `ready`, and some pairs can be imported in one order only.
    return [
        load(role, name, str(roles[name][role].path))
        for name in names
        for role in ("producer", "consumer")
        if role in roles[name]
    ]


def preparing(entry: Entry, round_ns: float = ROUND_NS) -> dict[str, Any]:
    """The request that prepares a cell's exchange under the number 0."""
    known = {axis: entry[axis] for axis in documents.EXCHANGE if axis in entry}
    return {
        "do": "prepare",
        "id": 0,
        "exchange": {"environment": DEFAULT, **known},
        "clocks": [entry.get("clock", "call")],
        "round_ns": round_ns,
        "case": _core.case(entry["case"]),
    }


def requests(entry: Entry, found: Catalogue) -> list[dict[str, Any]]:
    """What the fleet would ask a worker for this cell alone."""
    clock = entry.get("clock", "call")
    iterations = max(int(entry.get("iterations", 0)), 1)
    one_round = {"do": "round", "id": 0, "clock": clock, "iterations": iterations, "prelude": 16}
    return [*loading(entry, found), preparing(entry), *[one_round] * ROUNDS, {"do": "end"}]


def write(asked: list[dict[str, Any]]) -> Path:
    """A file of request lines. It stays: the debugger's line names it."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="dlbench-debug-", suffix=".jsonl", delete=False, encoding="utf-8"
    ) as file:
        file.writelines(json.dumps(line) + "\n" for line in asked)
    return Path(file.name)


def command(path: Path, python: str = sys.executable) -> list[str]:
    return [python, str(WORKER), "--requests", str(path)]


def debugger_line(path: Path, python: str = sys.executable) -> str:
    return f"gdb --args {shlex.join(command(path, python))}"
