"""The recorder of driver calls, and the fake drivers compared with its traces."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fakes

HERE = Path(__file__).resolve().parents[2] / "recorder"
#: Traces of real drivers.
KEPT = sorted((HERE / "traces").glob("*.jsonl.xz"))
FOLDER = fakes.FOLDER.parent / "recorder" if fakes.FOLDER else Path("absent")
RECORDER = FOLDER / "dlbench_recorder.so"
REPLAY = FOLDER / "replay"
LONGEST_S = 120

pytestmark = [
    pytest.mark.skipif(
        not RECORDER.exists(), reason="DLBENCH_FAKES names no build with -DDLBENCH_FAKE_DRIVERS=ON"
    ),
    pytest.mark.process,
]

Line = dict[str, Any]

# Calls of the driver through ctypes; each test appends what it does with them.
DRIVER = """
import ctypes, os, sys, threading, time
driver = ctypes.CDLL("libcuda.so.1")
get = driver.cuGetProcAddress
get.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_uint64]

def call(name, *arguments):
    address = ctypes.c_void_p()
    assert get(name.encode(), ctypes.byref(address), 11040, 0) == 0
    return ctypes.CFUNCTYPE(ctypes.c_int)(address.value)(*arguments)

def enter():
    context = ctypes.c_void_p()
    assert call("cuInit", 0) == 0
    assert call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0) == 0
    assert call("cuCtxSetCurrent", context) == 0

def use():
    made = ctypes.c_uint64()
    stream = ctypes.c_void_p()
    assert call("cuMemAlloc", ctypes.byref(made), ctypes.c_size_t(4096)) == 0
    assert call("cuStreamCreate", ctypes.byref(stream), 1) == 0
    inside = ctypes.c_uint64(made.value + 64)
    assert call("cuMemsetD32Async", inside, 7, ctypes.c_size_t(4), stream) == 0
    assert call("cuStreamSynchronize", stream) == 0
    assert call("cuStreamDestroy", stream) == 0
    assert call("cuMemFree", made) == 0
"""


def environment(folder: Path, **more: str) -> dict[str, str]:
    recorder = {"LD_AUDIT": str(RECORDER), "DLBENCH_RECORD": str(folder)}
    return fakes.environment(**{**recorder, **more})


def record(
    folder: Path, *words: str, script: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    ended = subprocess.run(
        words or [sys.executable, "-c", DRIVER + script],
        env=environment(folder, **more), capture_output=True, text=True, timeout=LONGEST_S,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended


def read(trace: Path) -> list[Line]:
    text = trace.read_bytes().partition(b"\0")[0]
    assert text.endswith(b"\n")
    return [json.loads(line) for line in text.decode().splitlines()]


def calls(trace: Path, *, entries: bool = False) -> list[Line]:
    """Without the look-ups of functions, unless these are asked for."""
    lines = [line for line in read(trace) if "call" in line]
    return [line for line in lines if entries or "GetProcAddress" not in line["call"]]


def one_trace(folder: Path) -> Path:
    (trace,) = folder.glob("*.jsonl")
    return trace


def replay(trace: Path, *words: str, **more: str) -> tuple[int, str]:
    ended = subprocess.run(
        [str(REPLAY), str(trace), *words],
        env=fakes.environment(**more), capture_output=True, text=True, timeout=LONGEST_S,
    )  # fmt: skip
    return ended.returncode, ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driven")
    record(folder, script="enter(); use(); use()")
    return one_trace(folder)


def test_a_line_has_the_call_its_time_its_arguments_and_its_result(driven: Path) -> None:
    head, library, *_ = read(driven)
    assert head["trace"] == 1
    assert head["unit"] == "ns"
    assert library == {"library": str(fakes.FOLDER / "libcuda.so.1")}  # type: ignore[operator]
    observed = [(line["call"], line["arguments"], line["result"]) for line in calls(driven)]
    use = [
        ("cuMemAlloc", [["h2"], 4096], 0),
        ("cuStreamCreate", [["h3"], 1], 0),
        ("cuMemsetD32Async", ["h2+64", 7, 4, "h3"], 0),
        ("cuStreamSynchronize", ["h3"], 0),
        ("cuStreamDestroy", ["h3"], 0),
        ("cuMemFree", ["h2"], 0),
    ]
    begin = [("cuInit", [0], 0), ("cuDevicePrimaryCtxRetain", [["h1"], 0], 0)]
    assert observed[:9] == [*begin, ("cuCtxSetCurrent", ["h1"], 0), *use]
    # A handle is numbered when it is made, whatever address it has.
    again = json.loads(json.dumps(use).replace("h3", "h5").replace("h2", "h4"))
    assert [list(call) for call in observed[9:]] == again
    times = [(line["at"], line["took"]) for line in calls(driven)]
    assert all(took > 0 for _, took in times)
    assert all(at + took <= later for (at, took), (later, _) in itertools.pairwise(times))
    assert {line["thread"] for line in calls(driven)} == {1}
    assert calls(driven)[3]["alignment"] >= 256


def test_two_traces_of_one_program_are_alike(driven: Path, tmp_path: Path) -> None:
    record(tmp_path / "again", script="enter(); use(); use()")

    def lasting(trace: Path) -> list[Line]:
        changing = ("at", "took", "alignment")
        return [{k: v for k, v in line.items() if k not in changing} for line in read(trace)[1:]]

    assert lasting(one_trace(tmp_path / "again")) == lasting(driven)


@pytest.mark.parametrize("kind", ["cuda", "rocm"])
def test_a_run_of_dlbench_replays_without_a_difference(kind: str, tmp_path: Path) -> None:
    """Of all processes of a run; their kernels, modules and threads included."""
    words = ["native", "native", "--devices", f"{kind}:0", "--sizes", "4KiB", "--no-plots"]
    more = ["--protocols", "dlpack", "--sync", "--out", str(tmp_path / "run")]
    record(tmp_path / "traces", sys.executable, "-m", "dlbench", *words, *more)
    launched = 0
    traces = sorted((tmp_path / "traces").glob("*.jsonl"))
    for trace in traces:
        status, message = replay(trace, "--values", "all")
        assert status == 0, message
        assert "not replayed" not in message
        launched += sum("LaunchKernel" in line["call"] for line in calls(trace))
    assert len(traces) >= 2
    assert launched


def test_a_library_that_is_not_dlbenchs_is_recorded(tmp_path: Path) -> None:
    pytest.importorskip("cuda.core")
    script = Path(__file__).parents[1] / "use_cuda_libraries.py"
    record(tmp_path, sys.executable, str(script), "cuda-core")
    trace = one_trace(tmp_path)
    names = {line["call"] for line in calls(trace)}
    assert names >= {"cuInit", "cuDevicePrimaryCtxRetain", "cuStreamWaitEvent", "cuMemcpyAsync"}
    given = [line for line in calls(trace, entries=True) if line["call"] == "cuGetProcAddress_v2"]
    # What dlbench has no prototype of is handed through, and its name is in the trace.
    unknown = {line["arguments"][0] for line in given if not line["recorded"]}
    assert "cuStreamCreateWithPriority" in unknown
    status, message = replay(trace)
    assert status == 0, message
    assert "no recorded function made" in message


def test_a_function_of_another_prototype_is_handed_through(tmp_path: Path) -> None:
    script = """
