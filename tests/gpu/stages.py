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
import importlib.util
import json
import lzma
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What the whole run may take, in seconds; the limits of the stages are shares of it.
TOTAL_S = float(os.environ.get("DLBENCH_GPU_SECONDS", "540"))
DEVICE = os.environ.get("DLBENCH_GPU_DEVICE", "cuda:0")
KIND, _, NUMBER = DEVICE.partition(":")
LIBRARIES = ("native", "torch", "cupy", "jax", "numba", "cuda_core", "warp", "tensorflow", "paddle",
             "tvm_ffi")  # fmt: skip
#: What is imported to see whether a library is installed.
MODULES = {"native": "dlbench", "cuda_core": "cuda.core"}
#: CUDA's alone.
CUDA_ONLY = ("numba", "cuda_core", "warp")
PAIRS = (
    ("native", "native"),
    ("torch", "torch"),
    ("torch", "cupy"),
    ("cupy", "torch"),
    ("torch", "native"),
    ("jax", "torch"),
)
PROTOCOLS = "dlpack,dlpack_c,cuda_array_interface"
#: Streams that are looked at, the default stream included.
STREAMS = 16
#: Two of these keep a stream busy, in ns.
BUSY_NS = 10_000_000
#: Settings that give streams hardware queues of their own.
MORE_QUEUES = {"CUDA_DEVICE_MAX_CONNECTIONS": "32", "GPU_MAX_HW_QUEUES": "16"}
#: Libraries that are checked, and of which calls are counted and traced.
EXAMINED = ("native", "torch", "cupy", "jax")
#: A finding is a fact of a library: neither dlbench nor the device failed.
VERDICTS = ("pass", "fail", "skip", "inconclusive", "finding")

#: Seconds of each library's import, in the folder of the results.
IMPORTS = "imports.json"
#: Options of a run that measures.
PLAIN = ("--no-plots", "--quiet", "--replicas", "1")

Entry = dict[str, Any]
#: A word of VERDICTS, the line's name, and what was seen.
Line = tuple[str, str, str]


@dataclass
class Stage:
    """One stage at work: where its lines go and until when."""

    file: Path
    scratch: Path
    deadline: float  #: of time.monotonic

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def write(self, text: str) -> None:
        write(self.file, text)

    def run(
        self, words: Sequence[str], most_s: float, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """A command, interrupted when its time is over and killed when that does not end it."""
        limit = max(1.0, min(most_s, self.left() - 3))
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env={**os.environ, **more},
        )
        late = ""
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            late = f"ended by the limit of {limit:.0f} s"
            process.send_signal(signal.SIGINT)  # a run of dlbench writes its document
            try:
                out, err = process.communicate(timeout=max(1.0, min(15.0, self.left() - 1)))
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate(timeout=5)
        return subprocess.CompletedProcess(words, process.returncode, out, f"{err}\n{late}".strip())

    def measure(
        self, name: str, most_s: float, *words: str, plain: Sequence[str] = PLAIN
    ) -> Document:
        """A run of dlbench. Its document is kept whole, and is empty where it left none."""
        out = self.scratch / name
        command = [sys.executable, "-m", "dlbench", *words, *plain, "--out", str(out)]
        done = self.run(command, most_s)
        path = out / "results.json"
        if not path.exists():
            return Document(done, [], {})
        text = path.read_bytes()
        kept = self.file.with_name("documents") / f"{self.file.stem}-{name}.json.xz"
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(lzma.compress(text, preset=1))
        document = json.loads(text)
        entries = document["benchmarks"] + document["not_measured"]
        return Document(done, entries, document)

    def each(self, todo: Sequence[Sequence[str]], imports: int) -> Iterator[Turn]:
        """The libraries of each run, with a part of the stage's time that fits its imports."""
        seconds = import_seconds(self.file.parent)
        needs = [(import_cost(seconds, each, imports), 1.0) for each in todo]
        for index, some in enumerate(todo):
            share = first_share(self.left(), needs[index:])
            yield Turn(tuple(some), share, needs[index][0])


@dataclass
class Turn:
    """One of a stage's runs: its libraries and its time, in seconds."""

    libraries: tuple[str, ...]
    share: float
    import_s: float

    def budget(self, most_s: float) -> str:
        """What it may measure for: half of what its imports leave, at least a second."""
        return f"{max(1.0, min(most_s, (self.share - self.import_s) / 2)):.0f}s"

    def timeout(self) -> str:
        """The deadline of a step, which an import is."""
        return f"{max(30.0, 3 * self.import_s):.0f}s"


