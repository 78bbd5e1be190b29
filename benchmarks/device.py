"""Compares a device function called through the table with a direct call: at most 2 ns more.

`empty` is a function that does nothing. For sim, cuda and rocm, if this machine has them, it is the
query whether a stream is idle.
"""

from __future__ import annotations

import importlib
import statistics

import _device_calls

LIMIT_NS = 2.0
ROUNDS = 101
ITERATIONS = {"empty": 100_000, "sim": 10_000, "cuda": 2_000, "rocm": 2_000}


def main() -> None:
    """Print both times, and their difference: the median over rounds of neighboring blocks."""
    importlib.import_module("dlbench._device")  # whose table the calls go through
    print(f"{'':8}{'direct':>10}{'table':>10}{'more':>10}")
    for kind, iterations in ITERATIONS.items():
        try:
            rounds = [_device_calls.calls(kind, iterations) for _ in range(ROUNDS)]
        except LookupError as error:
            print(f"{kind:8}{error}")
            continue
        direct = statistics.median(one for one, _ in rounds)
        through = statistics.median(one for _, one in rounds)
        dearer = statistics.median(late - early for early, late in rounds)
        verdict = "" if dearer <= LIMIT_NS else f"   over {LIMIT_NS:g} ns"
        print(f"{kind:8}{direct:7.2f} ns{through:7.2f} ns{dearer:7.2f} ns{verdict}")


if __name__ == "__main__":
    main()
