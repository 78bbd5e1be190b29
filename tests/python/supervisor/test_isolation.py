"""A library that crashes, hangs or prints without end affects its own cells only, and is named."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from samples import warning_data
from whole import GOOD_MAKE, GOOD_TAKE, QUICK, document, entries, left_alive, plant, run, start

pytestmark = pytest.mark.process

SEGFAULT = "import ctypes; ctypes.string_at(0)"
# Functions of a PyDLL keep the GIL, and pause() returns only for a signal.
HANG_IN_C = "import ctypes; ctypes.PyDLL(None).pause()"
TAKE = (
    "DISTRIBUTION = None\nimport os, sys, time\nimport numpy as np\ncount = 0\n"
    "def take(x):\n    global count\n    count += 1\n    {body}\n    return np.from_dlpack(x)\n"
    "PROTOCOLS = {{'dlpack': take}}\n"
)
LOOP = "if count > 200: {}"


def take(body: str) -> str:
    """A consumer that does this before it imports."""
    return TAKE.format(body=body)


NO_FILE = "DISTRIBUTION = None\n{}\nPROTOCOLS = {{'dlpack': 1}}"
BAD = {
    "segfault-in-import": (GOOD_MAKE, NO_FILE.format(SEGFAULT), "crashed", "SIGSEGV"),
    "segfault-in-make": (
        f"DISTRIBUTION = None\ndef make(case, device):\n    {SEGFAULT}",
        GOOD_TAKE,
        "crashed",
        "SIGSEGV",
    ),
    "segfault-in-call": (GOOD_MAKE, take(SEGFAULT), "crashed", "SIGSEGV"),
    "segfault-in-the-timed-loop": (GOOD_MAKE, take(LOOP.format(SEGFAULT)), "crashed", "SIGSEGV"),
    "abort": (GOOD_MAKE, take("os.abort()"), "crashed", "SIGABRT"),
    "exit-0": (GOOD_MAKE, take("os._exit(0)"), "crashed", ""),
    "hang-in-c": (GOOD_MAKE, take(HANG_IN_C), "timed-out", ""),
    "hang-in-python": (GOOD_MAKE, take("while True: pass"), "timed-out", ""),
    "hang-in-import": (GOOD_MAKE, NO_FILE.format("while True: pass"), "timed-out", ""),
    "returns-none": (GOOD_MAKE, take("return None"), "wrong", ""),
}

#: The others end a worker at the same steps.
THOROUGH = ("segfault-in-make", "hang-in-python", "hang-in-import")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough if name in THOROUGH else [], id=name)
        for name in BAD
    ],
)
def test_it_costs_its_own_cells_only(tmp_path: Path, name: str) -> None:
    make, consume, outcome, killed_by = BAD[name]
    plant(tmp_path / "adapters", "bad", make, consume)
    plant(tmp_path / "adapters", "good")
    status, _, err = run(
        tmp_path, "--matrix", "--adapters", "adapters", "--producers", "good,bad", "--consumers",
        "good,bad", "--protocols", "dlpack", "--sizes", "4KiB,64KiB", "--timeout", "2s", "--out",
        "run", *QUICK, "--precision", "50%",
    )  # fmt: skip
    assert status == 0, err
    found = entries(document(tmp_path))
    at_fault = ["producer" if "make" in name else "consumer"]
    if name.endswith("in-import"):
        at_fault = ["producer", "consumer"]  # a library that cannot be imported has no role left
    assert len(found) == 8
    for entry in found.values():
        concerned = "bad" in [entry[role] for role in at_fault]
        assert ("real_time" in entry) == (not concerned), entry
        if concerned:
            assert entry["outcome"] == outcome, entry
            assert entry["reason"]
            assert entry.get("signal", "") == killed_by
    assert left_alive(tmp_path) == []
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["journal.jsonl", "results.json"]


def test_a_flood_on_stderr_stops_nothing(tmp_path: Path) -> None:
    flood = "if count == 1:\n        for _ in range(100): sys.stderr.write('x' * (1 << 20) + '\\n')"
    plant(tmp_path / "adapters", "loud", take=take(flood))
    status, _, err = run(tmp_path, "loud", "loud", "--adapters", "adapters", "--protocols",
                         "dlpack", "--sizes", "4KiB", "--out", "run", *QUICK)  # fmt: skip
    assert status == 0, err
    assert len(document(tmp_path)["benchmarks"]) == 1
    assert len(err) < 100_000


@pytest.mark.parametrize("way", ["", "os.setsid(); "])
def test_a_grandchild_is_ended_with_the_run(tmp_path: Path, way: str) -> None:
    fork = f"if count == 1 and os.fork() == 0:\n        {way}time.sleep(1000)"
    plant(tmp_path / "adapters", "parent", take=take(fork))
    status, _, err = run(tmp_path, "parent", "parent", "--adapters", "adapters", "--protocols",
                         "dlpack", "--sizes", "4KiB", "--out", "run", *QUICK)  # fmt: skip
    assert status == 0, err
    assert len(document(tmp_path)["benchmarks"]) == 1
    assert left_alive(tmp_path) == []


def test_a_grandchild_does_not_hide_a_crash(tmp_path: Path) -> None:
    body = "if os.fork() == 0:\n        time.sleep(1000)\n    os.abort()"
    plant(tmp_path / "adapters", "parent", take=take(body))
    plant(tmp_path / "adapters", "good")
    begin = time.monotonic()
    status, _, err = run(tmp_path, "--matrix", "--adapters", "adapters", "--producers", "good",
                         "--consumers", "parent,good", "--protocols", "dlpack", "--sizes", "4KiB",
                         "--out", "run", *QUICK, "--timeout", "60s")  # fmt: skip
    assert status == 0, err
    outcomes = {e["consumer"]: e["outcome"] for e in entries(document(tmp_path)).values()}
    assert outcomes == {"parent": "crashed", "good": "zero-copy"}
    assert time.monotonic() - begin < 50  # it was seen to die, not waited for until its deadline
    assert left_alive(tmp_path) == []


def test_a_worker_killed_by_hand_is_named(tmp_path: Path) -> None:
    note = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    plant(tmp_path / "adapters", "victim", take=take(note))
    plant(tmp_path / "adapters", "good")
    process = start(tmp_path, "--matrix", "--adapters", "adapters", "--producers", "good",
                    "--consumers", "victim", "--protocols", "dlpack", "--sizes", "4KiB",
                    "--out", "run", *QUICK)  # fmt: skip
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.02)
        assert process.poll() is None
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2, err  # nothing else was to be measured
    victims = [e for e in entries(document(tmp_path)).values() if e["consumer"] == "victim"]
    assert [(e["outcome"], e["signal"]) for e in victims] == [("crashed", "SIGKILL")]
    assert "SIGKILL" in out + err
    assert left_alive(tmp_path) == []


def test_a_ready_in_the_producers_file_is_found_in_one_direction(tmp_path: Path) -> None:
    wait = "def ready(array):\n    import time\n    time.sleep(0.002)\n"
    plant(tmp_path / "adapters", "lazy", make=GOOD_MAKE + wait)
    plant(tmp_path / "adapters", "good")
    status, _, err = run(tmp_path, "--matrix", "--adapters", "adapters", "--producers", "good",
                         "--consumers", "lazy", "--protocols", "dlpack", "--sizes", "4KiB",
                         "--out", "run", *QUICK)  # fmt: skip
    assert status == 0, err
    ns = {e["clock"]: e["real_time"] for e in document(tmp_path)["benchmarks"]}
    assert ns["ready"] > 2e6 > ns["call"]


def test_a_crash_beside_another_library_is_reported_and_the_other_order_tried(
    tmp_path: Path,
) -> None:
    crash = f"import sys\nif hasattr(sys, 'early_is_here'): {SEGFAULT}\n"
    early = "import sys\nsys.early_is_here = True\n"
    plant(tmp_path / "adapters", "early", early + GOOD_MAKE, early + GOOD_TAKE)
    plant(tmp_path / "adapters", "late", crash + GOOD_MAKE, crash + GOOD_TAKE)
    status, _, err = run(
        tmp_path, "early", "late", "--adapters", "adapters", "--protocols", "dlpack", "--sizes",
        "4KiB", "--out", "run", *QUICK, "--precision", "50%",
    )  # fmt: skip
    assert status == 0, err
    measured = document(tmp_path)["benchmarks"]
    assert len(measured) == 2
    for entry in measured:
        assert entry["imports"] == ["late", "early"]
        order = {"library": "late", "first": "early", "outcome": "crashed"}
        assert warning_data(entry)["import-order"].items() >= order.items()
    _, out, _ = run(tmp_path, "show", "run")
    assert "late cannot be imported after early: crashed" in " ".join(out.split())
