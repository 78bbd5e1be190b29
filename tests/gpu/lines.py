"""Runs the CUDA matrix and its side shows, and says pass, fail or skip line by line."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LIBRARIES = ("native", "torch", "cupy", "jax", "numba", "cuda_core", "warp")
#: What is imported to see whether a library is at hand.
MODULES = {"native": "dlbench", "cuda_core": "cuda.core"}
SIZES = "4KiB,1MiB,64MiB"
PROTOCOLS = "dlpack,dlpack_c,cuda_array_interface,convert"
LIMIT_S = 3600
EXCHANGE = ("producer", "consumer", "protocol", "device")

Entry = dict[str, Any]
#: pass, fail or skip; the line's name; what was seen.
Line = tuple[str, str, str]


def is_there(library: str) -> bool:
    try:
        return importlib.util.find_spec(MODULES.get(library, library)) is not None
    except ImportError:
        return False


def dlbench(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dlbench", *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        **more,
    )


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"


class Machine:
    """The device at hand and where the files go."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.device = os.environ.get("DLBENCH_GPU_DEVICE", "cuda:0")
        self.budget = os.environ.get("DLBENCH_GPU_BUDGET", "120s")
        self.libraries = [library for library in LIBRARIES if is_there(library)]
        self.entries: list[Entry] = []
        self.document: dict[str, Any] = {}

    def cells(self, **wanted: str) -> list[Entry]:
        """Measured or not, with these values."""
        return [e for e in self.entries if all(e.get(k) == v for k, v in wanted.items())]


def has_option(option: str) -> bool:
    return option in dlbench("--help").stdout


def driver(machine: Machine) -> Iterator[Line]:
    from dlbench import _device

    kind = machine.device.partition(":")[0]
    state, said, count = _device.backend(kind)
    fate = "pass" if state == "ok" else "fail"
    yield fate, "driver", f"{kind}: {state} {said}".strip() + f", {count} of them"
    for library in LIBRARIES:
        if library not in machine.libraries:
            yield "skip", f"library {library}", "not installed here"


def matrix(machine: Machine) -> Iterator[Line]:
    device = machine.device
    names = ",".join(machine.libraries)
    words = ["--matrix", "--producers", names, "--consumers", f"{names},numpy"]
    words += ["--devices", f"{device},{device}+cpu,cpu+{device}", "--protocols", PROTOCOLS]
    words += ["--cases", "f32,f32-pinned,f32-managed", "--sizes", SIZES]
    words += ["--phases", "all", "--budget", machine.budget, "--timeout", "60s"]
    words += ["--out", str(machine.out / "run"), "--no-plots"]
    if has_option("--sync"):
        words.append("--sync")
    done = dlbench(*words)
    (machine.out / "matrix.txt").write_text(done.stdout + done.stderr)
    written = machine.out / "run/results.json"
    if not written.exists():
        yield "fail", "matrix", last_line(done)
        return
    shutil.copy(written, machine.out / "results.json")
    machine.document = json.loads(written.read_text())
    machine.entries = machine.document["benchmarks"] + machine.document["not_measured"]
    measured = len(machine.document["benchmarks"])
    fate = "pass" if done.returncode == 0 else "fail"
    yield fate, "matrix", f"{measured} of {len(machine.entries)} cells measured"
    for outcome in ("crashed", "timed-out", "wrong"):
        # Of other libraries this is a finding; of our own halves, a fault of ours.
        found: dict[tuple[str, ...], list[Entry]] = {}
        for entry in machine.cells(outcome=outcome):
            found.setdefault(tuple(entry[axis] for axis in EXCHANGE), []).append(entry)
        for names, cells in found.items():
            own = names[:2] == ("native", "native")
            text = f"{outcome} in {len(cells)} cells: {cells[0]['reason']}"
            yield "fail" if own else "note", " ".join(names), text


def own_halves(machine: Machine) -> Iterator[Line]:
    ends = {"producer": "native", "consumer": "native", "case": "f32", "phase": "exchange"}
    for protocol in ("dlpack", "dlpack_c", "cuda_array_interface"):
        here = machine.cells(**ends, device=machine.device, protocol=protocol)
        good = [e for e in here if e["outcome"] == "zero-copy"]
        times = {e["clock"]: e["real_time"] for e in good if e["bytes"] == 4096}
        seen = ", ".join(f"{clock} {ns:.0f} ns" for clock, ns in times.items())
        three = set(times) == {"call", "ready", "device"}
        whole = bool(here) and len(good) == len(here)
        yield "pass" if three and whole else "fail", f"native {protocol}", seen or "no cell"
    for device in (f"{machine.device}+cpu", f"cpu+{machine.device}"):
        found = machine.cells(**ends, device=device, protocol="dlpack", clock="call")
        rates = [e.get("gb_per_s") for e in found if e["outcome"] == "device-copy"]
        good_rates = [rate for rate in rates if rate]
        fate = "pass" if found and len(good_rates) == len(found) else "fail"
        yield fate, f"native {device}", f"{max(good_rates, default=0):.1f} GB/s at most"


