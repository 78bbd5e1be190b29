"""Records the results of many workers for the same exchange, for the simulation of comparisons.

Writes tests/core/stats/recorded_workers.cpp from the journals of runs. Every worker measures the
reference exchange, native -> native, so a run of many pairs is a series of processes that measured
the same exchange.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

TARGET = Path(__file__).parents[1] / "tests/core/stats/recorded_workers.cpp"
FEWEST = 60


def references(run: Path) -> list[float]:
    """The reference exchange's median in each worker, in the order of time."""
    with (run / "journal.jsonl").open(encoding="utf-8") as lines:
        workers = [line["worker"] for line in map(json.loads, lines) if "worker" in line]
    return [worker["reference_ns"] for worker in workers if worker.get("reference_ns")]


def main() -> None:
    """Read the journals and write the file."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    found = [references(run) for run in options.parse_args().runs]
    if min(map(len, found)) < FEWEST:
        options.error(f"a run of {FEWEST} workers at least")
    text = '#include "recorded_workers.hpp"\n\n#include <array>\n\n'
    text += "namespace dlbench::stats {\nnamespace {\n\n"
    text += "// Made by benchmarks/record_workers.py: ns, in the order of time.\n"
    text += "// clang-format off\n"
    for number, values in enumerate(found):
        numbers = [f"{ns:.5g}" for ns in values]
        text += f"constexpr std::array<double, {len(numbers)}> kSeries{number}{{\n"
        for begin in range(0, len(numbers), 12):
            text += "    " + ", ".join(numbers[begin : begin + 12]) + ",\n"
        text += "};\n"
    text += "// clang-format on\n\n"
    text += f"constexpr std::array<std::span<const double>, {len(found)}> kRecorded{{\n"
    text += "    " + ", ".join(f"kSeries{number}" for number in range(len(found))) + "};\n"
    text += "\n}  // namespace\n\n"
    text += "std::span<const std::span<const double>> recorded_workers() {\n"
    text += "  return kRecorded;\n}\n\n}  // namespace dlbench::stats\n"
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
