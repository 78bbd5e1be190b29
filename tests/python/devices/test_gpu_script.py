"""`tests/gpu/run` itself, on the fake drivers: stages, limits, what a killed run leaves."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import lzma
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fakes
from whole import left_alive

pytestmark = pytest.mark.process

GPU = Path(__file__).resolve().parents[2] / "gpu"
RECORDER = str(fakes.FOLDER.parent / "recorder/dlbench_recorder.so") if fakes.FOLDER else ""
FILES = [
    *("1-driver.txt", "2-imports.txt", "3-native.txt", "4-libraries.txt", "5-sync.txt"),
    *("6-check.txt", "7-calls.txt", "8-capture.txt", "9-matrix.txt"),
]


@pytest.fixture(scope="module")
def stages() -> ModuleType:
    sys.path.append(str(GPU))  # the script's own folder, where it finds its other modules
    spec = importlib.util.spec_from_file_location("gpu_stages", GPU / "stages.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["gpu_stages"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def started(folder: Path, seconds: int, **more: str) -> Iterator[subprocess.Popen[str]]:
    """The script at work in a folder, and ended with all that it started."""
    (folder / "tmp").mkdir()
    environment = fakes.environment(
        TMPDIR=str(folder / "tmp"),
        DLBENCH_GPU_SECONDS=str(seconds),
        DLBENCH_TEST_MARK=str(folder),
        **{
            "PYTHON": sys.executable,
            "DLBENCH_GPU_LIBRARIES": "native",
            "DLBENCH_GPU_RECORDER": RECORDER,
            "DLBENCH_FAKE_MEMORY_MB": "1024",  # it measures arrays of 64 MiB
            **more,
        },
    )
    process = subprocess.Popen(
        [str(GPU / "run"), "out"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        kill_all(folder)
        process.wait()
        assert process.stdout
        process.stdout.close()


def kill_all(folder: Path) -> None:
    """SIGKILL to each process that a script in this folder started."""
    mark = f"DLBENCH_TEST_MARK={folder}".encode()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            number = int(entry.name)
            if mark in (entry / "environ").read_bytes().split(b"\0") and number != os.getpid():
                os.kill(number, signal.SIGKILL)


def lines(file: Path) -> list[str]:
    """Those that state a verdict."""
    words = ("pass", "fail", "skip", "inconclusive", "finding")
    return [text for text in file.read_text().splitlines() if text.split(" ", 1)[0] in words]


def is_complete(file: Path) -> bool:
    return any(text.startswith("--- ") for text in file.read_text().splitlines())


@fakes.needs_fakes
@pytest.mark.parametrize("device", ["cuda:0", pytest.param("rocm:0", marks=pytest.mark.thorough)])
def test_a_dry_run_on_the_fake_driver(tmp_path: Path, device: str) -> None:
    """What is there as a stage begins is what SIGKILL would leave at that moment: bytes in a
    process's own buffers are not in the files."""
    began = time.monotonic()
    left, text = list[list[str]](), ""
    with started(tmp_path, 300, DLBENCH_GPU_DEVICE=device) as process:
        assert process.stdout
        limit = threading.Timer(350, process.kill)
        limit.start()
        for line in process.stdout:
            text += line
            if line.startswith(f"--- stage {len(left) + 1},"):
                files = [tmp_path / "out" / name for name in FILES]
                left.append([file.name for file in files if file.exists() and is_complete(file)])
        process.wait(timeout=20)
        limit.cancel()
    assert time.monotonic() - began < 300 + 20
    assert len(left) == len(FILES)
    for number, complete in enumerate(left):
        assert complete[:number] == FILES[:number], text
        # A stage without a run that fits into its time is over at once.
        for name in complete[number:]:
            assert all(each.startswith("skip ") for each in lines(tmp_path / "out" / name)), text
    out = tmp_path / "out"
    assert lines(out / FILES[0])[0].startswith("pass          install: ")
    files = sorted(str(file.relative_to(out)) for file in out.rglob("*") if file.is_file())
    documents = {name for name in files if name.startswith("documents/")}
    assert {*files} - documents == {*FILES, "imports.json", "trace-native.jsonl.xz"}, text
    for kept in ("3-native-native", "5-sync-native-native", "6-check-native", "9-matrix-all"):
        document = lzma.decompress((out / f"documents/{kept}.json.xz").read_bytes())
        assert json.loads(document)["context"]["dlbench"]["schema"] == 1
    assert sum(file.stat().st_size for file in out.rglob("*.xz")) < 2 << 20
    found = [line for name in FILES for line in lines(out / name)]
    assert not [line for line in found if line.startswith("fail")], text
    assert process.returncode == 0, text
    for wanted in (
        f"device {device}: ",
        # What the fake drivers are made of: steps of 1 us, and 2 us for a pair of events.
        "timer step: multiples of 1000 ns; ",
        "empty event pair, stream held by a delay: median 2000 ns, ",
        "16 streams: ",
        "native dlpack, 4 KiB: call ",
        f"native {device}+cpu: ",
        "native -> native, control with stream -1: ",
        "import native: ",
        "trace native: ",
        "check native: ",
        "calls native: ",
        "matrix: ",
        "launch cuda_core:launch: " if device == "cuda:0" else "launches: it is for CUDA alone",
    ):
        assert [line for line in found if wanted in line], (wanted, text)
    assert all(is_complete(out / name) for name in FILES)