def memory(machine: Machine) -> Iterator[Line]:
    ends = {"producer": "native", "consumer": "native", "protocol": "dlpack", "clock": "call"}
    for case in ("f32-pinned", "f32-managed"):
        found = machine.cells(**ends, device=machine.device, case=case, phase="exchange")
        fates = sorted({e["outcome"] for e in found})
        yield "pass" if fates == ["zero-copy"] else "fail", case, ", ".join(fates) or "no cell"


def each_library(machine: Machine) -> Iterator[Line]:
    for library in machine.libraries:
        if library == "native":
            continue
        own = machine.cells(producer=library, consumer=library, device=machine.device)
        good = [e for e in own if e["outcome"] in ("zero-copy", "copy", "unproven")]
        reasons = sorted({e["reason"] for e in own if e.get("reason")})
        text = f"{len(good)} of {len(own)} of its own cells"
        if not good and reasons:
            text += f": {reasons[0]}"
        yield "pass" if good else "fail", f"library {library}", text


def sync(machine: Machine) -> Iterator[Line]:
    if not has_option("--sync"):
        yield "skip", "who waits", "this dlbench has no --sync"
        return
    tested = [e for e in machine.entries if e.get("sync")]
    yield "pass" if tested else "fail", "who waits", f"{len(tested)} cells were asked"
    for entry in tested:
        where = f"{entry['producer']} -> {entry['consumer']} {entry['protocol']}"
        own = entry["producer"] == entry["consumer"] == "native"
        for row in entry["sync"]:
            owed = "" if row["owed"] else ", no order was owed"
            seen = row.get("reason") or f"{row['waits']}, saw {row.get('saw', 'nothing')}{owed}"
            # The negative control: native orders the very stream that is named, and reads on its
            # own one. So where another is named, or none by -1, the old content must be seen.
            wanted = "stream" if row["owed"] else "nobody"
            fate = "note" if not own else "pass" if row.get("waits") == wanted else "fail"
            yield fate, f"who waits: {where}", f"stream {row['stream']}: {seen}"
        if "late_free" in entry:
            yield "note", f"late free: {where}", entry["late_free"]
    for entry in machine.entries:
        lost = [text for text in entry.get("warnings", []) if text.startswith("sync: ")]
        own = entry["producer"] == entry["consumer"] == "native"
        for text in lost:
            where = f"{entry['producer']} -> {entry['consumer']} {entry['protocol']}"
            yield "fail" if own else "note", f"who waits: {where}", text


def old_interface(machine: Machine) -> Iterator[Line]:
    out = machine.out / "interface2"
    words = ["--matrix", "--producers", "native:interface=2", "--consumers", "native"]
    words += ["--devices", machine.device, "--protocols", "cuda_array_interface"]
    done = dlbench(*words, "--sizes", "4KiB", "--no-plots", "--quiet", "--out", str(out))
    path = out / "results.json"
    found = json.loads(path.read_text())["benchmarks"] if path.exists() else []
    outcomes = sorted({e["outcome"] for e in found})
    fate = "pass" if outcomes == ["zero-copy"] else "fail"
    yield fate, "cuda_array_interface version 2", ", ".join(outcomes) or last_line(done)


def ranges(machine: Machine) -> Iterator[Line]:
    if not has_option("--profile"):
        yield "skip", "ranges", "this dlbench has no --profile"
        return
    tool = os.environ.get("NVTX_INJECTION64_PATH", "")
    out = machine.out / "profile"
    done = dlbench(
        *("native", "native", "--devices", machine.device, "--sizes", "4KiB"),
        *("--profile", "--out", str(out)),
    )
    text = f"under {tool}" if tool else "without a tool: name one in NVTX_INJECTION64_PATH"
    yield "pass" if done.returncode == 0 else "fail", "ranges", f"{text}; {last_line(done)}"


def memcheck(machine: Machine) -> Iterator[Line]:
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        yield "skip", "memcheck", "no compute-sanitizer on PATH"
        return
    done = subprocess.run(
        [
            *(tool, "--tool", "memcheck", "--error-exitcode", "9", "--target-processes", "all"),
            *(sys.executable, str(Path(__file__).with_name("native_to_native.py"))),
            machine.device,
        ],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    (machine.out / "memcheck.txt").write_text(done.stdout + done.stderr)
    yield "pass" if done.returncode == 0 else "fail", "memcheck", last_line(done)


STEPS: tuple[Callable[[Machine], Iterator[Line]], ...] = (
    driver,
    matrix,
    own_halves,
    memory,
    each_library,
    sync,
    old_interface,
    ranges,
    memcheck,
)


def main(out: Path) -> int:
    machine = Machine(out)
    failed = 0
    with (out / "lines.txt").open("w") as kept:
        for step in STEPS:
            try:
                lines = list(step(machine))
            except Exception as error:  # one broken step must not hide the others
                lines = [("fail", step.__name__, f"{type(error).__name__}: {error}")]
            for fate, name, text in lines:
                failed += fate == "fail"
                line = f"{fate}  {name}: {text}"
                print(line, flush=True)
                kept.write(line + "\n")
        last = f"{failed} failed" if failed else "all good"
        print(last)
        kept.write(last + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
