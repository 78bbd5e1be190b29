"""The first run on a machine with a GPU, in stages.

Usage: stages.py OUT runs all stages; `tests/gpu/run` says what it writes and reads.
       stages.py wheel PATH prints the wheel in a file or folder that fits this interpreter.
       stages.py stage NAME OUT SECONDS runs one stage: what the first form starts.

Each stage is a process with a limit. It writes each line to its file before it goes on, so that a
run that is killed leaves what was seen.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from device_steps import BUSY_NS, driver, event_zero, query_device, streams, timer
from planning import IMPORTS, TOTAL_S, Plan, Turn, Turns, first_limit, import_seconds
from work import (
    CUDA_ONLY,
    DEVICE,
    KIND,
    LIBRARIES,
    LIMIT,
    MODULES,
    NUMBER,
    PLAIN,
    VERDICTS,
    Document,
    Entry,
    Line,
    Stage,
    cause,
    last_line,
    libraries,
    shown,
    why,
    write,
)  # fmt: skip

PAIRS = (
    ("native", "native"),
    ("torch", "torch"),
    ("torch", "cupy"),
    ("cupy", "torch"),
    ("torch", "native"),
    ("jax", "torch"),
)
PROTOCOLS = "dlpack,dlpack_c,cuda_array_interface"
#: Libraries that are checked, and of which calls are counted and traced.
EXAMINED = ("native", "torch", "cupy", "jax")
#: Why an AMD device skips a line.
ONLY_CUDA = "it is for CUDA alone"


#: Whose function for `call` launches a kernel.
LAUNCHES = ("cuda_core:launch", "cupy:RawKernel", "numba:cuda.jit", "triton", "cutlass",
            "cutlass:tvm_ffi")  # fmt: skip


# --- The imports, which the later stages are planned by -------------------------------------------


def each_import(stage: Stage) -> Iterator[Line]:
    seconds: dict[str, float] = {}
    for library in libraries():
        module = MODULES.get(library, library)
        code = (
            f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        )
        done = stage.run([sys.executable, "-c", code], stage.left() - 3)
        if done.returncode != 0:
            yield "fail", f"import {library}", last_line(done)
            continue
        seconds[library] = float(done.stdout.splitlines()[-1])
        (stage.file.parent / IMPORTS).write_text(json.dumps(seconds) + "\n")
        yield "pass", f"import {library}", f"{seconds[library]:.1f} s"


# --- dlbench's native producer and consumer ----------------------------------------------


def native(stage: Stage) -> Iterator[Line]:
    found = stage.measure(
        *("native", 30, "native", "native", "--devices", DEVICE, "--protocols", PROTOCOLS),
        *("--cases", "f32,f32-pinned,f32-managed", "--sizes", "4KiB"),
        *("--budget", budget(stage, 15)),
    )
    if not found.entries:
        yield "fail", "native", last_line(found.done)
        return
    for protocol in PROTOCOLS.split(","):
        yield clocks(protocol, found.cells(protocol=protocol, case="f32"))
    for case in ("f32-pinned", "f32-managed"):
        yield special_memory(case, found.cells(protocol="dlpack", case=case))


def copies(stage: Stage) -> Iterator[Line]:
    devices = (f"{DEVICE}+cpu", f"cpu+{DEVICE}")
    found = stage.measure(
        *("copies", 20, "native", "native", "--devices", ",".join(devices)),
        *("--protocols", "dlpack", "--sizes", "64MiB", "--budget", budget(stage, 8)),
    )
    if not found.entries:
        yield "fail", "copies", last_line(found.done)
        return
    for device in devices:
        yield copied(device, found.cells(device=device))
    for name, rate in sorted(copy_floors(found.whole).items()):
        yield "pass" if rate > 0 else "fail", f"memcpy {name}", f"{rate:.2f} GB/s"


def budget(stage: Stage, most_s: float) -> str:
    """What dlbench may measure for, so that it can still end within the stage."""
    return f"{max(1, min(most_s, 0.4 * stage.left())):.0f}s"


def judge(cells: list[Entry], good: Sequence[str]) -> str:
    """pass where each outcome is one of `good`; inconclusive where the time was over."""
    bad = [e for e in cells if outcome(e) not in good]
    if bad and all(e["outcome"] == "not-run" for e in bad):
        return "inconclusive"
    return "pass" if cells and not bad else "fail"


def clocks(protocol: str, cells: list[Entry]) -> Line:
    bad = [e for e in cells if outcome(e) != "zero-copy"]
    observed = [time_of(e) for e in cells if e not in bad]
    if bad:
        observed.append(f"{len(bad)} of {len(cells)} cells {why(bad[0])}")
    verdict = judge(cells, ("zero-copy",))
    if verdict == "pass" and {e["clock"] for e in cells} != {"call", "ready", "device"}:
        verdict = "fail"
    return verdict, f"native {protocol}, 4 KiB", ", ".join(observed) or "no cell"


def outcome(entry: Entry) -> str:
    """Of a time below the timer's resolution, what the exchange was found to be."""
    return str(entry["found"] if "below_ns" in entry else entry["outcome"])