@fakes.needs_fakes
def test_a_device_that_fails_gives_lines_with_the_drivers_word(tmp_path: Path) -> None:
    with started(tmp_path, 60, DLBENCH_FAKE_FAIL="cuMemAlloc=2") as process:
        text, _ = process.communicate(timeout=90)
    assert process.returncode == 1, text
    failed = [line for line in lines(tmp_path / "out/3-native.txt") if line.startswith("fail")]
    assert any("native dlpack, 4 KiB" in line and "OUT_OF_MEMORY (2)" in line for line in failed)


@fakes.needs_fakes
@pytest.mark.parametrize("hangs", ["cuInit=-19", "cuEventElapsedTime=-19"])
def test_a_stage_that_hangs_ends_by_its_limit(tmp_path: Path, hangs: str) -> None:
    began = time.monotonic()
    with started(tmp_path, 40, DLBENCH_FAKE_FAIL=hangs) as process:
        text, _ = process.communicate(timeout=90)
        assert time.monotonic() - began < 40 + 20, text
        assert not left_alive(tmp_path)
    assert not list((tmp_path / "tmp").iterdir())
    assert process.returncode == 1, text
    stage = (tmp_path / "out/1-driver.txt").read_text()
    assert "limit" in stage
    # What it saw before it hung was written at once.
    assert ("pass          driver: " in stage) == (hangs != "cuInit=-19")
    assert [name for name in FILES if is_complete(tmp_path / "out" / name)] == FILES


def find_stage(folder: Path, name: str) -> int:
    """The process of a stage of the script in this folder."""
    mark = f"DLBENCH_TEST_MARK={folder}".encode()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                is_guarded = mark in (entry / "environ").read_bytes().split(b"\0")
                if is_guarded and words[2:4] == [b"stage", name.encode()]:
                    return int(entry.name)
    raise AssertionError(f"no process of stage {name}")


@fakes.needs_fakes
def test_a_stage_that_stands_still_ends_by_its_limit(tmp_path: Path) -> None:
    with started(tmp_path, 150):  # of which stage 1 gets 11
        os.kill(find_stage(tmp_path, "driver"), signal.SIGSTOP)
        file = tmp_path / "out/1-driver.txt"
        deadline = time.monotonic() + 40
        while not is_complete(file) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert "fail          driver: ended by the stage's limit of 11 s" in file.read_text()


