"""Synchronization: a library with a queue of threads and known behavior, and real queues."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import whole
from dlbench.sync import table
from queued import PLAIN, QUEUED
from typed import doc

pytestmark = [pytest.mark.process, pytest.mark.timing]

# What it reads, its own queue reads, behind the producer's work.
ORDERED = """
import time

def snapshot(array):
    time.sleep(0.25)
    return array.copy()
"""


# Arrays without a __dlpack__: a function of the library's exports them, and waits.
BY_FUNCTION = (
    QUEUED.replace("def __dlpack__(self", "def export(self").replace(
        "def __dlpack_device__", "def where"
    )
    + '\n\nEXPORTS = {"dlpack_legacy": Queued.export}\n'
)


def observe(
    folder: Path, producers: str, *words: str, consumer: str = PLAIN, producer: str = QUEUED
) -> dict[str, dict[str, Any]]:
    """Every cell of a run with --sync, by producer."""
    for role, text in (("producers", producer), ("consumers", consumer)):
        (folder / "own" / role).mkdir(parents=True, exist_ok=True)
        name = "queued.py" if role == "producers" else "plain.py"
        (folder / "own" / role / name).write_text(text, encoding="utf-8")
    where = ("--adapters", "own", "--producers", producers, "--consumers", "plain", "--sync")
    more = ("--protocols", "dlpack", "--sizes", "4KiB")
    document = whole.measure(folder, *where, *more, *words)
    return {
        entry["producer"].partition(":")[2]: dict(entry)
        for entry in [*document["benchmarks"], *document["not_measured"]]
        if entry.get("clock", "call") == "call" and entry["phase"] == "exchange"
    }


@pytest.fixture(scope="module")
def classified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("sync")
    producers = "queued:waiting,queued:careless,queued:lazy,numpy"
    return folder, observe(folder, producers, "--phases", "exchange,import")


def test_a_wait_of_the_host_is_found_in_the_export(
    classified: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    own, none, argument = classified[1]["waiting"]["sync"]
    assert (own["stream"], own["requested_by"], own["expected"]) == ("omitted", "consumer", "order")
    assert (none["stream"], none["requested_by"], none["waits"]) == (None, "dlbench", "host")
    assert (own["waits"], own["content"]) == ("host", "new")
    assert own["export_blocked"] > 0.7 > 0.3 > own["import_blocked"]
    assert own["transfer_ns"] > 0
    assert (argument["stream"], argument["requested_by"]) == (-1, "dlbench")
    assert argument["reason"] == "ValueError: no stream on the CPU"
    assert argument["code"] == "argument-refused"
    assert argument["data"] == {"exception": "ValueError"}
    assert "waits" not in argument


def test_a_library_that_reads_too_early_is_a_race_without_a_number(
    classified: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    for way, word in (("careless", "none"), ("lazy", "host-wrong")):
        entry = classified[1][way]
        assert entry["outcome"] == "race", way
        assert (entry["sync"][0]["waits"], entry["sync"][0]["content"]) == (word, "old")
        assert "real_time" not in entry
        assert f"before queued:{way}'s work was done" in entry["reason"]


def test_a_consumers_own_copy_is_what_is_read(tmp_path: Path) -> None:
    entry = observe(tmp_path, "queued:careless", consumer=PLAIN + ORDERED)["careless"]
    assert (entry["sync"][0]["waits"], entry["sync"][0]["content"]) == ("stream", "new")
    assert entry["outcome"] == "zero-copy"


@pytest.mark.parametrize(("way", "word"), [("waiting", "host"), ("careless", "none")])
def test_an_export_that_is_no_attribute_is_looked_at(way: str, word: str, tmp_path: Path) -> None:
    entry = observe(tmp_path, f"queued:{way}", producer=BY_FUNCTION)[way]
    assert entry["observed"]["via"] == "exports"
    assert entry["sync"][0]["waits"] == word


def test_no_phase_of_a_race_keeps_its_number(
    classified: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    run = whole.document(classified[0])
    phases = {
        entry["producer"]: entry
        for entry in [*run["benchmarks"], *run["not_measured"]]
        if entry["phase"] == "import"
    }
    assert phases["queued:careless"]["outcome"] == phases["queued:lazy"]["outcome"] == "race"
    assert "real_time" not in phases["queued:careless"]
    assert phases["queued:waiting"]["real_time"] > 0


def test_without_a_queue_nothing_is_reported(
    classified: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    assert "sync" not in classified[1][""]


def test_a_script_shows_the_race(
    classified: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    folder, _ = classified
    status, script, err = whole.run(
        folder, "repro", "run", "queued:careless", "plain", "--adapters", "own"
    )
    assert (status, err) == (0, "")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert re.search("expected: 0 early reads\nactual: [1-9]", done.stdout), done.stderr
    assert done.returncode == 1


def test_the_terminal_shows_waits_and_races(
    classified: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    folder, _ = classified
    _, reported, _ = whole.run(folder, "show", "run", environment=os.environ | {"COLUMNS": "80"})
    assert "synchronization while the producer's queue is busy" in reported
    assert "sync          queued:waiting: the host is held in export" in reported
    assert "race " in reported
    assert max(map(len, reported.splitlines())) <= 80
    _, reported, _ = whole.run(folder, "show", "run", "queued:waiting", "plain", "call")
    assert "stream omitted: host, new data read" in reported


def test_a_library_that_hangs_loses_only_the_word(tmp_path: Path) -> None:
    """The other trials are not tried: each would wait for the deadline."""
    entry = observe(tmp_path, "queued:hanging", "--timeout", "4s")["hanging"]
    assert "real_time" in entry
    own, *others = entry["sync"]
    reason = "no answer from the worker within 4 s, at step 'sync'"
    assert (own["code"], own["reason"]) == ("worker-ended", reason)
    assert {one["code"] for one in others} == {"not-tried"}


def test_resume_looks_at_what_was_not_looked_at(tmp_path: Path) -> None:
    whole_run = observe(tmp_path, "queued:waiting")["waiting"]
    journal = tmp_path / "run" / "journal.jsonl"
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith('{"sync"')]
    assert len(kept) < len(lines)
    journal.write_text("".join(kept), encoding="utf-8")
    status, _, err = whole.run(
        tmp_path, "--resume", "run", "--adapters", "own", "--no-plots", "--quiet"
    )
    assert (status, err) == (0, "")
    entries = whole.entries(whole.document(tmp_path))
    again = next(entry for name, entry in entries.items() if "clock" not in name)
    assert again["sync"][0]["waits"] == whole_run["sync"][0]["waits"] == "host"


def test_a_row_without_a_class_has_the_code_of_its_reason() -> None:
    one = {"stream": -1, "requested_by": "dlbench", "reads_on": "own",
           "code": "argument-refused", "reason": "no"}  # fmt: skip
    entry = {"producer": "p", "consumer": "c", "protocol": "dlpack", "device": "cuda:0",
             "environment": "default", "sync": [one]}  # fmt: skip
    shown = [
        line.plain for line in table.table(doc({"benchmarks": [], "not_measured": [entry]}), 200)
    ]
    assert shown[2].split()[-3:] == ["refused", "(-1)", "no"]
    assert "-1: no synchronization requested" in shown[-1]


REAL = {
    "dpnp": ("sycl:0", "race", "none"),
    "jax": ("cpu", "zero-copy", "host"),
    "mlx": ("cpu", "zero-copy", "host"),
    "tensorflow": ("cpu", "zero-copy", "host"),
}


@pytest.mark.parametrize("library", REAL)
def test_real_queues(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library if library != "mlx" else "mlx.core")
    device, *observed = REAL[library]
    consumer = "dpnp" if library == "dpnp" else "numpy"
    words = ("--producers", library, "--consumers", consumer, "--devices", device, "--sync")
    more = ("--protocols", "dlpack", "--sizes", "4KiB")
    (passing := tmp_path / "tmp").mkdir()
    environment = os.environ | {"TMPDIR": str(passing)}
    document = whole.measure(tmp_path, *words, *more, environment=environment)
    assert not [*passing.iterdir()]
    entries = whole.entries(document).values()
    (entry,) = (each for each in entries if each.get("clock", "call") == "call")
    assert [entry["outcome"], entry["sync"][0]["waits"]] == observed