def time_of(entry: Entry) -> str:
    if "below_ns" in entry:
        return f"{entry['clock']} below {entry['below_ns']:.0f} ns"
    return f"{entry['clock']} {entry['real_time']:.0f} ns"


def copied(device: str, cells: list[Entry]) -> Line:
    cells = [e for e in cells if e["clock"] == "call"]
    bad = [e for e in cells if e["outcome"] != "device-copy"]
    rates = [f"{e['gb_per_s']:.2f} GB/s at 64 MiB" for e in cells if "gb_per_s" in e]
    text = why(bad[0]) if bad else ", ".join(rates) or "no rate"
    return judge(cells, ("device-copy",)), f"native {device}", text


def special_memory(case: str, cells: list[Entry]) -> Line:
    bad = [e for e in cells if outcome(e) != "zero-copy"]
    if bad and all(e["outcome"] == "unsupported" and KIND == "rocm" for e in bad):
        return "skip", f"native {case}", why(bad[0])
    text = why(bad[0]) if bad else "zero-copy"
    return judge(cells, ("zero-copy",)), f"native {case}", text


def copy_floors(document: dict[str, Any]) -> dict[str, float]:
    places = document["context"]["dlbench"]["environments"].values()
    rates = [place.get("copy_floors_gb_per_s", {}) for place in places]
    # Those of one size are beside the copies of that size.
    return {
        name: rate
        for each in rates
        for name, rate in each.items()
        if DEVICE in name and not name.split()[-1].isdigit()
    }


def interface_2(stage: Stage) -> Iterator[Line]:
    name = "native cuda_array_interface version 2"
    found = stage.measure(
        *("interface2", 15, "--matrix", "--producers", "native:interface=2", "--consumers"),
        *("native", "--devices", DEVICE, "--protocols", "cuda_array_interface"),
        *("--sizes", "4KiB", "--budget", budget(stage, 4)),
    )
    bad = [e for e in found.entries if outcome(e) != "zero-copy"]
    text = why(bad[0]) if bad else "zero-copy" if found.entries else last_line(found.done)
    yield judge(found.entries, ("zero-copy",)), name, text


def ranges(stage: Stage) -> Iterator[Line]:
    tool = os.environ.get("NVTX_INJECTION64_PATH", "")
    words = ("native", "native", "--devices", DEVICE, "--sizes", "4KiB", "--profile")
    done = stage.measure("profile", 15, *words, plain=("--no-plots", "--quiet")).done
    text = f"NVTX_INJECTION64_PATH={tool}" if tool else "without a profiler"
    good = done.returncode == 0
    text = f"a run with --profile, {text}"
    yield "pass" if good else "fail", "ranges", text if good else f"{text}; {last_line(done)}"