@fakes.needs_fakes
@pytest.mark.parametrize("number", [1, 3])
def test_a_signal_to_the_script_ends_the_stage_that_runs(tmp_path: Path, number: int) -> None:
    with started(tmp_path, 100) as process:
        assert process.stdout
        for line in process.stdout:
            if line.startswith(f"--- stage {number},"):
                break
        time.sleep(1)  # into the middle of it
        process.terminate()
        process.wait(timeout=20)
        assert not left_alive(tmp_path)
    assert process.returncode == 128 + signal.SIGTERM
    assert not list((tmp_path / "tmp").iterdir())
    out = tmp_path / "out"
    assert {file.name for file in out.iterdir()} <= {*FILES[:number], "imports.json", "documents"}
    assert is_complete(out / FILES[0]) == (number > 1)
    observed = lines(out / FILES[number - 1])
    assert observed[-1].endswith(": ended by SIGTERM")
    assert observed[-1].startswith("inconclusive ")
    if number == 1:
        assert observed[0].startswith("pass          install: ")


def python_but(folder: Path, *branches: str) -> str:
    """An interpreter that does something else where a branch of `case` fits its arguments."""
    python = folder / "python"
    lines = ["#!/bin/sh", 'case "$*" in', *branches, f'*) exec {sys.executable} "$@" ;;', "esac"]
    python.write_text("\n".join(lines) + "\n")
    python.chmod(0o755)
    return str(python)


@fakes.needs_fakes
def test_a_signal_ends_an_installation_too(tmp_path: Path) -> None:
    python = python_but(
        tmp_path,
        '*"import dlbench"*) exit 1 ;;',
        f"*venv*) touch {tmp_path}/installs; sleep 100 & wait ;;",
    )
    with started(tmp_path, 100, PYTHON=python) as process:
        deadline = time.monotonic() + 20
        while not (tmp_path / "installs").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.terminate()
        process.wait(timeout=20)
        assert not left_alive(tmp_path)
    assert process.returncode == 128 + signal.SIGTERM
    assert not list((tmp_path / "tmp").iterdir())


def test_an_install_that_cannot_be_imported_is_the_first_failure(tmp_path: Path) -> None:
    """As a wheel without a library of the machine that it was built on."""
    message = "ImportError: libfake.so.1: cannot open"
    python = python_but(tmp_path, f'*"import dlbench._core"*) echo "{message}" >&2; exit 1 ;;')
    with started(tmp_path, 100, PYTHON=python) as process:
        process.wait(timeout=60)
    assert process.returncode == 1
    (line,) = lines(tmp_path / "out" / FILES[0])
    assert line.startswith("fail          install: ")
    assert line.endswith(": ImportError: libfake.so.1: cannot open")
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (["zero-copy", "no-device"], "pass"),
        # What a build for the CPU alone leaves.
        (["no-device", "no-device"], "skip"),
        (["no-device", "crashed"], "fail"),
        (["not-run", "not-run"], "inconclusive"),
        (["not-run", "no-protocol"], "inconclusive"),
        (["no-device", "no-protocol"], "skip"),
        (["no-protocol", "no-protocol"], "fail"),
    ],
)
def test_a_library_without_the_device_is_skipped(
    stages: ModuleType, outcomes: list[str], verdict: str
) -> None:
    cell = {"clock": "call", "device": "cuda:0", "protocol": "dlpack", "real_time": 1.0}
    cells = [{**cell, "outcome": outcome, "reason": "why"} for outcome in outcomes]
    assert stages.library_line("x", stages.Document(None, cells, {}))[0] == verdict


ROW = {
    "stream": -1,
    "requested_by": "dlbench",
    "reads_on": "own",
    "waits": "none",
    "content": "old",
}
OWN = {
    "stream": None,
    "requested_by": "consumer",
    "reads_on": "own",
    "expected": "order",
    "waits": "stream",
    "content": "new",
}


@pytest.mark.parametrize(
    ("own", "control", "verdicts"),
    [
        ({}, {}, ["pass", "pass"]),
        # A control that stays fresh: the streams were ordered by something else.
        ({}, {"waits": "stream", "content": "new"}, ["inconclusive", "inconclusive"]),
        ({"waits": "none", "content": "old"}, {}, ["pass", "finding"]),
        ({"waits": "wrong-stream", "content": "old"}, {}, ["pass", "finding"]),
        ({"waits": "inconclusive", "reason": "x"}, {}, ["pass", "inconclusive"]),
        ({"waits": "no-delay"}, {}, ["pass", "inconclusive"]),
        ({"waits": "host", "content": "new"}, {}, ["pass", "pass"]),
        ({"waits": "", "code": "argument-refused"}, {}, ["pass", "finding"]),
    ],
)
def test_order_counts_only_beside_a_control_with_power(
    stages: ModuleType, own: dict[str, Any], control: dict[str, Any], verdicts: list[str]
) -> None:
    found = stages.ordering("a", "b", stages.Document(None, [cell_of("a", "b", own, control)], {}))
    assert [verdict for verdict, _, _ in found] == verdicts