def import_cost(seconds: dict[str, float], some: Sequence[str], imports: int) -> float:
    return imports * sum(seconds.get(each, 0.0) for each in {*some})


def first_share(left: float, needs: Sequence[tuple[float, float]]) -> float:
    """The first one's part of the time that is left. `needs`: the seconds of imports, and a weight
    of the rest. Imports come first, because a shorter run would measure nothing."""
    imports = sum(seconds for seconds, _ in needs)
    weights = sum(weight for _, weight in needs)
    spare = left - imports
    if spare <= 0:
        return left * needs[0][0] / imports
    return needs[0][0] + spare * needs[0][1] / weights


def import_seconds(out: Path) -> dict[str, float]:
    """By library, as stage `imports` recorded them; empty before."""
    with contextlib.suppress(OSError, ValueError):
        found: dict[str, float] = json.loads((out / IMPORTS).read_text())
        return found
    return {}


@dataclass
class Document:
    """What a run of dlbench left."""

    done: subprocess.CompletedProcess[str]
    entries: list[Entry]
    whole: dict[str, Any]

    def cells(self, **wanted: Any) -> list[Entry]:
        """Measured or not, with these values."""
        return [e for e in self.entries if all(e.get(k) == v for k, v in wanted.items())]


def write(file: Path, text: str) -> None:
    """A line that is on the disk when this returns."""
    print(text, flush=True)
    with file.open("a") as kept:
        kept.write(text + "\n")
        kept.flush()
        os.fsync(kept.fileno())


def shown(line: Line) -> str:
    verdict, name, text = line
    return f"{verdict:12}  {name}: {' '.join(text.split())}"


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"


def is_installed(library: str) -> bool:
    try:
        return importlib.util.find_spec(MODULES.get(library, library)) is not None
    except ImportError:
        return False


def libraries() -> list[str]:
    """Those that are installed, of $DLBENCH_GPU_LIBRARIES or of all."""
    named = os.environ.get("DLBENCH_GPU_LIBRARIES")
    return [each for each in (named.split(",") if named else LIBRARIES) if is_installed(each)]


def ns(values: Sequence[float]) -> str:
    middle = statistics.median(values)
    return f"median {middle:.0f} ns, {min(values):.0f} to {max(values):.0f} ns, n = {len(values)}"


# --- Stage 1: the driver, without any library -----------------------------------------------------


def query_device(stage: Stage, function: str, *arguments: object, **more: str) -> Any:
    """What `_device.FUNCTION` returns, called in a process of its own. Raises RuntimeError."""
    call = f"_device.{function}(*{list(arguments)!r})"
    code = f"import json; from dlbench import _device; print(json.dumps({call}))"
    done = stage.run([sys.executable, "-c", code], 10, **more)
    if done.returncode != 0:
        raise RuntimeError(last_line(done))
    return json.loads(done.stdout.splitlines()[-1])


def driver(stage: Stage) -> Iterator[Line]:
    state, reason, count = query_device(stage, "backend", KIND)
    if state != "ok":
        yield "fail", "driver", f"{KIND}: {state}: {reason}"
        return
    library, version, units = query_device(stage, "about", KIND)
    yield "pass", "driver", f"{library}, version {version}, devices: {count}"
    for number, (name, uuid, mode) in enumerate(units):
        yield "pass", f"device {KIND}:{number}", f"{name}, {uuid}, mode {mode or 'not reported'}"


def timer(stage: Stage) -> Iterator[Line]:
    steps = query_device(stage, "timer_steps", KIND, int(NUMBER), 200)
    text = f"multiples of {math.gcd(*steps)} ns; {ns(steps)}"
    yield "pass" if min(steps) > 0 else "fail", "timer step", text


