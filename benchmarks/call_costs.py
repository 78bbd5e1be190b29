"""Compares calls with several arrays in a worker with a bare C loop of the same calls, and finds a
chain of multiplications that is planted for each array in the slope.

All are interleaved in one process: a worker that prepares a cell of `bare:timed` runs the bare
loop. A ratio is the median over rounds of neighboring blocks, printed with its range over 5
processes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import dlbench
from dlbench import _core

PACKAGE = Path(dlbench.__file__).parent
BARE = Path(__file__).parent / "call_costs" / "consumers" / "bare.py"
NUMBERS = (1, 4, 8, 20)
ROUNDS, PROCESSES, BLOCK_NS = 60, 5, 100_000
#: About what native calls and chains take, for the number of calls in a block.
CALL_NS, ARRAY_NS, CHAIN_NS = 5, 3, 100


def requests(arrays: int) -> list[dict[str, object]]:
    """Plain and chained calls, and the bare loop, in turns."""
    made: list[dict[str, object]] = [
        {"do": "load", "role": role, "library": name, "path": str(path)}
        for role, name, path in (
            ("producer", "native", PACKAGE / "producers" / "native.py"),
            *(("consumer", f"bare{call}", BARE) for call in ("", ":chain", ":timed")),
        )
    ]
    made += [prepare(0, "bare", arrays), prepare(1, "bare:chain", arrays)]
    for _ in range(ROUNDS):
        made += [prepare(2, "bare:timed", arrays), {"do": "drop", "id": 2}]
        for number, chain_ns in ((0, 0), (1, CHAIN_NS)):
            about = CALL_NS + arrays * (ARRAY_NS + chain_ns)
            made.append({"do": "round", "id": number, "clock": "call", "prelude": 64,
                         "iterations": BLOCK_NS // about})  # fmt: skip
    return made


def prepare(number: int, consumer: str, arrays: int) -> dict[str, object]:
    exchange = {"environment": "default", "producer": "native", "consumer": consumer,
                "protocol": "call", "device": "cpu", "case": "f32", "bytes": 1024,
                "arrays": arrays}  # fmt: skip
    return {"do": "prepare", "id": number, "exchange": exchange, "clocks": ["call"],
            "round_ns": BLOCK_NS, "case": _core.case("f32")}  # fmt: skip


def measure(arrays: int) -> dict[str, float]:
    """Medians of one process: the call by the worker over the bare loop; ns of what the chains add,
    and of one chain in a bare loop."""
    with tempfile.TemporaryDirectory() as folder:
        file, times = Path(folder, "requests.jsonl"), Path(folder, "times.jsonl")
        file.write_text("".join(json.dumps(request) + "\n" for request in requests(arrays)))
        command = [sys.executable, str(PACKAGE / "worker_main.py"), "--requests", str(file)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True,
                               env={**os.environ, "BARE_TIMES": str(times)})  # fmt: skip
        answers = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        failed = [answer for answer in answers if "error" in answer]
        assert not failed, failed[0]
        rounds = [answer["ok"]["ns"] for answer in answers if "ns" in answer.get("ok", {})]
        bare = [json.loads(line) for line in times.read_text().splitlines()]
    plain, chained = rounds[::2], rounds[1::2]
    assert len(plain) == len(chained) == len(bare) == ROUNDS
    return {
        "ratio": statistics.median(a / b["call"] for a, b in zip(plain, bare, strict=True)),
        "ns": statistics.median(plain),
        "added": statistics.median(b - a for a, b in zip(plain, chained, strict=True)),
        "chain": statistics.median(each["chain"] for each in bare),
    }


def slope(points: dict[int, float]) -> float:
    """Least squares."""
    x, y = statistics.fmean(points), statistics.fmean(points.values())
    return sum((n - x) * (ns - y) for n, ns in points.items()) / sum((n - x) ** 2 for n in points)


def main() -> None:
    """Print each ratio and its range."""
    found = [{n: measure(n) for n in NUMBERS} for _ in range(PROCESSES)]
    for n in NUMBERS:
        ratios = sorted(each[n]["ratio"] for each in found)
        ns = statistics.median(each[n]["ns"] for each in found)
        print(f"native, {n:2} arrays, {ns:6.1f} ns: worker / bare C loop "
              f"{statistics.median(ratios):.3f} ({ratios[0]:.3f}..{ratios[-1]:.3f})")  # fmt: skip
    planted = sorted(
        slope({n: each[n]["added"] for n in NUMBERS}) / each[NUMBERS[-1]]["chain"] for each in found
    )
    chain = statistics.median(each[NUMBERS[-1]]["chain"] for each in found)
    print(f"a chain of {chain:.1f} ns an array: slope / bare C loop "
          f"{statistics.median(planted):.3f} ({planted[0]:.3f}..{planted[-1]:.3f})")  # fmt: skip


if __name__ == "__main__":
    main()