@pytest.mark.parametrize(("stream", "explained"), [("omitted", True), ("own", False)])
@pytest.mark.parametrize(("pair", "verdict"), [("native", "fail"), ("a", "finding")])
def test_only_dlbenchs_own_pair_must_not_fail(
    stages: ModuleType, pair: str, verdict: str, stream: str, *, explained: bool
) -> None:
    own = {"waits": "none", "content": "old", "stream": stream}
    document = stages.Document(None, [cell_of(pair, pair, own, {})], {})
    *_, (found, _, text) = stages.ordering(pair, pair, document)
    assert found == verdict
    assert (stages.DEFAULT_STREAM in text) == explained
    lost = {"outcome": "race", "reason": "x", "protocol": "dlpack", "device": "cuda:0"}
    cells = [{"producer": pair, "consumer": pair, **lost}]
    done = subprocess.CompletedProcess([], 0, "", "")
    *_, (found, _, _) = stages.matrix_lines(stages.Document(done, cells, {"benchmarks": []}))
    assert found == verdict


def cell_of(
    producer: str, consumer: str, own: dict[str, Any], control: dict[str, Any], **more: str
) -> dict[str, Any]:
    """A cell as --sync leaves it."""
    pair = {"producer": producer, "consumer": consumer}
    return {**pair, "sync": [OWN | own, ROW | control], **more}


def test_a_pair_is_reported_by_its_own_direction(stages: ModuleType) -> None:
    refused = {"waits": "none", "content": "old"}
    cells = [
        cell_of("a", "b", refused, {}, late_free="safe"),
        cell_of("b", "a", {}, {}, late_free="late"),
    ]
    document = stages.Document(None, cells, {})
    for pair, order, late in ((("a", "b"), "finding", "pass"), (("b", "a"), "pass", "finding")):
        found = list(stages.ordering(*pair, document))
        assert [verdict for verdict, _, _ in found] == ["pass", order, late]
        assert all(name.startswith(" -> ".join(pair)) for _, name, _ in found)
        assert ("record_stream" in found[-1][2]) == (late == "finding")


def test_a_run_gets_the_time_of_its_imports(stages: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "imports.json").write_text('{"torch": 5.0, "cupy": 20.0}')
    stage = stages.Stage(tmp_path / "4-x.txt", tmp_path, time.monotonic() + 200)
    pairs = [("torch", "torch"), ("torch", "cupy")]
    turns = [next(stage.each(stages.Turns(lambda pair=pair: [pair], 2))) for pair in pairs]
    assert [turn.import_s for turn in turns] == [10, 50]
    for turn in turns:
        assert turn.share > turn.import_s + float(turn.budget(4).rstrip("s"))
    assert turns[1].timeout() == "150s"


def test_a_run_that_does_not_fit_is_one_line(
    stages: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "imports.json").write_text('{"torch": 5.0, "cupy": 20.0}')
    stage = stages.Stage(tmp_path / "5-sync.txt", tmp_path, time.monotonic() + 60)
    runs = [("cupy", "torch"), ("torch", "native")]
    assert [turn.libraries for turn in stage.each(stages.Turns(lambda: runs, 3))] == [runs[1]]
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(
        "skip          sync cupy -> torch: needs 90 s: 15 s and 3.0 times the imports"
        " (cupy 20.0 s, torch 5.0 s); "
    )
    assert "DLBENCH_GPU_SECONDS" in line