def event_zero(stage: Stage) -> Iterator[Line]:
    times = query_device(stage, "empty_events", KIND, int(NUMBER), 50, 0)
    yield "pass" if min(times) >= 0 else "fail", "empty event pair, stream idle", ns(times)
    name = "empty event pair, stream held by a delay"
    for hold in (BUSY_NS, 10 * BUSY_NS):  # a busy host needs the longer one
        try:
            times = query_device(stage, "empty_events", KIND, int(NUMBER), 50, hold)
        except RuntimeError as error:
            if "the delay ended before" not in str(error):
                raise
            line = ("inconclusive", name, str(error))
        else:
            line = ("pass" if min(times) >= 0 else "fail", name, ns(times))
            break
    yield line


def streams(stage: Stage) -> Iterator[Line]:
    for name, more in (("", {}), (" with more hardware queues", MORE_QUEUES)):
        for busy in (BUSY_NS, 5 * BUSY_NS):
            rows = query_device(stage, "stream_order", KIND, int(NUMBER), STREAMS, busy, **more)
            if all(was_busy for was_busy, _, _ in rows):
                break
        yield independence(f"{STREAMS} streams{name}", rows)


def independence(name: str, rows: list[tuple[bool, bool, str]]) -> Line:
    """`rows` as `_device.stream_order` returns them; the first stream is the default one."""
    late = sum(not was_busy for was_busy, _, _ in rows)
    if late:
        return "inconclusive", name, f"{late} of {len(rows)} delays ended before the host was done"
    powerless = sum(not ordered for _, ordered, _ in rows)
    if powerless:
        text = f"control failed: work behind its own stream's delay ran early {powerless} times"
        return "inconclusive", name, text
    waited = [
        f"{second} waits for {first}"
        for first, (_, _, beside) in enumerate(rows)
        for second, ran in enumerate(beside)
        if second != first and ran == "0"
    ]
    pairs = len(rows) * (len(rows) - 1)
    text = f"{pairs - len(waited)} of {pairs} ordered pairs of streams run beside each other"
    if waited:
        more = f", and {len(waited) - 5} more" if len(waited) > 5 else ""
        return "inconclusive", name, f"{text}; stream {'; '.join(waited[:5])}{more}"
    return "pass", name, f"{text}; control: work behind a delay on its own stream waits"


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


def why(entry: Entry) -> str:
    return f"{entry['outcome']}: {entry.get('reason', '')}"


def copied(device: str, cells: list[Entry]) -> Line:
    cells = [e for e in cells if e["clock"] == "call"]
    bad = [e for e in cells if e["outcome"] != "device-copy"]
    rates = [f"{e['gb_per_s']:.2f} GB/s at 64 MiB" for e in cells if "gb_per_s" in e]
    text = why(bad[0]) if bad else ", ".join(rates) or "no rate"
    return judge(cells, ("device-copy",)), f"native {device}", text


def special_memory(case: str, cells: list[Entry]) -> Line:
    bad = [e for e in cells if e["outcome"] != "zero-copy"]
    if bad and all(e["outcome"] == "unsupported" and KIND == "rocm" for e in bad):
        return "skip", case, why(bad[0])
    return judge(cells, ("zero-copy",)), case, why(bad[0]) if bad else "zero-copy"


def copy_floors(document: dict[str, Any]) -> dict[str, float]:
    places = document["context"]["dlbench"]["environments"].values()
    rates = [place.get("copy_floors_gb_per_s", {}) for place in places]
    return {name: rate for each in rates for name, rate in each.items() if DEVICE in name}


def interface_2(stage: Stage) -> Iterator[Line]:
    name = "native cuda_array_interface version 2"
    found = stage.measure(
        *("interface2", 15, "--matrix", "--producers", "native:interface=2", "--consumers"),
        *("native", "--devices", DEVICE, "--protocols", "cuda_array_interface"),
        *("--sizes", "4KiB", "--budget", budget(stage, 4)),
    )
    bad = [e for e in found.entries if e["outcome"] != "zero-copy"]
    text = why(bad[0]) if bad else "zero-copy" if found.entries else last_line(found.done)
    yield judge(found.entries, ("zero-copy",)), name, text


def ranges(stage: Stage) -> Iterator[Line]:
    tool = os.environ.get("NVTX_INJECTION64_PATH", "")
    words = ("native", "native", "--devices", DEVICE, "--sizes", "4KiB", "--profile")
    done = stage.measure("profile", 15, *words, plain=("--no-plots", "--quiet")).done
    text = f"NVTX_INJECTION64_PATH={tool}" if tool else "no tool in NVTX_INJECTION64_PATH"
    good = done.returncode == 0
    yield "pass" if good else "fail", "ranges", text if good else f"{text}; {last_line(done)}"


