"""A stage of `tests/gpu/run` at work: its processes, its documents and its lines."""

from __future__ import annotations

import importlib.util
import json
import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planning import Turn, Turns, first_limit, import_once, import_seconds

DEVICE = os.environ.get("DLBENCH_GPU_DEVICE", "cuda:0")
KIND, _, NUMBER = DEVICE.partition(":")
LIBRARIES = ("native", "torch", "cupy", "jax", "numba", "cuda_core", "warp", "tensorflow", "paddle",
             "tvm_ffi")  # fmt: skip
#: What is imported to see whether a library is installed.
MODULES = {"native": "dlbench", "cuda_core": "cuda.core"}
#: CUDA's alone.
CUDA_ONLY = ("numba", "cuda_core", "warp")
#: A finding is a fact of a library: neither dlbench nor the device failed.
VERDICTS = ("pass", "fail", "skip", "inconclusive", "finding")
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
            late = f"{LIMIT} {limit:.0f} s"
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

    def each(self, turns: Turns) -> Iterator[Turn]:
        """The runs that fit, with their time. Each other one is one line, which has the reason."""
        seconds = import_seconds(self.file.parent)
        todo = turns.runs()
        for index, some in enumerate(todo):
            needs = [turns.need(seconds, later) for later in todo[index:]]
            if (left := self.left()) < needs[0].least_s:
                stage = self.file.stem.partition("-")[2]
                name = f"{stage} {(', ' if len(some) > 2 else ' -> ').join(some)}"
                self.write(shown(("skip", name, turns.explain(seconds, some, left))))
                continue
            began = time.monotonic()
            yield Turn(tuple(some), first_limit(left, needs), needs[0].import_s)
            turns.learn(import_once(seconds, some), time.monotonic() - began)


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


def why(entry: Entry) -> str:
    return f"{entry['outcome']}: {entry.get('reason', '')}"


#: The words before the seconds, where a command was ended.
LIMIT = "ended by the limit of"


def cause(found: Document, cells: Sequence[Entry], code: str = "") -> str:
    """Why a run left less than it should: its limit, a warning with this code, or the reason of a
    cell. A time below the timer's resolution is no reason."""
    ended = last_line(found.done) if found.done else ""
    if LIMIT in ended:
        return ended
    warned = [w["text"] for e in cells for w in e.get("warnings", ()) if w["code"] == code]
    reasons = [why(e) for e in cells if "reason" in e and "below_ns" not in e]
    return [*warned, *reasons, ended][0]
