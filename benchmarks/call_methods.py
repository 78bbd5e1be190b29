"""Times bindings by methods that others published, written anew, beside dlbench's own number of the
same function, and prints the ratio: with the blocks as published, and with blocks that are shorter
than a time slice.

A worker loads this file as a consumer. Each time that it prepares a call, the published method runs
in the same process, so that both are interleaved. The interpreter's part of a call, which dlbench's
number does not have, is subtracted, but for PyTorch's timer as published: what a loop over an empty
function with the same arguments takes. The functions are dlbench's, for the nearest number of
arrays that it has.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dlbench
from dlbench import _core
from dlbench.case import Case
from dlbench.loading import load_adapter

PACKAGE = Path(dlbench.__file__).parent
ROUNDS, PROCESSES, PRELUDE = 15, 3, 64
#: Half of dlbench's own. The first call of a block by a worker takes about 15 us longer than the
#: others, because the worker's own work comes before it: 14 % of a block of 100 us.
BLOCK_NS = 1_000_000

#: The file of tvm-ffi: the mean of one loop of 10,000 calls of an empty function of three arrays.
TVM_FFI = "tvm-ffi benchmark_dlpack.py"
#: The issue: torch.utils.benchmark on operators of 14 tensors.
PYTORCH = "pytorch#177109"
#: The pull request: two tensors of one element; how the calls were timed is not told.
VLLM = "vllm#41648"
#: Source, producer, consumer, number of arrays, bytes of an array, and about what a call takes.
CASES = (
    (TVM_FFI, "torch", "tvm_ffi:view", 4, 4, 600),
    (TVM_FFI, "numpy", "tvm_ffi:view", 4, 4, 600),
    (TVM_FFI, "tvm_ffi", "tvm_ffi:view", 4, 4, 100),
    (PYTORCH, "torch", "torch:custom_op", 14, 1024, 12_000),
    (PYTORCH, "torch", "torch", 14, 1024, 3_500),
    (PYTORCH, "torch", "torch:pybind11", 14, 1024, 600),
    (VLLM, "torch", "torch:op", 2, 4, 700),
    (VLLM, "torch", "torch:stable", 2, 4, 900),
    (VLLM, "torch", "tvm_ffi:view", 2, 4, 250),
)

# As a consumer, in a worker.

DISTRIBUTION = None


def loop(function: Any, arrays: Any) -> timeit.Timer:
    """A loop over a call, with the names as local variables."""
    names = ", ".join(f"a{i}" for i in range(len(arrays)))
    setup, found = f"function, ({names},) = found", (function, arrays)
    return timeit.Timer(f"function({names})", setup, time.perf_counter, {"found": found})


def timed_loop(function: Any, arrays: Any, calls: int) -> float:
    """ns of a call: the mean of one loop, minus that of a function which returns at once, whatever
    its arguments are, as `sys.audit` does without a hook."""
    call, empty = loop(function, arrays), loop(sys.audit, arrays)
    call.timeit(PRELUDE)
    return (call.timeit(calls) - empty.timeit(calls)) / calls * 1e9


def torch_timer(function: Any, arrays: Any) -> float:
    """ns of a call: the median of the blocks of torch.utils.benchmark."""
    from torch.utils.benchmark import Timer

    names = {f"a{i}": array for i, array in enumerate(arrays)}
    timer = Timer(f"function({', '.join(names)})", globals={"function": function, **names})
    return timer.blocked_autorange().median * 1e9


@functools.cache
def adapters() -> tuple[dict[str, Any], Any, Any]:
    about = json.loads(os.environ["CALL_METHOD"])
    return (about, *(load_adapter(role, *about[role]) for role in ("producer", "consumer")))


def timed(arrays: int) -> Any:
    """Appends both times to the file $CALL_TIMES; returns the function."""
    about, producer, consumer = adapters()
    function = consumer.PROTOCOLS["call"](arrays)
    case = Case(name="f32", dtype="float32", bytes=about["bytes"])
    made = tuple(producer.make(case, "cpu") for _ in range(arrays))
    published: Callable[[], float] = functools.partial(timed_loop, function, made, 10_000)
    if about["source"] == PYTORCH:
        published = functools.partial(torch_timer, function, made)
    calls = max(1, BLOCK_NS // about["ns"])
    found = {"published": published(), "short": timed_loop(function, made, calls)}
    with Path(os.environ["CALL_TIMES"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    return function


PROTOCOLS = {"call": timed}


def extras(array: object) -> dict[str, object]:
    return {}


# As a program.


def requests(producer: str, arrays: int, size: int, about_ns: int) -> list[dict[str, object]]:
    def load(role: str, name: str, path: Path) -> dict[str, object]:
        return {"do": "load", "role": role, "library": name, "path": str(path)}

    def prepare(number: int) -> dict[str, object]:
        exchange = {"environment": "default", "producer": producer, "consumer": "published",
                    "protocol": "call", "device": "cpu", "case": "f32", "bytes": size,
                    "arrays": arrays}  # fmt: skip
        return {"do": "prepare", "id": number, "exchange": exchange, "clocks": ["call"],
                "round_ns": BLOCK_NS, "case": _core.case("f32")}  # fmt: skip

    made = [load("producer", producer, PACKAGE / "producers" / f"{producer}.py")]
    made += [load("consumer", "published", Path(__file__)), prepare(0)]
    for _ in range(ROUNDS):
        made += [prepare(1), {"do": "drop", "id": 1}]
        made.append({"do": "round", "id": 0, "clock": "call", "prelude": PRELUDE,
                     "iterations": max(1, BLOCK_NS // about_ns)})  # fmt: skip
    return made


def measure(
    source: str, producer: str, consumer: str, arrays: int, size: int, ns: int
) -> dict[str, float]:
    """Medians of one process: the call in a worker, and the method's times over it."""
    paths = {role: str(PACKAGE / f"{role}s" / f"{name.partition(':')[0]}.py")
             for role, name in (("producer", producer), ("consumer", consumer))}  # fmt: skip
    about = {"source": source, "bytes": size, "ns": ns,
             "producer": [producer, paths["producer"]],
             "consumer": [consumer, paths["consumer"]]}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file, times = Path(folder, "requests.jsonl"), Path(folder, "times.jsonl")
        lines = requests(producer, arrays, size, ns)
        file.write_text("".join(json.dumps(request) + "\n" for request in lines))
        command = [sys.executable, str(PACKAGE / "worker_main.py"), "--requests", str(file)]
        variables = {"CALL_METHOD": json.dumps(about), "CALL_TIMES": str(times)}
        ended = subprocess.run(command, capture_output=True, text=True, check=True,
                               env={**os.environ, **variables})  # fmt: skip
        answers = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        failed = [answer for answer in answers if "error" in answer]
        assert not failed, failed[0]
        own = [answer["ok"]["ns"] for answer in answers if "ns" in answer.get("ok", {})]
        others = [json.loads(line) for line in times.read_text().splitlines()][1:]
    assert len(own) == len(others) == ROUNDS
    ratios = {key: statistics.median(each[key] / ns for each, ns in zip(others, own, strict=True))
              for key in ("published", "short")}  # fmt: skip
    return {"ns": statistics.median(own), **ratios}


def main() -> None:
    """Print each ratio and its range over processes."""
    for case in CASES:
        found = [measure(*case) for _ in range(PROCESSES)]
        source, producer, consumer, arrays, *_ = case
        texts = []
        for key, name in (("published", "as published"), ("short", "short blocks")):
            ratios = sorted(each[key] for each in found)
            middle = statistics.median(ratios)
            texts.append(f"{name} {middle:.3f} ({ratios[0]:.3f}..{ratios[-1]:.3f})")
        ns = statistics.median(each["ns"] for each in found)
        print(f"{source}: {producer} -> {consumer}, {arrays} arrays, {ns:,.0f} ns: "
              f"{', '.join(texts)}")  # fmt: skip


if __name__ == "__main__":
    main()