def memory_check(stage: Stage) -> Iterator[Line]:
    tool = shutil.which("compute-sanitizer") if KIND == "cuda" else None
    if tool is None:
        why = "no compute-sanitizer on PATH" if KIND == "cuda" else ONLY_CUDA
        yield "skip", "memory check", why
        return
    script = str(Path(__file__).with_name("native_exchanges.py"))
    words = ("--tool", "memcheck", "--error-exitcode", "9", "--target-processes", "all")
    done = stage.run([tool, *words, sys.executable, script, DEVICE], 30)
    yield "pass" if done.returncode == 0 else "fail", "memory check", last_line(done)


def trace(stage: Stage) -> Iterator[Line]:
    """The driver's calls in short runs under the recorder: their times do not count."""
    yield from traced(stage, Turn(("native",), 15, 0))


def traced(stage: Stage, turn: Turn) -> Iterator[Line]:
    [library] = turn.libraries
    name = f"trace {library}"
    recorder = os.environ.get("DLBENCH_GPU_RECORDER", "")
    if not recorder:
        yield "skip", name, "the recorder was not built: no C++ compiler, or it failed"
        return
    folder = stage.scratch / f"traces-{library}"
    folder.mkdir()
    more = {"LD_AUDIT": recorder, "DLBENCH_RECORD": str(folder), "DLBENCH_RECORD_LIMIT": "5000"}
    if library == "native":
        calls = (("timer_steps", 20), ("empty_events", 20, BUSY_NS), ("stream_order", 4, BUSY_NS))
        for function, *arguments in calls:
            with contextlib.suppress(RuntimeError):  # what it did until then is recorded
                query_device(stage, function, KIND, int(NUMBER), *arguments, **more)
    words = (library, library, "--devices", DEVICE, "--protocols", "dlpack", "--sizes", "4KiB")
    command = [sys.executable, "-m", "dlbench", *words, *PLAIN, "--budget", "2s"]
    command += ["--timeout", turn.timeout(), "--out", str(stage.scratch / f"recorded-{library}")]
    stage.run(command, turn.share, **more)
    found = sum(file.read_bytes().count(b'{"call"') for file in folder.glob("*.jsonl"))
    packed = stage.file.with_name(f"trace-{library}.jsonl.xz")
    pack = str(Path(__file__).parents[1] / "recorder/pack.py")
    done = stage.run([sys.executable, pack, str(folder), str(packed)], 15)
    if done.returncode != 0:
        yield "inconclusive" if LIMIT in done.stderr else "fail", name, last_line(done)
        return
    text = f"{found} calls of {done.stdout.strip()}, {packed.stat().st_size} bytes in {packed.name}"
    yield "pass" if found else "inconclusive", name, text


# --- Libraries ------------------------------------------------------------------------------------


def each_library(stage: Stage) -> Iterator[Line]:
    for library in LIBRARIES:
        if library != "native" and library not in libraries():
            yield "skip", f"library {library}", "not installed or not asked for"
        elif KIND == "rocm" and library in CUDA_ONLY:
            yield "skip", f"library {library}", ONLY_CUDA
    for turn in stage.each(LIBRARY_TURNS):
        [library] = turn.libraries
        found = stage.measure(
            *(library, turn.share, library, library, "--devices", DEVICE, "--sizes", "4KiB"),
            *("--protocols", PROTOCOLS, "--timeout", turn.timeout(), "--budget", turn.budget(6)),
        )
        yield library_line(library, found)


def library_line(library: str, found: Document) -> Line:
    cells = found.cells(clock="call", device=DEVICE)
    good = [e for e in cells if e["outcome"] in ("zero-copy", "copy", "unproven")]
    if good:
        times = ", ".join(f"{e['protocol']} {e['outcome']} {e['real_time']:.0f} ns" for e in good)
        return "pass", f"library {library}", times
    # What a library has no call for was not tried.
    cells = [e for e in cells if e["outcome"] != "no-protocol"] or cells
    reason = cause(found, cells)
    if cells and {e["outcome"] for e in cells} <= {"no-device", "not-installed"}:
        # A library built for the CPU is no fault of the device, of dlbench or of the library.
        return "skip", f"library {library}", reason
    return judge(cells, ()), f"library {library}", reason


