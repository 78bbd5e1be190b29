"""Compares native -> native by DLPack with the same steps in one C function plus two calls from C.

The difference is the cost of the Python protocol: a capsule, its name, keyword arguments, the
look-up of `__dlpack__`.
"""

from __future__ import annotations

import statistics

import _bare

from dlbench import _worker
from number import make_exchange

ITERATIONS = 20_000
ROUNDS = 101


def main() -> None:
    """Print both times, their ratio, and the parts."""
    call, x = make_exchange("native", "native")
    rows: dict[str, list[float]] = {key: [] for key in ("dlbench", "steps", "call", "capsule")}
    for _ in range(ROUNDS):
        rows["dlbench"].append(_worker.round(call, x, ITERATIONS))
        rows["steps"].append(_bare.exchange(ITERATIONS))
        rows["call"].append(_worker.round(_bare.nothing, x, ITERATIONS))
        rows["capsule"].append(_bare.capsule(ITERATIONS))
    ns = {key: statistics.median(values) for key, values in rows.items()}
    floor = ns["steps"] + 2 * ns["call"]
    rest = ns["dlbench"] - floor
    lines = {
        "native -> native, dlpack": ns["dlbench"],
        "the same steps as one C function": ns["steps"],
        "two calls of a C function that does nothing": 2 * ns["call"],
        "the rest": rest,
        "  a capsule made, renamed and freed": ns["capsule"],
    }
    for text, value in lines.items():
        print(f"{text:<46}{value:7.1f} ns")
    print(f"{'ratio':<46}{ns['dlbench'] / floor:7.2f}")
    print(f"{'ratio with the capsule counted as a step':<46}"
          f"{ns['dlbench'] / (floor + ns['capsule']):7.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