enter()
found = {}
for version in (11040, 13000):
    found[version] = ctypes.c_void_p()
    assert get(b"cuCtxSynchronize", ctypes.byref(found[version]), version, 0) == 0
context = ctypes.c_void_p()
assert call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0) == 0
of_thread = ctypes.CFUNCTYPE(ctypes.c_int)(found[11040].value)
of_context = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(found[13000].value)
assert of_thread() == 0
assert of_context(context) == 0
"""
    record(tmp_path, script=script)
    lines = [line for line in calls(one_trace(tmp_path), entries=True) if line["arguments"]]
    requested = [line for line in lines if line["arguments"][0] == "cuCtxSynchronize"]
    recorded = {line["arguments"][2]: line["recorded"] for line in requested}
    assert recorded == {11040: True, 13000: False}
    observed = [line["call"] for line in calls(one_trace(tmp_path))]
    assert observed.count("cuCtxSynchronize") == 1


def change(trace: Path, out: Path, name: str, edit: Callable[[Line], None]) -> Path:
    """A copy with the first line of that call edited."""
    lines = read(trace)
    edit(next(line for line in lines if line.get("call") == name))
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return out


def fail(line: Line) -> None:
    line["result"] = 700


def lack(line: Line) -> None:
    line["arguments"][1] = [False]
    line["result"] = 500


def empty(line: Line) -> None:
    line["arguments"][0] = [None]


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("cuStreamSynchronize", fail, "result: the trace has 700, this driver 0"),
        ("cuGetProcAddress", lack, "function: the trace has false, this driver true"),
        ("cuStreamCreate", empty, "argument 1 is null in the trace"),
    ],
)
def test_a_changed_line_is_a_difference_that_names_the_call(
    name: str, edit: Callable[[Line], None], message: str, driven: Path, tmp_path: Path
) -> None:
    changed = change(driven, tmp_path / "changed.jsonl", name, edit)
    status, text = replay(changed)
    assert status == 1, text
    assert f", {name}: {message}" in text


def test_a_driver_that_fails_where_the_trace_does_not_is_a_difference(driven: Path) -> None:
    status, message = replay(driven, DLBENCH_FAKE_FAIL="cuStreamCreate=2@2")
    assert status == 1, message
    assert "cuStreamCreate: result: the trace has 0, this driver 2" in message
    assert "not replayed, 1 times: cuStreamDestroy: no recorded function made h5" in message


def test_an_event_is_compared_only_where_its_record_was_replayed(tmp_path: Path) -> None:
    script = """
