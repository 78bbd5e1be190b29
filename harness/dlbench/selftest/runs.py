"""Runs of dlbench itself, as a user starts them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dlbench.errors import BadInput
from dlbench.values import Entry

#: What a busy machine makes a cell say; none of it is a verdict on a library.
NOISE = (
    *("few rounds", "bimodal", "drift", "migrated core", "preempted", "slow CPU"),
    *("host behind", "in cache", "one process", "near floor"),
)


def run(folder: Path, name: str, words: Sequence[str], seed: int) -> list[Entry]:
    """All cells of a run of its own in `folder/name`. Raises BadInput where it did not end well."""
    out = folder / name
    command = [sys.executable, "-m", "dlbench", "--matrix", *words, "--out", str(out)]
    command += ["--seed", str(seed), "--no-plots", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    document = out / "results.json"
    if done.returncode != 0 or not document.exists():
        last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise BadInput(f"selftest's own run {name} ended with {done.returncode}: {last[0]}")
    read: dict[str, Any] = json.loads(document.read_text(encoding="utf-8"))
    return [*read["benchmarks"], *read["not_measured"]]


def verdicts(entry: Entry) -> list[str]:
    """The warnings of a cell but for those of a busy machine."""
    return [text for text in entry.get("warnings", []) if not text.startswith(NOISE)]
