"""The table of `dlbench selftest`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dlbench.errors import BadInput
from dlbench.selftest import alike, calls, copies, delays, faults
from dlbench.selftest.row import Row, Setting, Trial
from dlbench.text.layout import columns
from dlbench.text.output import Console

#: Trials that compare times are repeated after a failure, because a busy machine can cause one. A
#: faulty instrument fails each time.
TIMED = ("delays", "alike")
ATTEMPTS = 3

TRIALS: Mapping[str, Trial] = {
    "faults": faults.trial,
    "delays": delays.trial,
    "copies": copies.trial,
    "alike": alike.trial,
    "calls": calls.trial,
}


def run_trials(
    chosen: tuple[str, ...], *, short: bool, times: int, seed: int, console: Console
) -> int:
    """Print each trial's rows as they come; the exit status: 1 where an instrument failed."""
    width = max(len(name) for name in TRIALS) + 2
    failed = 0
    with tempfile.TemporaryDirectory(prefix="dlbench-selftest-") as folder:
        for name in chosen or tuple(TRIALS):
            for row in _run_trial(name, Setting(Path(folder, name), short, times, seed)):
                failed += row.good is False
                for line in _lines(name, row, width):
                    console.print(line, soft_wrap=True)
    return 1 if failed else 0


def _run_trial(name: str, setting: Setting) -> list[Row]:
    """The rows of the first attempt without a failure, else of the last one; earlier failures are
    among the details."""
    before: list[str] = []
    rows: list[Row] = []
    for attempt in range(1, 1 + (ATTEMPTS if name in TIMED else 1)):
        folder = setting.folder / str(attempt)
        folder.mkdir(parents=True)
        seed = setting.seed + attempt - 1
        rows = _rows(TRIALS[name], replace(setting, folder=folder, seed=seed))
        failed = [row for row in rows if row.good is False]
        if not failed:
            break
        before += [f"attempt {attempt} failed: {row.found}" for row in failed]
    if not before:
        return rows
    first, *others = rows
    return [replace(first, details=(*first.details, *before)), *others]


def _rows(trial: Trial, setting: Setting) -> list[Row]:
    # A trial that cannot run has failed; the others continue.
    try:
        return trial(setting)
    except BadInput as error:
        return [Row("", str(error), False)]


def _lines(name: str, row: Row, width: int) -> list[str]:
    word = {True: "good", False: "FAILED", None: "not tested"}[row.good]
    first = columns([(f"{name:<{width}}", f"{word:<10}", f"{row.planted or name}: {row.found}")])
    return [*first, *(f"{'':<{width}}{detail}" for detail in row.details)]