def test_a_run_is_planned_by_what_earlier_ones_took(stages: ModuleType) -> None:
    turns = stages.Turns(lambda: [("native",), ("torch",), ("cupy",)], 3)
    seconds = {"native": 0.2, "torch": 5.0, "cupy": 20.0}
    turns.learn(0.2, 8.0)  # without imports: replaces the guess of 15 s
    assert turns.base_s == 10
    turns.learn(0.2, 4.0)  # the longest counts
    assert turns.base_s == 10
    turns.learn(5.0, 48.0)  # eight imports of 5 s beside the 8 s
    assert turns.imports == 10
    assert turns.need(seconds, ("cupy",)).least_s == 210
    assert "and 10.0 times the imports (cupy 20.0 s), as earlier runs took; " in turns.explain(
        seconds, ("cupy",), 100
    )


def test_earlier_stages_get_their_time_and_later_ones_the_rest(stages: ModuleType) -> None:
    plans = [plan for plan, _ in stages.STAGES.values()]
    needs = [plan.need({"native": 0.2}) for plan in plans]
    assert stages.first_limit(540, needs) >= needs[0].least_s
    turns = stages.Turns(lambda: [("a", "b")], 3)
    long = turns.need({"a": 20.0, "b": 5.0}, ("a", "b"))
    assert stages.first_limit(100, [long, long]) == long.least_s == 90
    assert stages.first_limit(50, [long, long]) == 50


BELOW = {
    **{"outcome": "unsupported", "found": "zero-copy", "below_ns": 20.0},
    "reason": "below-resolution: 20 ns",
}


def test_memory_whose_time_is_below_the_resolution_is_what_was_found(stages: ModuleType) -> None:
    cells = [BELOW, {"outcome": "zero-copy"}]
    line = stages.special_memory("f32-pinned", cells)
    assert line == ("pass", "native f32-pinned", "zero-copy")


REASON = {"outcome": "timed-out", "reason": "no answer"}


@pytest.mark.parametrize(
    ("cells", "last", "text"),
    [
        ([BELOW, REASON], "x\nended by the limit of 9 s", "ended by the limit of 9 s"),
        ([BELOW, REASON], "x", "timed-out: no answer"),
        ([BELOW, {"warnings": [{"code": "sync-failed", "text": "why"}]}, REASON], "x", "why"),
        ([BELOW], "x", "x"),
    ],
)
def test_a_line_names_the_cause(
    stages: ModuleType, cells: list[dict[str, Any]], last: str, text: str
) -> None:
    pair = {"producer": "a", "consumer": "b"}
    done = subprocess.CompletedProcess([], 0, "", last)
    found = stages.Document(done, [{**pair, **cell} for cell in cells], {})
    assert list(stages.ordering("a", "b", found)) == [("inconclusive", "a -> b", text)]


SLOW = """
import time
from pathlib import Path

time.sleep({seconds})
exec(compile(Path({double!r}).read_text(), {double!r}, "exec"))
"""


@fakes.needs_fakes
@pytest.mark.skipif("DLBENCH_SLOW_IMPORTS" not in os.environ, reason="takes up to nine minutes")
@pytest.mark.parametrize("device", ["cuda:0", "rocm:0"])
def test_imports_and_large_devices_empty_no_stage(device: str, tmp_path: Path) -> None:
    """$DLBENCH_SLOW_IMPORTS: seconds of both imports and of the whole run, such as 5,20,540."""
    requested = os.environ["DLBENCH_SLOW_IMPORTS"]
    torch_s, cupy_s, total = map(float, requested.split(","))
    doubles = Path(__file__).parents[1] / "doubles"
    (tmp_path / "slow").mkdir()
    for name, seconds in (("torch", torch_s), ("cupy", cupy_s)):
        text = SLOW.format(seconds=seconds, double=str(doubles / f"modules/{name}.py"))
        (tmp_path / f"slow/{name}.py").write_text(text)
    more = {
        "DLBENCH_GPU_DEVICE": device,
        "DLBENCH_DOUBLE_HIP": str(int(device == "rocm:0")),
        "DLBENCH_GPU_LIBRARIES": "native,torch,cupy",
        "DLBENCH_FAKE_MEMORY_MB": "81920",
        "PYTHONPATH": f"{tmp_path / 'slow'}:{doubles}:{doubles.parent}",
    }
    with started(tmp_path, int(total), **more) as process:
        text, _ = process.communicate(timeout=total + 60)
    found = [line for name in FILES for line in lines(tmp_path / "out" / name)]
    print(text)
    imports = json.loads((tmp_path / "out/imports.json").read_text())
    assert torch_s <= imports["torch"] < cupy_s <= imports["cupy"]
    for wanted in (
        *("library torch: dlpack zero-copy ", "library cupy: dlpack zero-copy "),
        *(f"{pair}, stream own from consumer, on own: stream"
          for pair in ("torch -> cupy", "cupy -> torch")),
        *("check torch: ", "check cupy: "),
    ):  # fmt: skip
        assert [line for line in found if wanted in line], (wanted, text)
    # A run that does not fit is skipped as a whole: one that starts has its time.
    for line in found:
        assert "ended by" not in line, text
        assert not line.startswith("inconclusive") or " below " not in line, text
        assert "budget" not in line, text


