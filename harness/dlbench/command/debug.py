"""`dlbench debug`: runs one cell in the foreground without a deadline, for a debugger."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from dlbench import worker_requests
from dlbench.document import Entry, Measured
from dlbench.libraries.discover import Catalogue
from dlbench.supervisor import END, WORKER

ROUNDS = 6


def requests(entry: Entry, found: Catalogue) -> list[dict[str, Any]]:
    """The request of a run to a worker for this cell alone."""
    clock = entry.clock
    iterations = max(entry.iterations, 1) if isinstance(entry, Measured) else 1
    one_round = {"do": "round", "id": 0, "clock": clock, "iterations": iterations, "prelude": 16}
    prepare = worker_requests.prepare(entry)
    return [*worker_requests.load_pair(entry, found), prepare, *[one_round] * ROUNDS, END]


def write(requests: list[dict[str, Any]]) -> Path:
    """A file of request lines. It is not deleted, because the printed gdb command names it."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="dlbench-debug-", suffix=".jsonl", delete=False, encoding="utf-8"
    ) as file:
        file.writelines(json.dumps(line) + "\n" for line in requests)
    return Path(file.name)


def command(path: Path, python: str = sys.executable) -> list[str]:
    return [python, str(WORKER), "--requests", str(path)]


def debugger_line(path: Path, python: str = sys.executable) -> str:
    return f"gdb --args {shlex.join(command(path, python))}"