def memory_check(stage: Stage) -> Iterator[Line]:
    tool = shutil.which("compute-sanitizer")
    if tool is None or KIND != "cuda":
        yield "skip", "memory check", "no compute-sanitizer on PATH" if tool is None else "CUDA's"
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
        yield "fail", name, last_line(done)
        return
    text = f"{found} calls of {done.stdout.strip()}, {packed.stat().st_size} bytes in {packed.name}"
    yield "pass" if found else "inconclusive", name, text


# --- Libraries ------------------------------------------------------------------------------------


def each_library(stage: Stage) -> Iterator[Line]:
    todo = [each for each in libraries() if each != "native"]
    for library in LIBRARIES:
        if library != "native" and library not in todo:
            yield "skip", f"library {library}", "not installed or not asked for"
    fitting = []
    for library in todo:
        if KIND == "rocm" and library in CUDA_ONLY:
            yield "skip", f"library {library}", "its GPU code is CUDA's"
        else:
            fitting.append((library,))
    for turn in stage.each(fitting, 1):
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
    reason = why(cells[0]) if cells else last_line(found.done)
    if cells and {e["outcome"] for e in cells} <= {"no-device", "not-installed"}:
        # A library built for the CPU is no fault of the device, of dlbench or of the library.
        return "skip", f"library {library}", reason
    return judge(cells, ()), f"library {library}", reason


def synchronization(stage: Stage) -> Iterator[Line]:
    has, todo = set(libraries()), pairs()
    for pair in PAIRS:
        if pair not in todo:
            missing = ", ".join(sorted({*pair} - has))
            yield "skip", " -> ".join(pair), f"not installed or not asked for: {missing}"
    for turn in stage.each(todo, 2):  # the pass after the rounds imports them again
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
        cells = [e for e in cells if e["clock"] == "call" and e["device"] == DEVICE]
        lost = [
            w["text"] for e in cells for w in e.get("warnings", ()) if w["code"] == "sync-failed"
        ]
        text = lost[0] if lost else why(cells[0]) if cells else last_line(found.done)
        yield "inconclusive", pair, text
        return
    rows = tested[0]["sync"]
    controls = [row for row in rows if "expected" not in row or row["stream"] == -1]
    stale = [row for row in controls if row.get("content") == "old"]
    for row in controls:
        verdict = "pass" if row in stale else "inconclusive"
        yield verdict, f"{pair}, control with stream {row['stream']}", wait_of(row)
    for row in rows:
        if row in controls or row.get("expected") != "order":
            continue
        name = f"{pair}, stream {row['stream']} from {row['requested_by']}, on {row['reads_on']}"
        yield wait_verdict(row, bool(stale)), name, wait_of(row)
    if "late_free" in tested[0]:
        late = tested[0]["late_free"]
        verdict = {"late": "finding", "safe": "pass"}.get(late, "inconclusive")
        yield verdict, f"{pair}, memory freed while it is read", LATE if late == "late" else late


#: What `late` asks of a consumer.
LATE = (
    "late: the producer's memory pool does not know the consumer's stream; the consumer must hold "
    "the array until its stream has read it, or tell the pool, as record_stream of torch does"
)


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
    if waits in ("host", "stream"):
        return "pass" if has_power else "inconclusive"
    return "inconclusive" if waits in (None, "no-delay", "inconclusive") else "fail"


def check(stage: Stage) -> Iterator[Line]:
    for turn in stage.each(examined(), 2):
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
        return "inconclusive", name, last_line(found.done)
    text = ", ".join(f"{len(rules)} {each}" for each, rules in counts.items())
    if broken := counts.get("broken"):
        return "fail" if library == "native" else "finding", name, f"{text}: {', '.join(broken)}"
    return "pass" if "holds" in counts else "inconclusive", name, text


def calls(stage: Stage) -> Iterator[Line]:
    """The driver's calls, counted by the vendor's tool and as our recorder sees them."""
    for turn in stage.each(examined(), 3):
        [library] = turn.libraries
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
        failed = [
            w["text"]
            for e in found.entries
            for w in e.get("warnings", ())
            if w["code"] == "api-calls-failed"
        ]
        cells = [why(e) for e in found.entries if "reason" in e]
        return "inconclusive", name, [*failed, *cells, last_line(found.done)][0]
    parts = [f"{kind} {n}" for kind, n in counted[0]["api_calls"].items() if kind != "phases"]
    return "pass", name, ", ".join(parts)