def launches(stage: Stage) -> Iterator[Line]:
    """Kernels with 0, 1 and 8 arrays: each records what it got, and that is compared."""
    producers = [each for each in ("torch", "cupy", "native") if each in libraries()]
    if KIND != "cuda" or not producers:
        yield "skip", "launches", ONLY_CUDA if producers else "no arrays of torch, cupy or native"
        return
    found = stage.measure(
        *("launches", stage.left() - 5, "--calls", "--producers", ",".join(producers)),
        *("--consumers", ",".join(LAUNCHES), "--devices", DEVICE, "--arrays", "0,1,8"),
        *("--budget", budget(stage, 10)),
    )
    for name in LAUNCHES:
        cells = found.cells(consumer=name, clock="call")
        good = [e for e in cells if outcome(e) == "zero-copy"]
        times = [f"{e.get('arrays', 1)} of {e['producer']} {time_of(e)}" for e in good]
        bad = [e for e in cells if outcome(e) in ("wrong", "copy", "crashed")]
        if good and not bad:
            yield "pass", f"launch {name}", ", ".join(times)
        else:
            absent = {outcome(e) for e in cells} == {"not-installed"}
            verdict = "fail" if bad else "skip" if absent else "inconclusive"
            yield verdict, f"launch {name}", why(bad[0]) if bad else cause(found, cells)


def synchronization(stage: Stage) -> Iterator[Line]:
    has, todo = set(libraries()), pairs()
    for pair in PAIRS:
        if pair not in todo:
            missing = ", ".join(sorted({*pair} - has))
            yield "skip", " -> ".join(pair), f"not installed or not asked for: {missing}"
    for turn in stage.each(SYNC_TURNS):
        producer, consumer = turn.libraries
        found = stage.measure(
            *(f"{producer}-{consumer}", turn.share, "--matrix", "--producers", producer),
            *("--consumers", consumer, "--devices", DEVICE, "--protocols", "dlpack"),
            *("--sizes", "4KiB", "--sync", "--timeout", turn.timeout()),
            *("--budget", turn.budget(4)),
        )
        yield from ordering(producer, consumer, found)


def ordering(producer: str, consumer: str, found: Document) -> Iterator[Line]:
    """What the consumer asked for by itself, and the negative controls: where nothing is required
    the read must see old content, or the trial could not have seen that order is missing."""
    pair = f"{producer} -> {consumer}"
    cells = found.cells(producer=producer, consumer=consumer)
    tested = [e for e in cells if e.get("sync")]
    if not tested:
        yield "inconclusive", pair, cause(found, cells, "sync-failed")
        return
    rows = tested[0]["sync"]
    controls = [row for row in rows if "expected" not in row or row["stream"] == -1]
    stale = [row for row in controls if row.get("content") == "old"]
    for row in controls:
        verdict = "pass" if row in stale else wait_verdict(row, False)
        yield verdict, f"{pair}, control with stream {row['stream']}", wait_of(row)
    for row in rows:
        if row in controls or row.get("expected") != "order":
            continue
        name = f"{pair}, stream {row['stream']} from {row['requested_by']}, on {row['reads_on']}"
        verdict = fault_of(producer, consumer, wait_verdict(row, bool(stale)))
        is_default = row["stream"] == "omitted" and verdict in ("fail", "finding")
        yield verdict, name, "; ".join([wait_of(row), *[DEFAULT_STREAM] * is_default])
    if "late_free" in tested[0]:
        late = tested[0]["late_free"]
        verdict = {"late": "finding", "safe": "pass"}.get(late, "inconclusive")
        yield verdict, f"{pair}, memory freed while it is read", LATE if late == "late" else late


#: What `late` asks of a consumer.
LATE = (
    "late: the producer's memory pool does not know the consumer's stream; the consumer must hold "
    "the array until its stream has read it, or tell the pool, as record_stream of torch does"
)


#: What it means that nothing waits when `stream` is omitted.
DEFAULT_STREAM = (
    "in the array API standard the default of `stream` is None, the legacy default stream; this "
    "producer has another default, so a consumer must pass its stream"
)