@pytest.mark.parametrize(
    ("rows", "verdict", "text"),
    [
        ([(True, True, "01"), (True, True, "10")], "pass", "2 of 2 ordered pairs"),
        ([(True, True, "00"), (True, True, "10")], "inconclusive", "1 waits for 0"),
        ([(True, False, "11"), (True, True, "10")], "inconclusive", "control failed"),
        ([(False, True, "01"), (True, True, "10")], "inconclusive", "ended before the host"),
    ],
)
def test_streams_are_independent_only_beside_a_control_with_power(
    stages: ModuleType, rows: list[tuple[bool, bool, str]], verdict: str, text: str
) -> None:
    found, _, words = sys.modules["device_steps"].independence("2 streams", rows)
    assert (found, text in words) == (verdict, True), words


@fakes.needs_fakes
@pytest.mark.parametrize("kind", ["cuda", "rocm"])
@pytest.mark.parametrize(
    ("queues", "verdict", "text"),
    [("0", "pass", "56 of 56 ordered pairs"), ("4", "inconclusive", "4 waits for 0")],
)
def test_streams_that_share_a_hardware_queue_are_found(
    stages: ModuleType, kind: str, queues: str, verdict: str, text: str
) -> None:
    code = f"from dlbench import _device; print(_device.stream_order({kind!r}, 0, 8, 20_000_000))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=fakes.environment(DLBENCH_FAKE_QUEUES=queues),
        check=True,
    )
    found, _, words = sys.modules["device_steps"].independence(
        "8 streams", ast.literal_eval(done.stdout)
    )
    assert (found, text in words) == (verdict, True), words


def script(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(GPU / "run"), *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHON": sys.executable, **more},
        check=False,
    )


def test_a_wheel_must_fit_the_interpreter(tmp_path: Path) -> None:
    ours = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    (tmp_path / "dlbench-0.1.0-cp27-cp27m-linux_x86_64.whl").touch()
    done = script(str(tmp_path), str(tmp_path / "out"))
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert f"no wheel for Python {sys.version_info[0]}.{sys.version_info[1]}" in line
    assert "cp27" in line
    assert "pip wheel" in line
    fitting = tmp_path / f"dlbench-0.1.0-{ours}-{ours}-linux_{os.uname().machine}.whl"
    fitting.touch()
    chosen = subprocess.run(
        [sys.executable, str(GPU / "stages.py"), "wheel", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert chosen.stdout.strip() == str(fitting)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--gpu"], "unknown option '--gpu'; expected [WHEEL] [OUT] or --help"),
        (["nothing.whl"], "no wheel at nothing.whl"),
        (["one", "two"], "too many arguments"),
        (["/etc"], "/etc is not empty"),
    ],
)
def test_wrong_usage_is_one_line(words: list[str], text: str) -> None:
    done = script(*words)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert text in line


def test_the_help_names_the_files() -> None:
    done = script("--help")
    assert done.returncode == 0
    for name in (*FILES, "imports.json", "documents/"):
        assert name in done.stdout
