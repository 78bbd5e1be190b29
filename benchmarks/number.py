"""Compares the time of a cell with a bare C loop of the same call, and with timeit.

All three are interleaved in one process. A ratio is the median over rounds of neighboring blocks,
printed with its range over 5 processes.
"""

from __future__ import annotations

import importlib
import json
import statistics
import subprocess
import sys
import timeit
from collections.abc import Callable
from typing import Any

PAIRS = ("numpy numpy", "numpy torch", "native native")
ROUNDS = 101
BLOCK_NS = 2e6
PROCESSES = 5


def make_exchange(producer: str, consumer: str) -> tuple[Callable[[Any], Any], Any]:
    """The consumer's call and the producer's array, from the adapters."""
    from pathlib import Path

    import dlbench
    from dlbench.case import Case
    from dlbench.loading import load_adapter

    home = Path(dlbench.__file__).parent
    make = load_adapter("producer", producer, str(home / "producers" / f"{producer}.py")).make
    adapter = load_adapter("consumer", consumer, str(home / "consumers" / f"{consumer}.py"))
    case = Case(name="f32", dtype="float32", bytes=4096, offset=0, align=256, readonly=False)
    return adapter.PROTOCOLS["dlpack"], make(case, "cpu")


def ratios(producer: str, consumer: str) -> dict[str, float]:
    """dlbench over the bare loop, and over timeit, in this process."""
    bare = importlib.import_module("_bare")
    from dlbench import _worker

    call, x = make_exchange(producer, consumer)
    iterations = max(1, int(BLOCK_NS / bare.loop(call, x, 1000)))
    timer = timeit.Timer("call(x)", globals={"call": call, "x": x})
    over_bare, over_timeit, ours = [], [], []
    for _ in range(ROUNDS):
        before = bare.loop(call, x, iterations)
        mine = _worker.round(call, x, iterations)
        after = bare.loop(call, x, iterations)
        theirs = timer.timeit(iterations) / iterations * 1e9
        over_bare.append(mine / ((before + after) / 2))
        over_timeit.append(mine / theirs)
        ours.append(mine)
    return {
        "ns": statistics.median(ours),
        "bare": statistics.median(over_bare),
        "timeit": statistics.median(over_timeit),
    }


def main() -> None:
    """Print one line for each pair."""
    if len(sys.argv) == 3:
        print(json.dumps(ratios(*sys.argv[1:])))
        return
    print(f"{'pair':<18}{'ns':>8}   over a bare C loop        over timeit")
    for pair in PAIRS:
        observed = [
            json.loads(subprocess.check_output([sys.executable, __file__, *pair.split()]))
            for _ in range(PROCESSES)
        ]
        columns = "   ".join(
            f"{statistics.median(r[key] for r in observed):.3f} "
            f"({min(r[key] for r in observed):.3f}..{max(r[key] for r in observed):.3f})"
            for key in ("bare", "timeit")
        )
        print(f"{pair:<18}{statistics.median(r['ns'] for r in observed):8.1f}   {columns}")


if __name__ == "__main__":
    main()