def fault_of(producer: str, consumer: str, verdict: str) -> str:
    """What a library does against a text is a finding. Only dlbench's own pair must not fail."""
    is_own = producer == consumer == "native"
    return "finding" if verdict == "fail" and not is_own else verdict


def wait_of(row: dict[str, Any]) -> str:
    if "waits" not in row:
        return str(row.get("reason", "nothing was observed"))
    return ", ".join(
        [
            row["waits"],
            f"content {row.get('content', 'nothing')}",
            *([f"gap {row['gap_ns']:.0f} ns"] if "gap_ns" in row else []),
            *([f"export and import {row['transfer_ns']:.0f} ns"] if "transfer_ns" in row else []),
            *([row["reason"]] if "reason" in row else []),
        ]
    )


def wait_verdict(row: dict[str, Any], has_power: bool) -> str:
    waits = row.get("waits")
    if row.get("code") == "argument-refused":
        return "finding"
    if waits in ("host", "stream"):
        return "pass" if has_power else "inconclusive"
    return "inconclusive" if waits in (None, "no-delay", "inconclusive") else "fail"


def check(stage: Stage) -> Iterator[Line]:
    for turn in stage.each(CHECK_TURNS):
        [library] = turn.libraries
        words = ("check", library, "--device", DEVICE, "--timeout", turn.timeout())
        found = stage.measure(library, turn.share, *words, plain=())
        yield check_line(library, found)


def check_line(library: str, found: Document) -> Line:
    counts: dict[str, list[str]] = {}
    for rule in found.whole.get("checks", ()):
        counts.setdefault(rule["outcome"], []).append(rule["rule"])
    name = f"check {library}"
    if not counts:
        return "inconclusive", name, cause(found, ())
    text = ", ".join(f"{len(rules)} {each}" for each, rules in counts.items())
    if broken := counts.get("broken"):
        return "fail" if library == "native" else "finding", name, f"{text}: {', '.join(broken)}"
    return "pass" if "holds" in counts else "inconclusive", name, text


def calls(stage: Stage) -> Iterator[Line]:
    """The driver's calls, counted by the vendor's tool and as our recorder sees them."""
    for turn in stage.each(CALLS_TURNS):
        [library] = turn.libraries
        if KIND != "cuda":
            yield "skip", f"calls {library}", ONLY_CUDA
            if library != "native":
                yield from traced(stage, turn)
            continue
        found = stage.measure(
            *(library, 2 * turn.share / 3, library, library, "--devices", DEVICE),
            *("--protocols", "dlpack", "--sizes", "4KiB", "--trace-api"),
            *("--timeout", turn.timeout(), "--budget", "1s"),
        )
        yield calls_line(library, found)
        if library != "native":  # traced before
            yield from traced(stage, turn)


def calls_line(library: str, found: Document) -> Line:
    name = f"calls {library}"
    counted = [e for e in found.cells(device=DEVICE) if "api_calls" in e]
    if not counted:
        return "inconclusive", name, cause(found, found.entries, "api-calls-failed")
    parts = [f"{kind} {n}" for kind, n in counted[0]["api_calls"].items() if kind != "phases"]
    return "pass", name, ", ".join(parts)


#: Before the facts of a capture.
CAPTURE_WORDS = {"nodes": "nodes", "at": "at", "error": "error of the driver", "reason": ""}


def capture(stage: Stage) -> Iterator[Line]:
    for turn in stage.each(CAPTURE_TURNS):
        producer, consumer = turn.libraries
        found = stage.measure(
            *(f"{producer}-{consumer}", turn.share, "--matrix", "--producers", producer),
            *("--consumers", consumer, "--devices", DEVICE, "--protocols", "dlpack"),
            *("--sizes", "4KiB", "--capture", "--timeout", turn.timeout(), "--budget", "1s"),
        )
        rows = [row for e in found.cells(producer=producer, consumer=consumer)
                for row in e.get("capture", ())]  # fmt: skip
        if not rows:
            text = cause(found, found.entries, "capture-failed")
            yield "inconclusive", f"{producer} -> {consumer}", text
        for row in rows:
            name = f"{producer} -> {consumer}, capture with stream {row.get('stream')}"
            verdict = {"captured": "pass", "failed": "inconclusive"}.get(row["result"], "finding")
            facts = (
                f"{word} {row[key]}".strip() for key, word in CAPTURE_WORDS.items() if key in row
            )
            text = ", ".join([row["result"], *facts])
            yield verdict, f"{name}, producer on {row.get('producer_stream')} stream", text


