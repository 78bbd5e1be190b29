"""No decision depends on the text of a reason or a warning: random texts replace them."""

from __future__ import annotations

import ast
import json
import random
import shutil
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import queued
import whole
from dlbench import findings
from dlbench.analysis import case_sweep
from dlbench.document import CodedWarning, Document, NotMeasured, codes, read_document
from dlbench.libraries import discover
from dlbench.plots.report import run as report
from dlbench.running import comparing
from dlbench.scripts import exchange
from dlbench.text.grouping import grouped

pytestmark = pytest.mark.process

#: The keys of a document whose values are for people.
WORDS = ("text", "reason", "failure", "race", "stderr_tail")
WRITTEN = codes.SOURCE_WRITTEN
#: A copy and a late write, a race, an import that fails, one that is refused, and good pairs.
PRODUCERS = "numpy,faulty:silent-copy,faulty:copy-back,queued:careless,broken,picky"
ADAPTERS = {
    "producers/queued.py": queued.QUEUED,
    "producers/broken.py": "import no_such_module\n" + whole.GOOD_MAKE,
    "producers/picky.py": whole.GOOD_MAKE.replace(
        "return", "\n    if case.dtype.itemsize == 2: raise ValueError('no')\n    return"
    ),
    "consumers/plain.py": queued.PLAIN,
}


def replaced(value: Any, make: Callable[[], str]) -> Any:
    """The same with each text for people replaced by another one."""
    if isinstance(value, list):
        return [replaced(part, make) for part in value]
    if not isinstance(value, dict):
        return value
    made = dict(value)
    for key, part in value.items():
        if key in WORDS and isinstance(part, str):
            made[key] = make()
        elif key != "data":
            made[key] = replaced(part, make)
    return made


def noise(letters: random.Random) -> Callable[[], str]:
    return lambda: "".join(letters.choices(string.ascii_letters, k=40))