enter()
stream, begin, end, spent = (ctypes.c_void_p() for _ in range(4))
assert call("cuStreamCreate", ctypes.byref(stream), 1) == 0
assert call("cuEventCreate", ctypes.byref(begin), 0) == 0
assert call("cuEventCreate", ctypes.byref(end), 0) == 0
assert call("cuEventRecord", begin, stream) == 0
assert call("cuEventRecord", end, stream) == 0
assert call("cuStreamSynchronize", stream) == 0
assert call("cuEventElapsedTime", ctypes.byref(spent), begin, end) == 0
"""
    record(tmp_path / "traces", script=script)
    trace = one_trace(tmp_path / "traces")
    status, message = replay(trace)
    assert (status, "not replayed" in message) == (0, False)

    def elsewhere(line: Line) -> None:
        line["arguments"][1] = "p1"

    changed = change(trace, tmp_path / "changed.jsonl", "cuEventRecord", elsewhere)
    status, message = replay(changed)
    assert status == 0, message
    stale = "its event was recorded by a call that was not replayed"
    assert f"not replayed, 1 times: cuEventElapsedTime: {stale}" in message


def test_values_are_compared_where_they_are_requested(tmp_path: Path) -> None:
    script = """
enter()
value = ctypes.c_int()
assert call("cuDeviceGetAttribute", ctypes.byref(value), 75, 0) == 0
made, kind, managed = ctypes.c_uint64(), ctypes.c_uint(), ctypes.c_uint(9)
assert call("cuMemAlloc", ctypes.byref(made), ctypes.c_size_t(4096)) == 0
wanted = (ctypes.c_int * 2)(2, 8)
answers = (ctypes.c_void_p * 2)(ctypes.addressof(kind), ctypes.addressof(managed))
assert call("cuPointerGetAttributes", 2, wanted, answers, made) == 0
"""
    record(tmp_path / "traces", script=script)
    trace = one_trace(tmp_path / "traces")
    (attributes,) = [x for x in calls(trace) if x["call"] == "cuPointerGetAttributes"]
    assert attributes["arguments"] == [2, [2, 8], [2, 0], "h2"]
    assert replay(trace, "--values", "all")[0] == 0

    def older(line: Line) -> None:
        line["arguments"][0] = [line["arguments"][0][0] - 1]

    def pinned(line: Line) -> None:
        line["arguments"][2][0] = 1

    for name, edit, message in (
        ("cuDeviceGetAttribute", older, "argument 1: the trace has 8, this driver 9"),
        ("cuPointerGetAttributes", pinned, "argument 3[0]: the trace has 1, this driver 2"),
    ):
        changed = change(trace, tmp_path / f"{name}.jsonl", name, edit)
        assert replay(changed)[0] == 0
        status, text = replay(changed, "--values", name)
        assert status == 1
        assert f"{name}: {message}" in text


LESSER = """
extern "C" int cuMemAlloc(unsigned long long* made, unsigned long) { return *made = 0x1010, 0; }
extern "C" int cuInit(unsigned) { return 0; }
extern "C" int cuGetProcAddress(const char* name, void** function, int, unsigned long long) {
  const bool allocates = name[2] == 'M' && name[5] == 'A' && name[10] == 0;
  *function = allocates ? (void*)&cuMemAlloc : name[2] == 'I' ? (void*)&cuInit : nullptr;
  return *function == nullptr ? 500 : 0;
}
"""


def test_a_driver_that_has_or_aligns_less_differs(driven: Path, tmp_path: Path) -> None:
    source = tmp_path / "lesser.cpp"
    source.write_text(LESSER)
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    status, message = replay(driven, LD_LIBRARY_PATH=str(tmp_path))
    assert status == 1
    assert ", cuMemAlloc: alignment: the trace has 256, this driver 16" in message
    assert ", cuGetProcAddress: function: the trace has true, this driver false" in message
    assert ", cuDevicePrimaryCtxRetain: function: the trace has true, this driver false" in message


def test_nothing_replayed_is_no_success(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    head = '{"trace":1}\n'
    call = {"call": "cuUnknown", "at": 0, "thread": 1, "arguments": [], "result": 0}
    trace.write_text(head + json.dumps(call) + "\n")
    status, message = replay(trace)
    assert status == 2
    assert "cuUnknown: dlbench has no prototype of cuUnknown" in message
    assert "0 calls replayed, 0 differences" in message
    trace.write_text('{"trace":2}\n')
    status, message = replay(trace)
    assert status == 2
    assert "no trace of version 1" in message


def test_a_killed_process_leaves_each_call_that_had_ended(tmp_path: Path) -> None:
    tmp_path.joinpath("traces").mkdir()
    script = DRIVER + "enter()\nfor _ in range(1000): use(); os.write(1, b'.')\ntime.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment(tmp_path / "traces"), stdout=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert child.stdout
        used = len(child.stdout.read(1))
        time.sleep(0.2)
        child.send_signal(signal.SIGKILL)
        used += len(child.stdout.read())
    trace = one_trace(tmp_path / "traces")
    ended = sum(line["call"] == "cuMemFree" for line in calls(trace))
    assert used <= ended <= used + 1
    status, message = replay(trace, "--values", "all")
    assert status == 0, message


def test_a_forked_child_has_a_trace_of_its_own(tmp_path: Path) -> None:
    script = """
