"""The cost of ordering two streams of the simulated device, compared with a bare event.

`python benchmarks/ordering.py`: what the classifier's table of functions adds, in ns.
"""

from __future__ import annotations

import statistics

from dlbench import _core

TURNS = 9


def main() -> None:
    """Print both, and their ratio."""
    measured = [_core.ordering_cost(2000) for _ in range(TURNS)]
    bare = statistics.median(ns for ns, _ in measured)
    exchange = statistics.median(ns for _, ns in measured)
    print(f"event recorded and waited for   {bare:8.0f} ns")
    print(f"the same, as an exchange        {exchange:8.0f} ns   {exchange / bare:.2f}x")


if __name__ == "__main__":
    main()