def first_key(line: str) -> str:
    return str(next(iter(json.loads(line))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with faults under `plain`, and under `noisy` one that goes on from its journal with
    noise in it; of each a second one under `2` in which half of the cells take twice as long."""
    made = tmp_path_factory.mktemp("texts")
    for name, text in ADAPTERS.items():
        (made / "own" / name).parent.mkdir(parents=True, exist_ok=True)
        (made / "own" / name).write_text(text)
    words = ["--adapters", "own", "--producers", PRODUCERS, "--consumers", "plain", "--sync"]
    words += ["--protocols", "dlpack,buffer", "--sizes", "64KiB"]
    words += ["--cases", "f32,f16,f64,f32-strided,f32-view,f32-readonly"]
    words += ["--count", "instructions", "--replicas", "1", "--out", "plain"]
    quiet = ("--no-plots", "--quiet")
    done = whole.run(made, "--matrix", *words, *quiet)
    assert done[0] == 0, done[2]
    shutil.copytree(made / "plain", made / "noisy")
    journal, make = made / "noisy/journal.jsonl", noise(random.Random(1))
    head, *lines = journal.read_text().splitlines()
    message = [json.dumps(replaced(json.loads(line), make)) for line in lines]
    journal.write_text("\n".join([head, *message]) + "\n")
    for name in ("plain", "noisy"):
        before = len((made / name / "journal.jsonl").read_text().splitlines())
        done = whole.run(made, "--resume", name, "--adapters", "own", *quiet)
        assert done[0] == 0, done[2]
        after = (made / name / "journal.jsonl").read_text().splitlines()[before:]
        assert {*map(first_key, after)} == {"end"}, "all was recorded"
        document = whole.document(made, name)
        if name == "noisy":
            document = replaced(document, make)
            (made / name / "results.json").write_text(json.dumps(document))
        for entry in document["benchmarks"][::2]:
            for key in ("real_time", "lo_ns", "hi_ns"):
                entry[key] *= 2
            for worker in entry["workers"]:
                worker["median_ns"] *= 2
                worker["samples_ns"] = [2 * ns for ns in worker["samples_ns"]]
        (made / f"{name}2").mkdir()
        (made / f"{name}2/results.json").write_text(json.dumps(document))
    return made


def decided(folder: Path, name: str) -> dict[str, Any]:
    """All that is decided of a run, without its texts."""
    document = read_document(folder / name / "results.json")
    found = discover.catalogue(str(folder / "own"))
    index = report._index(document)
    compared = comparing.compare(folder / name / "results.json", folder / f"{name}2/results.json")
    return {
        "cells": [(entry.name, entry.outcome, entry.code) for entry in document.entries],
        "sync": [[(one.waits, one.code) for one in each.sync] for each in document.entries],
        "causes": [
            [entry.name for entry in alike]
            for alike in grouped(document.not_measured, lambda entry: entry.cause).values()
        ],
        "findings": [(one.label, one.command) for one in findings.find(document, "RUN", 99)],
        "sweep": list(case_sweep.fallbacks(case_sweep.case_sweeps(document.entries))),
        "scripts": [ast.dump(ast.parse(script)) for script in scripts(document, found)],
        "compared": [(cell.name, cell.verdict, cell.outcome_change) for cell in compared.cells],
        "warned": [warning.code for warning in compared.warnings],
        "report": replaced({**index, "reasons": None}, str),
    }


def scripts(document: Document, found: discover.Catalogue) -> Iterator[str]:
    for entry in document.exchanges:
        skipped = entry.code in ("import-failed", "not-imported")
        if entry.case == case_sweep.BASELINE and not skipped:
            yield exchange.of_run(document, entry, found)


def test_the_run_has_what_is_decided_by(folder: Path) -> None:
    document = read_document(folder / "plain/results.json")
    assert {"copy", "race", "import-failed", "unsupported"} <= {
        entry.outcome for entry in document.entries
    }
    warned = {warning.code for entry in document.entries for warning in entry.warnings}
    assert {codes.SOURCE_WRITTEN, "copy-without-flag"} <= warned
    labels = {label for label, _ in decided(folder, "plain")["findings"]}
    assert {"copies", "writes", "race", "import-failed", "unsupported"} <= labels
    plain = (folder / "plain/results.json").read_text()
    assert "no_such_module" in plain
    assert "no_such_module" not in (folder / "noisy/results.json").read_text()


def test_noise_for_texts_changes_no_decision(folder: Path) -> None:
    plain, other = decided(folder, "plain"), decided(folder, "noisy")
    for what, value in plain.items():
        assert other[what] == value, what


@pytest.mark.parametrize(
    "words",
    [
        ("show", "{}"),
        ("show", "{}", "numpy", "plain"),
        ("repro", "{}", "queued:careless", "plain", "dlpack", "--adapters", "own"),
        ("compare", "{}", "{}2", "--fail-on", "slow"),
        ("compare", "{}", "{}", "--fail-on", "slow,outcome,lost"),
        ("--resume", "{}", "--adapters", "own", "--no-plots", "--quiet"),
    ],
)
def test_noise_for_texts_changes_no_exit_code(folder: Path, words: tuple[str, ...]) -> None:
    status, *_ = whole.run(folder, *(word.format("plain") for word in words))
    assert whole.run(folder, *(word.format("noisy") for word in words))[0] == status


@pytest.mark.parametrize(
    ("kind", "name", "by_text"),
    [
        (NotMeasured, "cause", property(lambda entry: (entry.outcome, entry.reason[:30]))),
        (CodedWarning, "code", property(lambda one: one.text.find(" wrote into ") > 0 and WRITTEN)),
    ],
)
def test_a_decision_by_a_text_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: type, name: str, by_text: property
) -> None:
    monkeypatch.setattr(kind, name, by_text)
    assert decided(folder, "plain") != decided(folder, "noisy")