enter()
if os.fork() == 0:
    call("cuCtxSynchronize")
    os._exit(0)
os.wait()
use()
"""
    record(tmp_path, script=script)
    traces = sorted(tmp_path.glob("*.jsonl"), key=lambda trace: len(read(trace)))
    child, parent = (calls(trace) for trace in traces)
    assert [line["call"] for line in child] == ["cuCtxSynchronize"]
    assert [line["call"] for line in parent][-1] == "cuMemFree"
    assert "cuCtxSynchronize" not in {line["call"] for line in parent}


def test_threads_are_distinguished_and_replayed_in_threads(tmp_path: Path) -> None:
    script = """
enter()
def work():
    enter()
    for _ in range(50): use()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    record(tmp_path, script=script)
    trace = one_trace(tmp_path)
    assert {line["thread"] for line in calls(trace)} == {1, 2, 3, 4, 5}
    assert sum(line["call"] == "cuMemFree" for line in calls(trace)) == 200
    status, message = replay(trace, "--values", "all")
    assert status == 0, message


def test_a_full_trace_ends_with_a_line_that_says_so(tmp_path: Path) -> None:
    record(tmp_path, script="enter()\nfor _ in range(20): use()", DLBENCH_RECORD_LIMIT="50")
    lines = read(one_trace(tmp_path))
    assert len(lines) == 52
    assert lines[-1] == {"full": True}
    assert replay(one_trace(tmp_path))[0] == 0


def test_without_a_folder_the_program_runs_as_ever(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    record(tmp_path, script="enter(); use()", DLBENCH_RECORD="")
    assert not list(tmp_path.glob("**/*.jsonl"))
    ended = record(tmp_path, script="enter(); use()", DLBENCH_RECORD=str(tmp_path / "absent"))
    assert "absent: No such file or directory" in ended.stderr


def test_the_traces_of_a_folder_fit_into_one_file(driven: Path, tmp_path: Path) -> None:
    out = tmp_path / "traces.jsonl.xz"
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("1.jsonl", "2.jsonl"):
        (folder / name).write_bytes(driven.read_bytes())
    ended = subprocess.run(
        [sys.executable, str(HERE / "pack.py"), str(folder), str(out)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert ended.stdout == "2 traces\n", ended.stderr
    assert out.stat().st_size < 10_000
    first, second = unpack(out)
    assert first == second == driven.read_bytes().partition(b"\0")[0].decode()


def unpack(packed: Path) -> list[str]:
    sys.path.insert(0, str(HERE))
    try:
        import pack

        return list(pack.unpack(packed))
    finally:
        sys.path.remove(str(HERE))


def test_the_fake_does_what_a_real_driver_did(tmp_path: Path) -> None:
    assert KEPT
    for packed in KEPT:
        statuses = set()
        for number, text in enumerate(unpack(packed)):
            trace = tmp_path / f"{packed.name}-{number}.jsonl"
            trace.write_text(text)
            status, message = replay(trace)
            assert status != 1, f"{packed.name}, process {number}: {message}"
            statuses.add(status)
        assert 0 in statuses, packed.name


def test_the_recorder_builds_with_a_compiler_alone(tmp_path: Path) -> None:
    """The command of its README: on a machine with a GPU there may be no CMake."""
    readme = (HERE / "README.md").read_text().replace("\\\n", " ")
    (command,) = [line for line in readme.splitlines() if line.startswith("g++ ")]
    words = command.replace("/tmp/dlbench_recorder.so", str(tmp_path / "recorder.so")).split()
    ended = subprocess.run(
        words, cwd=HERE.parents[1], capture_output=True, text=True, timeout=LONGEST_S
    )
    assert ended.returncode == 0, ended.stderr
    folder = tmp_path / "traces"
    record(folder, script="enter(); use()", LD_AUDIT=str(tmp_path / "recorder.so"))
    assert calls(one_trace(folder))