def capture(stage: Stage) -> Iterator[Line]:
    for turn in stage.each(pairs(), 2):
        producer, consumer = turn.libraries
        found = stage.measure(
            *(f"{producer}-{consumer}", turn.share, "--matrix", "--producers", producer),
            *("--consumers", consumer, "--devices", DEVICE, "--protocols", "dlpack"),
            *("--sizes", "4KiB", "--capture", "--timeout", turn.timeout(), "--budget", "1s"),
        )
        rows = [row for e in found.cells(producer=producer, consumer=consumer)
                for row in e.get("capture", ())]  # fmt: skip
        if not rows:
            cells = [why(e) for e in found.entries if "reason" in e]
            yield "inconclusive", f"{producer} -> {consumer}", [*cells, last_line(found.done)][0]
        for row in rows:
            name = f"{producer} -> {consumer}, capture with stream {row.get('stream')}"
            verdict = {"captured": "pass", "failed": "inconclusive"}.get(row["result"], "finding")
            facts = (f"{key} {row[key]}" for key in ("nodes", "at", "error") if key in row)
            text = ", ".join([row["result"], *facts])
            yield verdict, f"{name}, producer on {row.get('producer_stream')} stream", text


def matrix(stage: Stage) -> Iterator[Line]:
    names = ",".join(libraries())
    [turn] = stage.each(together(), 1)
    found = stage.measure(
        *("all", turn.share - 20, "--matrix", "--producers", names),
        *("--consumers", f"{names},numpy"),
        *("--devices", f"{DEVICE},{DEVICE}+cpu,cpu+{DEVICE}"),
        *("--protocols", PROTOCOLS, "--sizes", "4KiB,64MiB", "--timeout", turn.timeout()),
        *("--budget", f"{max(1, turn.share - turn.import_s - 45):.0f}s"),
    )
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
        yield "fail", " ".join(where), f"{why(cells[0])}, in {len(cells)} cells"


Step = Callable[[Stage], Iterator[Line]]


@dataclass(frozen=True)
class Plan:
    """A stage: its steps, and what it needs in a run of 540 s, besides imports of libraries."""

    seconds: float
    steps: tuple[Step, ...]
    #: The libraries of each of its runs, and how often such a run imports them.
    runs: Callable[[], Sequence[Sequence[str]]] = tuple
    imports: int = 0

    def need(self, seconds: dict[str, float]) -> tuple[float, float]:
        """As of first_share(). `seconds`: of each library's import."""
        imports = sum(import_cost(seconds, each, self.imports) for each in self.runs())
        return imports, self.seconds


def singly() -> list[tuple[str, ...]]:
    return [(each,) for each in libraries()]


def examined() -> list[tuple[str, ...]]:
    return [(each,) for each in libraries() if each in EXAMINED]


def pairs() -> list[tuple[str, ...]]:
    return [pair for pair in PAIRS if {*pair} <= {*libraries()}]


def together() -> list[list[str]]:
    return [libraries()]


#: By name, in order. A stage gets its part of the time that is left; what it does not use is for
#: the later ones.
STAGES: dict[str, Plan] = {
    "driver": Plan(40, (driver, timer, event_zero, streams)),
    "imports": Plan(100, (each_import,)),
    "native": Plan(85, (native, copies, interface_2, ranges, memory_check, trace)),
    "libraries": Plan(45, (each_library,), singly, 1),
    "sync": Plan(70, (synchronization,), pairs, 2),
    "check": Plan(50, (check,), examined, 2),
    "calls": Plan(40, (calls,), examined, 3),
    "capture": Plan(50, (capture,), pairs, 2),
    "matrix": Plan(60, (matrix,), together, 1),
}


def run_stage(name: str, file: Path, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="dlbench-gpu-") as scratch:
        stage = Stage(file, Path(scratch), time.monotonic() + seconds)
        for step in STAGES[name].steps:
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
            needs = [plan.need(seconds) for plan in STAGES.values()][place - 1 :]
            limit = first_share(started + TOTAL_S - time.monotonic(), needs)
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
