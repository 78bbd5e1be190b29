"""Records long series of rounds of one worker, for the simulation of the intervals.

Writes tests/core/stats/recorded_rounds.cpp: eight exchanges of NumPy, PyTorch and the native
producer and consumer, with the same number of rounds each, in random order, as in a run.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import dlbench
from dlbench import _core
from dlbench.supervisor import WORKER
from dlbench.worker_requests import load

CELLS = [
    ("native", "native", 4096),
    ("numpy", "numpy", 4096),
    ("numpy", "torch", 4096),
    ("torch", "numpy", 4096),
    ("torch", "torch", 4096),
    ("native", "torch", 1 << 20),
    ("torch", "native", 1 << 20),
    ("numpy", "native", 64 << 20),
]
TARGET = Path(__file__).parents[1] / "tests/core/stats/recorded_rounds.cpp"
FOLDER = Path(dlbench.__file__).parent


def serve(requests: list[dict[str, object]]) -> list[dict[str, object]]:
    """The worker's answers, without the steps that it announces."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(request) + "\n" for request in [*requests, {"do": "end"}])
        file.flush()
        command = [sys.executable, str(WORKER), "--requests", file.name]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in text.splitlines()]
    return [line["ok"] for line in lines if "step" not in line and "hello" not in line]


def requests(rounds: int, iterations: list[dict[str, int]]) -> list[dict[str, object]]:
    """The requests: loads, preparations and, once the iterations are known, the rounds."""
    requested: list[dict[str, object]] = [
        load(role, library, str(FOLDER / f"{role}s" / f"{library}.py"))
        for library in ("native", "numpy", "torch")
        for role in ("producer", "consumer")
    ]
    for number, (producer, consumer, size) in enumerate(CELLS):
        exchange = {
            "environment": "default",
            "producer": producer,
            "consumer": consumer,
            "protocol": "dlpack",
            "device": "cpu",
            "case": "f32",
            "bytes": size,
        }
        requested.append(
            {
                "do": "prepare",
                "id": number,
                "exchange": exchange,
                "clocks": ["call"],
                "round_ns": _core.round_ns,
                "case": _core.case("f32"),
            }
        )
    dealt = [number for number in range(len(iterations)) for _ in range(rounds)]
    random.Random(1).shuffle(dealt)
    for number in dealt:
        count = iterations[number]["call"]
        prelude = min(16, (count + 32) // 64)
        requested.append(
            {"do": "round", "id": number, "clock": "call", "iterations": count, "prelude": prelude}
        )
    return requested


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=160)
    rounds = options.parse_args().rounds
    iterations = [answer["iterations"] for answer in serve(requests(rounds, []))[-len(CELLS) :]]
    requested = requests(rounds, iterations)
    series: dict[int, list[float]] = {number: [] for number in range(len(CELLS))}
    for request, answer in zip(requested, serve(requested), strict=True):
        if request["do"] == "round":
            series[request["id"]].append(answer["ns"])
    text = '#include "recorded_rounds.hpp"\n\n#include <array>\n\n'
    text += "namespace dlbench::stats {\nnamespace {\n\n"
    text += "// Made by benchmarks/record_rounds.py: ns, in the order of time.\n"
    text += "// clang-format off\n"
    for number, values in series.items():
        numbers = [f"{value:.4g}" for value in values]
        text += f"constexpr std::array<double, {len(numbers)}> kSeries{number}{{\n"
        for begin in range(0, len(numbers), 14):
            text += "    " + ", ".join(numbers[begin : begin + 14]) + ",\n"
        text += "};\n"
    text += "// clang-format on\n\n"
    text += f"constexpr std::array<RecordedRounds, {len(CELLS)}> kRecorded{{{{\n"
    for number, (producer, consumer, size) in enumerate(CELLS):
        text += (
            f'    {{"{producer} -> {consumer}, {_core.format_bytes(size)}", kSeries{number}}},\n'
        )
    text += "}};\n\n}  // namespace\n\n"
    text += "std::span<const RecordedRounds> recorded_rounds() {\n  return kRecorded;\n}\n\n"
    text += "}  // namespace dlbench::stats\n"
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
