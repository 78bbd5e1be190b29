"""Instructions of whole exchanges under valgrind, and the message without valgrind."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

import whole
from dlbench import worker_requests
from dlbench.counting.parts import PHASES, phases
from dlbench.counting.profile import Function
from dlbench.counting.valgrind import CountingWorker
from dlbench.libraries import discover
from samples import warning_codes
from typed import entry_of

pytestmark = pytest.mark.process

needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")

# Its export is a Python method that spins: nine in ten instructions of an exchange and more.
SPINNING = """
import numpy as np

DISTRIBUTION = None


class Slow:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **wanted):
        for _ in range(2000):
            pass
        return self.array.__dlpack__(**wanted)


def make(case, device):
    return Slow(case.numpy())


def address(array):
    return array.array.ctypes.data


def values(array):
    return array.array
"""
DYING = """
import os
import numpy as np

DISTRIBUTION = None


def take(array):
    if os.environ.get("PYTHONHASHSEED") == "0":  # as counted, not as measured
        os._exit(7)
    return np.from_dlpack(array)


PROTOCOLS = {"dlpack": take}
"""


def _measure(folder: Path, *words: str) -> dict[str, dict[str, object]]:
    more = (
        "--protocols",
        "dlpack",
        "--sizes",
        "4KiB",
        "--precision",
        "99%",
        "--replicas",
        "1",
        "--no-plots",
        "--quiet",
    )
    status, _, err = whole.run(folder, "--matrix", *words, *more, "--out", "run")
    assert (status, err) == (0, "")
    return whole.entries(whole.document(folder))


def _cell(producer: str, consumer: str) -> str:
    axes = "protocol:dlpack/device:cpu/case:f32/bytes:4096"
    return f"exchange/producer:{producer}/consumer:{consumer}/{axes}"


@needs_valgrind
@pytest.mark.parametrize("more", ["", pytest.param(",torch", marks=pytest.mark.thorough)])
def test_the_phases_sum_to_the_exchange_and_repeat(
    more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (passing := tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(passing))
    counted = []
    # PyTorch, whose import takes 20 s under valgrind, once.
    for name, consumers in (("one", f"numpy{more}"), ("two", "numpy")):
        (tmp_path / name).mkdir()
        words = ("--producers", "numpy", "--consumers", consumers, "--count", "instructions")
        began = time.monotonic()
        found = _measure(tmp_path / name, *words, "--phases", "all")
        elapsed = time.monotonic() - began
        # The reported time of the run includes the counting, which takes most of it.
        reported_s = whole.document(tmp_path / name)["context"]["dlbench"]["wall_s"]
        assert elapsed / 2 < reported_s <= elapsed
        assert not [*passing.iterdir()]
        counted.append({cell: entry.get("instructions") for cell, entry in found.items()})
    one, two = counted
    assert 500 < one[_cell("numpy", "numpy")] < 20_000  # type: ignore[operator]
    for consumer in f"numpy{more}".split(","):
        whole_ = _cell("numpy", consumer)
        parts = {phase: whole_.replace("exchange", phase, 1) for phase in PHASES}
        reported = {phase: one[cell] for phase, cell in parts.items() if one.get(cell) is not None}
        assert set(reported) >= {"export", "import", "release"}
        assert all(count > 0 for count in reported.values())  # type: ignore[operator]
        # The replay keeps each answer, at some 60 instructions; PyTorch to 0.3 %.
        over = sum(reported.values()) - one[whole_]  # type: ignore[arg-type, operator]
        requested = len({"query", "export"} & set(reported))
        vague = 0.003 * one[whole_] if consumer == "torch" else 0  # type: ignore[operator]
        assert abs(over) <= 100 * requested + vague
        if consumer == "numpy":
            assert all(one.get(cell) == two.get(cell) for cell in (whole_, *parts.values()))


@needs_valgrind
def test_a_worker_lost_to_counting_is_a_warning_of_its_cell(tmp_path: Path) -> None:
    whole.plant(tmp_path / "more", "dying", take=DYING)
    words = ("--producers", "numpy", "--consumers", "numpy,dying", "--adapters", "more")
    entries = _measure(tmp_path, *words, "--count", "instructions")
    lost = entries[_cell("numpy", "dying")]
    assert "instructions" not in lost
    assert lost["real_time"] > 0  # type: ignore[operator]
    (warning,) = [each for each in lost["warnings"] if each["code"] == "instructions-failed"]  # type: ignore[attr-defined]
    assert "exit status 7" in warning["text"]
    assert entries[_cell("numpy", "numpy")]["instructions"] > 0  # type: ignore[operator]


@needs_valgrind
def test_a_resumed_run_counts_what_was_left(tmp_path: Path) -> None:
    words = ("--producers", "numpy,native", "--consumers", "numpy", "--count", "instructions")
    _measure(tmp_path, *words)
    journal = tmp_path / "run" / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    counted = [line for line in lines if line.startswith('{"count":')]
    assert len(counted) == 2
    lines.remove(counted[0])
    journal.write_text("".join(lines))
    status, _, err = whole.run(tmp_path, "--resume", "run", "--quiet", "--no-plots")
    assert (status, err) == (0, "")
    # The one that was gone, and no other.
    after = journal.read_text().splitlines(keepends=True)
    assert [line for line in after if line.startswith('{"count":')] == [counted[1], counted[0]]


@needs_valgrind
def test_explain_names_the_planted_python_method(tmp_path: Path) -> None:
    whole.plant(tmp_path / "more", "slow", make=SPINNING)
    _measure(tmp_path, "--producers", "slow", "--consumers", "numpy", "--adapters", "more")
    status, out, err = whole.run(tmp_path, "explain", "run", "slow", "numpy", "--adapters", "more")
    assert status == 0
    assert err.startswith("dlbench: counting the instructions of slow -> numpy, dlpack, 4 KiB in ")
    assert err.count("\n") == 1
    first = out.splitlines()[0]
    assert first.endswith("% of slow -> numpy is Slow.__dlpack__, a Python function of slow")
    assert int(first.split()[0]) >= 90
    # A library that is too slow ends it with one line.
    whole.plant(tmp_path / "more", "slow", make=f"import time\ntime.sleep(600)\n{SPINNING}")
    words = ("slow", "numpy", "--adapters", "more", "--timeout", "10s")
    status, out, err = whole.run(tmp_path, "explain", "run", *words)
    assert (status, out) == (2, "")
    first, last = err.splitlines()
    assert first.endswith("a step ends after 10s (--timeout)")
    assert last.endswith("no answer from the worker under valgrind within 10 s")
    # The honest producer: no Python function runs, and none is named.
    _measure_numpy(tmp_path)
    status, out, _ = whole.run(tmp_path, "explain", "other", "numpy", "numpy")
    assert status == 0
    assert "Python function" not in out
    assert out.splitlines()[0].split(" is ")[0].endswith("of numpy -> numpy")


def _measure_numpy(folder: Path) -> None:
    words = ("--producers", "numpy", "--consumers", "numpy", "--protocols", "dlpack")
    more = ("--sizes", "4KiB", "--precision", "99%", *whole.QUICK, "--quiet", "--out", "other")
    assert whole.run(folder, "--matrix", *words, *more)[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("numpy", "native", "--count", "instructions"),
        ("explain", "latest", "numpy", "native"),
    ],
)
def test_without_valgrind_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, out, err = whole.run(tmp_path, *words)
    assert (status, out) == (2, "")
    assert err == (
        "dlbench: counting instructions needs valgrind, which is not on PATH: install it\n"
    )
    assert list(tmp_path.iterdir()) == []


@needs_valgrind
def test_there_is_no_guard_under_valgrind(tmp_path: Path) -> None:
    """A page that is given back in the middle of an instruction: valgrind loses what was copied."""
    found = discover.catalogue()
    entry = {"producer": "native", "consumer": "faulty:silent-copy", "protocol": "dlpack"}
    entry |= {"device": "cpu", "case": "f32", "bytes": 65536}
    with CountingWorker(tmp_path, found.environment, 300.0) as worker:
        for name in ("native", "faulty:silent-copy"):
            for role, file in found.roles(name).items():
                worker.send_request(worker_requests.load(role, name, str(file.path)))
        worker.send_request(worker_requests.prepare(entry_of(entry)))
        judged = worker.send_request({"do": "judge", "id": 0})
    assert (judged["outcome"], judged["evidence"]["guard"]) == ("copy", "skipped")
    assert "no-guard" in warning_codes(judged)


def test_parts_are_reported_by_their_functions() -> None:
    def part(number: int) -> Function:
        return Function(
            "_worker.so", f"int dlbench::worker::dlbench_part<{number}>(int (*)(), void*)"
        )

    entered = {
        part(0): (1.0, 110.0),
        part(1): (2.0, 520.0),
        part(2): (1.0, 1010.0),
        part(3): (1.0, 60.0),
        part(4): (3.0, 330.0),
        part(5): (1.0, 10.0),
        Function("_worker.so", "dlbench_frame<2>"): (5.0, 7e6),
    }
    assert phases(entered) == {"query": 100, "export": 500, "import": 700, "release": 50}
    del entered[part(0)]
    assert "query" not in phases(entered)


def test_only_instructions_can_be_counted(tmp_path: Path) -> None:
    status, _, err = whole.run(tmp_path, "numpy", "native", "--count", "cycles")
    assert status == 2
    assert err == "dlbench: cannot count 'cycles'; allowed: instructions\n"


@needs_valgrind
def test_a_cell_without_a_number_is_not_explained(tmp_path: Path) -> None:
    taking = "import numpy as np\nDISTRIBUTION = None\n"
    taking += "def take(x):\n    raise BufferError('not today')\nPROTOCOLS = {'dlpack': take}\n"
    whole.plant(tmp_path / "more", "no", take=taking)
    words = ("--producers", "numpy", "--consumers", "numpy,no", "--adapters", "more")
    _measure(tmp_path, *words)
    status, _, err = whole.run(tmp_path, "explain", "run", "numpy", "no")
    assert status == 2
    assert "was not measured: refused: BufferError: not today" in err
    assert json.loads((tmp_path / "run" / "results.json").read_text())["benchmarks"]