def matrix(stage: Stage) -> Iterator[Line]:
    names = ",".join(libraries())
    for turn in stage.each(MATRIX_TURNS):
        yield from matrix_lines(measure_matrix(stage, turn, names))


def measure_matrix(stage: Stage, turn: Turn, names: str) -> Document:
    return stage.measure(
        *("all", turn.share - 20, "--matrix", "--producers", names),
        *("--consumers", f"{names},numpy"),
        *("--devices", f"{DEVICE},{DEVICE}+cpu,cpu+{DEVICE}"),
        *("--protocols", PROTOCOLS, "--sizes", "4KiB,64MiB", "--timeout", turn.timeout()),
        *("--budget", f"{max(1, turn.share - turn.import_s - 25):.0f}s"),
    )


def matrix_lines(found: Document) -> Iterator[Line]:
    if not found.entries:
        yield "fail", "matrix", last_line(found.done)
        return
    measured = len(found.whole["benchmarks"])
    text = f"{measured} of {len(found.entries)} cells measured"
    late = found.done.stderr.splitlines()[-1:] if found.done.returncode else []
    verdict = "inconclusive" if late else "pass" if measured else "fail"
    yield verdict, "matrix", "; ".join([text, *late])
    lost: dict[tuple[str, ...], list[Entry]] = {}
    for entry in found.entries:
        if entry["outcome"] in ("crashed", "timed-out", "wrong", "race"):
            axes = ("producer", "consumer", "protocol", "device")
            lost.setdefault(tuple(entry[axis] for axis in axes), []).append(entry)
    for where, cells in lost.items():
        verdict = fault_of(where[0], where[1], "fail")
        yield verdict, " ".join(where), f"{why(cells[0])}, in {len(cells)} cells"


Step = Callable[[Stage], Iterator[Line]]


def fitting() -> list[tuple[str, ...]]:
    skipped = ("native", *(CUDA_ONLY if KIND == "rocm" else ()))
    return [(each,) for each in libraries() if each not in skipped]


def examined() -> list[tuple[str, ...]]:
    return [(each,) for each in libraries() if each in EXAMINED]


def pairs() -> list[tuple[str, ...]]:
    return [pair for pair in PAIRS if {*pair} <= {*libraries()}]


def together() -> list[list[str]]:
    return [libraries()]


LIBRARY_TURNS = Turns(fitting, 1)
SYNC_TURNS = Turns(pairs, 3)
CHECK_TURNS = Turns(examined, 5, 25)
CALLS_TURNS = Turns(examined, 3, 25)  # two runs
CAPTURE_TURNS = Turns(pairs, 2)
MATRIX_TURNS = Turns(together, 1, 40)

#: By name, in order. What a stage does not use is for the later ones.
STAGES: dict[str, tuple[Plan, tuple[Step, ...]]] = {
    "driver": (Plan(40), (driver, timer, event_zero, streams)),
    "imports": (Plan(100), (each_import,)),
    "native": (Plan(85), (native, copies, interface_2, ranges, memory_check, trace)),
    "libraries": (Plan(45, LIBRARY_TURNS), (each_library, launches)),
    "sync": (Plan(70, SYNC_TURNS), (synchronization,)),
    "check": (Plan(50, CHECK_TURNS), (check,)),
    "calls": (Plan(40, CALLS_TURNS), (calls,)),
    "capture": (Plan(50, CAPTURE_TURNS), (capture,)),
    "matrix": (Plan(60, MATRIX_TURNS), (matrix,)),
}


