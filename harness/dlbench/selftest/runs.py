"""Runs dlbench as a user does."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

from dlbench import _core
from dlbench.document import CodedWarning, Entry, read_document
from dlbench.errors import BadInput, last_line

#: Warnings that a busy machine causes, whatever the library.
NOISE = (
    *("few-rounds", "bimodal", "drift", "migrated-core", "preempted", "slow-cpu"),
    *("phases-slow-cpu", "host-behind", "in-cache", "one-process", "near-floor"),
)


def run(folder: Path, name: str, words: Sequence[str], seed: int) -> list[Entry]:
    """All cells of a run of its own in `folder/name`. Raises BadInput where it did not end well."""
    out = folder / name
    command = [sys.executable, "-m", "dlbench", "--matrix", "--replicas", "1", "--isolate"]
    command += words
    command += ["--out", str(out), "--seed", str(seed), "--no-plots", "--quiet"]
    ended = _core.run_program(command, math.inf)
    document = out / "results.json"
    if ended.status != 0 or not document.exists():
        why = last_line(ended.err) or "no output"
        raise BadInput(f"selftest's own run {name} ended with {ended.status}: {why}")
    return read_document(document).entries


def run_of_one(folder: Path, name: str, words: Sequence[str], seed: int) -> Entry:
    """The only cell of a run with one cell."""
    (entry,) = run(folder, name, words, seed)
    return entry


def verdicts(entry: Entry) -> list[CodedWarning]:
    """The warnings of a cell except those of a busy machine."""
    return [warning for warning in entry.warnings if warning.code not in NOISE]
