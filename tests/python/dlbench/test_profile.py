"""`--profile`: ranges for tools that are attached, a trace, and no times."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ranges
import whole
import wire
from dlbench import _core
from dlbench.passes.ranges import TIMES
from dlbench.profiling import places

pytestmark = pytest.mark.process

SIZE = 4096
WORDS = ("--protocols", "dlpack,convert", "--sizes", "4KiB", "--quiet")


@pytest.fixture(scope="session")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ranges.injection(tmp_path_factory.mktemp("tool"))


@pytest.fixture
def watched(tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Attaches the tool to what this test starts; where it writes."""
    log = tmp_path / "log" / "observed"
    log.parent.mkdir()
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(tool))
    monkeypatch.setenv("DLBENCH_INJECTION_LOG", str(log))
    return log


def profile(folder: Path, *words: str) -> dict[str, Any]:
    """The profile.json of a run that must be good."""
    status, _, err = whole.run(folder, *words, *WORDS, "--profile", "--out", "run")
    assert (status, err) == (0, "")
    reported: dict[str, Any] = json.loads((folder / "run/profile.json").read_text())
    return reported


def cells_of(roots: list[ranges.Node]) -> dict[str, ranges.Node]:
    """The cells' ranges in which they were profiled."""
    found = [node for root in roots for node in root.inner if node.category == "cell"]
    assert len({node.name for node in found}) == len(found)
    return {node.name: node for node in found}


@pytest.mark.libraries
def test_a_profile_of_three_libraries_is_whole_for_an_attached_tool(
    tmp_path: Path, watched: Path
) -> None:
    three = "native,numpy,torch"
    reported = profile(tmp_path, "--matrix", "--producers", three, "--consumers", three)
    assert reported["listening"]["nvtx"] == "attached"
    observed = [log for log in ranges.logs(watched) if any(e["domain"] == "dlbench" for e in log)]
    # One worker a pair, and each wrote what it had: it ended by itself.
    assert len(observed) == 6
    assert [ranges.complaints(log) for log in observed] == [[]] * 6
    cells = cells_of([ranges.tree(log) for log in observed])
    profiled = {cell["name"]: cell for cell in reported["cells"] if "ranges" in cell}
    assert set(cells) == set(profiled)
    assert len(cells) >= 15
    for name, node in cells.items():
        assert {each.bytes for each in node.all()} == {SIZE}
        exchanges = [each for each in node.inner if each.name == "exchange"]
        assert len(exchanges) == TIMES
        apart = [each for each in node.inner if each.name == "phases"]
        assert len(apart) == (0 if profiled[name].get("whole") else TIMES)
        for one in apart:
            inner = [each.name for each in one.inner]
            assert inner[-2:] == ["import", "release"]
            assert set(inner[:-2]) <= {"query", "export"}
            assert "export" in inner
            assert [each.category for each in one.inner] == inner