def run_stage(name: str, file: Path, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="dlbench-gpu-") as scratch:
        stage = Stage(file, Path(scratch), time.monotonic() + seconds)
        for step in STAGES[name][1]:
            try:
                for line in step(stage):
                    stage.write(shown(line))
            except Exception as error:  # one broken step must not hide the others
                text = str(error) if isinstance(error, RuntimeError) else repr(error)
                stage.write(shown(("fail", step.__name__.replace("_", " "), text)))


# --- All stages -----------------------------------------------------------------------------------


def adopt_orphans() -> None:
    """Makes this process the parent of what its children leave, so that it can end them."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def end_children() -> None:
    """Ends all processes below this one: each generation is this one's when its parent is dead."""
    while True:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not children:
            return
        for child in map(int, children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


class EndedBySignal(SystemExit):
    """Ends the run with the exit status of a shell's child that a signal ended."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


def end_by_signal(number: int, _: object) -> None:
    raise EndedBySignal(number)


def run_all(out: Path, started: float) -> int:
    """`started`: the time.monotonic at which the whole run began."""
    out.mkdir(parents=True, exist_ok=True)
    adopt_orphans()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end_by_signal)
    counts = dict.fromkeys(VERDICTS, 0)
    try:
        for place, name in enumerate(STAGES, 1):
            file = out / f"{place}-{name}.txt"
            seconds = import_seconds(out)
            needs = [plan.need(seconds) for plan, _ in STAGES.values()][place - 1 :]
            limit = first_limit(started + TOTAL_S - time.monotonic(), needs)
            print(f"--- stage {place}, {name}: at most {limit:.0f} s", flush=True)
            began = time.monotonic()
            words = ["stage", name, str(file), f"{limit:.1f}"]
            try:
                child = subprocess.Popen([sys.executable, __file__, *words])
                child.wait(timeout=max(1.0, limit))
                if child.returncode != 0:
                    text = f"the stage ended with exit status {child.returncode}"
                    write(file, shown(("fail", name, text)))
            except subprocess.TimeoutExpired:
                write(file, shown(("fail", name, f"ended by the stage's limit of {limit:.0f} s")))
            except EndedBySignal as ended:
                text = f"ended by {ended.name}"
                write(file, shown(("inconclusive", name, text)))
                raise
            finally:
                end_children()
            write(file, f"--- {time.monotonic() - began:.1f} s")
            for line in file.read_text().splitlines():
                word = line.split(" ", 1)[0]
                counts[word] = counts.get(word, 0) + (word in VERDICTS)
    finally:
        end_children()
    print(", ".join(f"{counts[word]} {word}" for word in VERDICTS))
    return 1 if counts["fail"] else 0


def choose_wheel(path: Path) -> Path:
    """Raises SystemExit with one line where no wheel fits this interpreter."""
    from pip._vendor.packaging.tags import sys_tags
    from pip._vendor.packaging.utils import InvalidWheelFilename, parse_wheel_filename

    wheels = sorted(path.glob("dlbench-*.whl")) if path.is_dir() else [path]
    ours = set(sys_tags())
    for wheel in wheels:
        with contextlib.suppress(InvalidWheelFilename):
            if wheel.is_file() and ours & parse_wheel_filename(wheel.name)[3]:
                return wheel
    names = ", ".join(wheel.name for wheel in wheels) or "none there"
    raise SystemExit(
        f"tests/gpu/run: no wheel for Python {sys.version_info[0]}.{sys.version_info[1]}"
        f" at {path} ({names}); name its Python in PYTHON, or build one:"
        f" {sys.executable} -m pip wheel --no-deps SOURCE"
    )


def main(words: list[str]) -> int:
    if words[0] == "wheel":
        print(choose_wheel(Path(words[1])))
        return 0
    if words[0] == "stage":
        run_stage(words[1], Path(words[2]), float(words[3]))
        return 0
    spent = float(os.environ.pop("DLBENCH_GPU_SPENT", "0"))
    return run_all(Path(words[0]), time.monotonic() - spent)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
