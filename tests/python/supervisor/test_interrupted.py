"""Runs that are interrupted by signals, and full disks."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from whole import GOOD_MAKE, document, entries, left_alive, plant, run, start

pytestmark = pytest.mark.process

SIZES = "4KiB,16KiB,64KiB"
RESUME = ("--resume", "run", "--adapters", "adapters", "--no-plots")
AXES = ("--matrix", "--adapters", "adapters", "--producers", "a,b", "--consumers", "a,b",
        "--protocols", "dlpack", "--sizes", SIZES, "--replicas", "3")  # fmt: skip
CALLS = ("--calls", "--adapters", "adapters", "--producers", "numpy", "--arrays", "1,2,4",
         "--consumers", "ctypes,ctypes:ndpointer,pybind11,native:capsule",
         "--replicas", "3")  # fmt: skip
CELLS = 2 * 2 * 3  # of either


def two(folder: Path) -> None:
    """Two well-behaved libraries."""
    plant(folder / "adapters", "a")
    plant(folder / "adapters", "b")


def recorded(folder: Path) -> list[str]:
    """Names of the cells that the journal records, a torn last line left out."""
    journal = folder / "run" / "journal.jsonl"
    lines = journal.read_text().split("\n")[:-1] if journal.exists() else []
    return [line["entry"]["name"] for line in map(json.loads, lines) if "entry" in line]


EARLY = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "dlbench.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from dlbench.__main__ import main
main()
"""


def test_an_interrupt_during_the_imports_prints_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


@pytest.mark.parametrize(("axes", "after"), [(AXES, 0), (AXES, 1), (AXES, 7), (CALLS, 5)])
def test_a_killed_run_goes_on_and_measures_nothing_twice(
    tmp_path: Path, axes: tuple[str, ...], after: int
) -> None:
    two(tmp_path)
    process = start(tmp_path, *axes, "--out", "run", "--no-plots")
    while len(recorded(tmp_path)) < after or not (tmp_path / "run" / "journal.jsonl").exists():
        time.sleep(0.002)
        assert process.poll() is None or after >= CELLS
    process.kill()
    process.communicate()
    before = recorded(tmp_path)
    assert left_alive(tmp_path) == []
    status, _, err = run(tmp_path, *RESUME)
    assert status == 0, err
    names = Counter(recorded(tmp_path))
    assert set(before) <= set(names)
    # A line with each further worker that measured the cell: three of them, and one more where a
    # disturbed worker was replaced.
    assert set(names.values()) <= {3, 4}
    assert {len(entry["workers"]) for entry in document(tmp_path)["benchmarks"]} == {3}
    assert len(entries(document(tmp_path))) == CELLS


def test_a_resumed_run_must_be_the_same(tmp_path: Path) -> None:
    two(tmp_path)
    status, _, err = run(tmp_path, *AXES, "--out", "run", "--no-plots")
    assert status == 0, err
    journal = tmp_path / "run" / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"cores":', '"cores":9', 1))
    kept = journal.read_bytes()
    status, _, err = run(tmp_path, *RESUME)
    assert status == 2
    assert "cores" in err
    assert len(err.splitlines()) == 1
    assert journal.read_bytes() == kept


def test_a_signal_before_the_first_number_draws_nothing(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    make = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch(); time.sleep(10)\n"
    plant(tmp_path / "adapters", "a", make=make + GOOD_MAKE)
    process = start(tmp_path, *AXES[:3], "--producers", "a", "--consumers", "a", "--out", "run")
    while not begun.exists():
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"journal.jsonl", "results.json"}
    assert document(tmp_path)["benchmarks"] == []
    assert out.count("a -> a") == 1
    assert "report.html" not in out + err
    assert err.splitlines()[-1].startswith("dlbench: interrupted; ")


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: int, status: int
) -> None:
    asleep = tmp_path / "asleep"
    # Only a's arrays put b's consumer to sleep: the libraries with themselves are measured before,
    # since what takes long to prepare gets its rounds at once.
    make = (
        "DISTRIBUTION = None\nimport os, time\nimport numpy as np\nclass A(np.ndarray): pass\n"
        "def make(case, device):\n    if 'AWAKE' not in os.environ: time.sleep(0.3)\n"
        "    return case.numpy().view(A)\n"
    )
    take = (
        "DISTRIBUTION = None\nimport os, pathlib, time\nimport numpy as np\n"
        "def take(x):\n"
        "    if type(x).__name__ == 'A' and 'AWAKE' not in os.environ:\n"
        f"        pathlib.Path({str(asleep)!r}).touch(); time.sleep(10)\n"
        "    return np.from_dlpack(x)\n"
        "PROTOCOLS = {'dlpack': take}\n"
    )
    plant(tmp_path / "adapters", "a", make=make)
    plant(tmp_path / "adapters", "b", take=take)
    process = start(tmp_path, *AXES, "--jobs", "1", "--out", "run", "--no-plots")
    while not asleep.exists():
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    loaded = document(tmp_path)
    measured = {(e["producer"], e["consumer"]) for e in loaded["benchmarks"]}
    assert ("a", "a") in measured
    assert ("a", "b") not in measured
    assert len(entries(loaded)) == CELLS
    for entry in loaded["not_measured"]:
        assert (entry["outcome"], entry["code"]) == ("not-run", "interrupted")
    assert left_alive(tmp_path) == []
    monkeypatch.setenv("AWAKE", "1")
    assert run(tmp_path, *RESUME)[0] == 0
    assert len(document(tmp_path)["benchmarks"]) == CELLS


@pytest.mark.parametrize("limit", [0, 3000, 9000])
def test_a_disk_that_fills_up_keeps_the_journal(tmp_path: Path, limit: int) -> None:
    two(tmp_path)

    def small_disk() -> None:
        # SIGXFSZ ignored, a write beyond the limit fails as on a full disk.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    status, _, err = run(tmp_path, *AXES, "--out", "run", "--no-plots", preexec_fn=small_disk)
    assert status == 2
    assert "Traceback" not in err
    assert "journal" in err.splitlines()[-1]
    before = recorded(tmp_path)
    assert left_alive(tmp_path) == []
    if limit == 0:
        return
    status, _, err = run(tmp_path, *RESUME)
    assert status == 0, err
    assert set(before) <= set(recorded(tmp_path))
    assert len(document(tmp_path)["benchmarks"]) == CELLS
