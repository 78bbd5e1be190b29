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
ROUND_NS = 1e6


def requests(entry: Entry, found: Catalogue) -> list[dict[str, Any]]:
    """What the fleet would ask a worker for this cell alone."""
    lines: list[dict[str, Any]] = [
        {
            "do": "load",
            "role": role,
            "library": entry[role],
            "path": str(adapter(found, role, entry[role]).path),
        }
        # In the order of the fleet: some pairs can be imported in one order only.
        for role in sorted(("producer", "consumer"), key=lambda role: str(entry[role]))
    ]
    axes = ("environment", "producer", "consumer", "protocol", "device", "case", "bytes")
    clock = entry.get("clock", "call")
    lines.append(
        {
            "do": "prepare",
            "id": 0,
            "exchange": {"environment": "default", **{a: entry[a] for a in axes if a in entry}},
            "clocks": [clock],
            "round_ns": ROUND_NS,
            "case": _core.case(entry["case"]),
        }
    )
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


def command(path: Path) -> list[str]:
    return [sys.executable, str(WORKER), "--requests", str(path)]


def debugger_line(path: Path) -> str:
    return f"gdb --args {shlex.join(command(path))}"
