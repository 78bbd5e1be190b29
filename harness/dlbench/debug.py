"""`dlbench debug`: one cell in the foreground, without a deadline, fit for a debugger."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.discover import Catalogue
from dlbench.repro import adapter
from dlbench.values import Entry

WORKER = Path(__file__).with_name("worker_main.py")
ROUNDS = 6
ROUND_NS = 2e6


def load(role: str, library: str, path: str) -> dict[str, Any]:
    """The request that runs one adapter file."""
    return {"do": "load", "role": role, "library": library, "path": path}


def preparing(entry: Entry) -> dict[str, Any]:
    """The request that prepares a cell's exchange under the number 0."""
    axes = ("environment", "producer", "consumer", "protocol", "device", "case", "bytes")
    return {
        "do": "prepare",
        "id": 0,
        "exchange": {"environment": "default", **{a: entry[a] for a in axes if a in entry}},
        "clocks": [entry.get("clock", "call")],
        "round_ns": ROUND_NS,
        "case": _core.case(entry["case"]),
    }


def requests(entry: Entry, found: Catalogue) -> list[dict[str, Any]]:
    """What the fleet would ask a worker for this cell alone."""
    for role in ("producer", "consumer"):
        adapter(found, role, entry[role])
    names = sorted({entry["producer"], entry["consumer"]})
    roles = {name: found.roles(name) for name in names}
    # Both files of both libraries, in the order of the fleet: either may define `ready`, and some
    # pairs can be imported in one order only.
    lines = [
        load(role, name, str(roles[name][role].path))
        for name in names
        for role in ("producer", "consumer")
        if role in roles[name]
    ]
    lines.append(preparing(entry))
    clock = entry.get("clock", "call")
    iterations = max(int(entry.get("iterations", 0)), 1)
    one_round = {"do": "round", "id": 0, "clock": clock, "iterations": iterations, "prelude": 16}
    return [*lines, *[one_round] * ROUNDS, {"do": "end"}]


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