def test_the_trace_holds_the_same_ranges(tmp_path: Path, watched: Path) -> None:
    reported = profile(tmp_path, "native", "numpy")
    (log,) = ranges.logs(watched)
    trace = json.loads((tmp_path / "run/trace.json").read_text())
    (root,) = ranges.chrome_tree(trace["traceEvents"]).values()
    theirs, ours = cells_of([ranges.tree(log)]), cells_of([root])
    assert set(theirs) == {cell["name"] for cell in reported["cells"]}

    def shape(node: ranges.Node) -> Any:
        return node.name, node.category, node.bytes, [shape(each) for each in node.inner]

    assert {name: shape(node) for name, node in ours.items()} == {
        name: shape(node) for name, node in theirs.items()
    }
    assert trace["otherData"]["lost"] == 0
    names = {e["name"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    assert names["process_name"] == "dlbench: native and numpy"
    assert names["thread_name"]
    # What a profiled cell lists is what is in its range.
    for cell in reported["cells"]:
        counted = Counter(node.name for node in ours[cell["name"]].all())
        listed = Counter({each["name"]: each["count"] for each in cell["ranges"]})
        assert counted == listed


def test_an_unbalanced_range_is_found(tool: Path, tmp_path: Path, watched: Path) -> None:
    include = f"-isystem{ranges.nvtx_include()}"
    program = ranges.build("unbalanced.cpp", tmp_path / "unbalanced", include)
    ranges.subprocess.run([str(program)], check=True)
    (log,) = ranges.logs(watched)
    assert ranges.complaints(log) == ["a cell: never closed"]
    assert ranges.complaints([*log, log[-1], log[-1]]) == ["a pop without a push"]


def test_a_profile_holds_no_times(tmp_path: Path) -> None:
    reported = profile(tmp_path, "native", "numpy")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "profile.json",
        "trace.json",
    ]
    text = json.dumps(reported["cells"])
    assert not any(word in text for word in ("_ns", "real_time", "cpu_time", "dur", "gb_per_s"))


@pytest.mark.parametrize(
    "words",
    [
        ("show", "run"),
        ("compare", "run", "run"),
        ("export", "run", "--format", "csv"),
        ("report", "run"),
        ("plot", "run"),
        ("merge", "run", "run", "--out", "both"),
    ],
)
def test_nothing_takes_a_profile_for_a_measurement(
    tmp_path: Path, words: tuple[str, ...], profiled: Callable[[Path], None]
) -> None:
    profiled(tmp_path)
    status, out, err = whole.run(tmp_path, *words)
    assert (status, out) == (2, "")
    assert err.startswith("dlbench: ")
    assert "is a profile, which has no times: open run/profile.json" in err
    assert len(err.splitlines()) == 1


@pytest.fixture(scope="session")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Puts a profile into a folder, as `run`."""
    folder = tmp_path_factory.mktemp("profiled")
    profile(folder, "native", "numpy")

    def put(place: Path) -> None:
        (place / "run").symlink_to(folder / "run")

    return put


def test_the_terminal_says_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    status, out, err = whole.run(tmp_path, "native", "numpy", "--profile", "--sizes", "4KiB")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert lines[0].split() == [
        "from",
        "->",
        "to",
        "protocol",
        "device",
        "size",
        "outcome",
        "ranges",
    ]
    assert any("none measured" in line for line in lines)
    assert any(line.endswith("trace.json opens in ui.perfetto.dev") for line in lines)
    # The last measured run stays the latest.
    assert not (tmp_path / "dlbench-results/latest").exists()


def test_a_refusal_and_a_crash_cost_their_own_cells(tmp_path: Path) -> None:
    refusing = "import numpy as np\nDISTRIBUTION = None\n"
    refusing += "def take(x):\n    raise BufferError('not today')\nPROTOCOLS = {'dlpack': take}\n"
    dying = "import os\nDISTRIBUTION = None\n"
    dying += "def take(x):\n    os._exit(7)\nPROTOCOLS = {'dlpack': take}\n"
    whole.plant(tmp_path / "more", "no", take=refusing)
    whole.plant(tmp_path / "more", "gone", take=dying)
    words = ("--producers", "numpy", "--consumers", "numpy,no,gone", "--adapters", "more")
    reported = profile(tmp_path, "--matrix", *words)
    observed = {
        (cell["consumer"], cell["protocol"]): cell
        for cell in reported["cells"]
        if cell["protocol"] == "dlpack"
    }
    assert observed["numpy", "dlpack"]["ranges"]
    assert observed["no", "dlpack"]["outcome"] == "refused"
    assert observed["no", "dlpack"]["reason"] == "BufferError: not today"
    assert observed["gone", "dlpack"]["outcome"] == "crashed"
    assert "exit status 7" in observed["gone", "dlpack"]["reason"]


def test_nothing_to_profile_is_reported(tmp_path: Path) -> None:
    dying = "import os\nos._exit(3)\n"
    whole.plant(tmp_path / "more", "gone", dying + whole.GOOD_MAKE, dying + whole.GOOD_TAKE)
    words = ("gone", "numpy", "--adapters", "more", "--profile", "--quiet")
    status, _, err = whole.run(tmp_path, *words)
    assert (status, err) == (2, "dlbench: nothing could be profiled\n")


@pytest.mark.parametrize(
    "words",
    [
        ("--budget", "2s"),
        ("--precision", "2%"),
        ("--replicas", "2"),
        ("--jobs", "2"),
        ("--count", "instructions"),
        ("--trace-api",),
        ("--resume", "run"),
    ],
)
def test_what_says_how_to_time_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    status, out, err = whole.run(tmp_path, "native", "numpy", "--profile", *words)
    assert (status, out) == (2, "")
    assert err == f"dlbench: --profile measures nothing: leave out {words[0]}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_timed_round_holds_no_range(tmp_path: Path, watched: Path) -> None:
    """A tool that is attached to a measuring worker sees rounds from outside."""
    adapters = wire.WORKER.parent
    loads = [
        {"do": "load", "role": role, "library": "numpy", "path": f"{adapters}/{role}s/numpy.py"}
        for role in ("producer", "consumer")
    ]
    one_round = {"do": "round", "id": 0, "clock": "call", "iterations": 1000, "prelude": 16}
    answers = wire.send_request(
        tmp_path, *loads, wire.prepare(0, "numpy", "numpy", "dlpack", wire.F32), *[one_round] * 3
    )
    assert all("ok" in answer for answer in answers)
    (log,) = ranges.logs(watched)
    assert ranges.complaints(log) == []
    root = ranges.tree(log)
    rounds = [node for node in root.inner if node.name == "round"]
    assert len(rounds) == 3
    for node in rounds:
        (cell,) = node.inner
        assert (cell.category, cell.bytes, cell.inner) == ("cell", SIZE, [])
    (prepared,) = [node for node in root.inner if node.name == "prepare"]
    assert {"make", "call", "calibrate"} <= {node.name for node in prepared.inner}


def test_roctx_is_reported_in_its_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = ranges.build("roctx.cpp", tmp_path / "lib/librocprofiler-sdk-roctx.so")
    log = tmp_path / "roctx"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library.parent))
    monkeypatch.setenv("DLBENCH_ROCTX_LOG", str(log))
    reported = profile(tmp_path, "native", "numpy")
    assert reported["listening"]["roctx"] == library.name
    (path,) = tmp_path.glob("roctx.*")
    lines = path.read_text().splitlines()
    assert Counter(line == "-" for line in lines)[True] == len(lines) / 2
    depth = 0
    for line in lines:
        depth += -1 if line == "-" else 1
        assert depth >= 0
    for cell in reported["cells"]:
        assert lines.count(f"dlbench:{cell['name']} bytes={SIZE}") == 1
    exchanges = lines.count(f"dlbench:exchange bytes={SIZE}")
    assert exchanges == TIMES * len(reported["cells"])
    for phase in ("export", "import", "release"):
        assert f"dlbench:{phase} bytes={SIZE}" in lines


@pytest.mark.parametrize("name", places.ROCTX)
def test_roctx_is_found_by_each_of_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    library = ranges.build("roctx.cpp", tmp_path / "lib" / name)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(library.parent))
    assert profile(tmp_path, "native", "native")["listening"]["roctx"] == name


def test_the_roctx_that_a_tool_has_loaded_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening = ranges.build("roctx.cpp", tmp_path / "lib/libroctx64.so.4")
    ranges.build("roctx.cpp", tmp_path / "lib/librocprofiler-sdk-roctx.so.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(listening.parent))
    monkeypatch.setenv("LD_PRELOAD", str(listening))
    assert profile(tmp_path, "native", "native")["listening"]["roctx"] == listening.name


def test_without_roctx_it_says_so(tmp_path: Path) -> None:
    assert profile(tmp_path, "native", "numpy")["listening"]["roctx"] == "no library"


def test_an_interrupted_profile_keeps_what_it_has(tmp_path: Path) -> None:
    slow = "import time\nimport numpy as np\nDISTRIBUTION = None\n"
    slow += "def take(x):\n    open('reached', 'w').close()\n    time.sleep(60)\n"
    whole.plant(tmp_path / "more", "slow", take=slow + "PROTOCOLS = {'dlpack': take}\n")
    words = (
        "--matrix",
        "--producers",
        "native",
        "--consumers",
        "native,slow",
        "--adapters",
        "more",
    )
    process = whole.start(tmp_path, *words, *WORDS, "--profile", "--out", "run")
    deadline = time.monotonic() + 60
    while not (tmp_path / "reached").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "dlbench: interrupted; the exchanges profiled so far are written\n"
    reported = json.loads((tmp_path / "run/profile.json").read_text())
    assert {cell["consumer"] for cell in reported["cells"] if "ranges" in cell} == {"native"}
    assert json.loads((tmp_path / "run/trace.json").read_text())["traceEvents"]
    assert whole.left_alive(tmp_path) == []


def test_doctor_tells_what_ranges_need(tmp_path: Path) -> None:
    status, out, _ = whole.run(tmp_path, "doctor")
    assert status == 0
    lines = {line.split()[0]: line for line in out.splitlines()[1:] if line.strip()}
    assert _core.nvtx in lines["nvtx"] if _core.nvtx else "built without" in lines["nvtx"]
    assert "roctx" in lines
    assert "cupti" in lines
