"""Prints the cost of a sweep of all cases for one pair, next to that of its imports.

usage: case_sweep_cost.py [A B]

Measures the pair's bare imports in a separate process, and the whole command
`dlbench A B --cases all`; both several times, interleaved, and prints the medians. Wall time needs
a quiet machine. CPU time, of all processes, does not.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from dlbench.libraries import discover
from run_cost import import_alone, loads

TIMES = 3
#: Maximum time of a case sweep in addition to the imports.
ALLOWED_S = 2.0


def case_sweep(pair: tuple[str, str], out: Path) -> None:
    """The whole command."""
    command = [sys.executable, "-m", "dlbench", *pair, "--cases", "all", "--no-plots", "--quiet"]
    subprocess.run([*command, "--out", str(out)], check=True)


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the wall, and of CPU in the processes that it started."""

    def cpu() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    begin, before = time.perf_counter(), cpu()
    work()
    return time.perf_counter() - begin, cpu() - before


def main() -> None:
    """Print both, and the ratio of the case sweep to import + 2 s."""
    pair = (sys.argv[1], sys.argv[2]) if len(sys.argv) == 3 else ("numpy", "torch")
    libraries = discover.libraries(discover.catalogue(None))
    paths = {one.name: (one.producer_path, one.consumer_path) for one in libraries}
    imports, case_sweeps = [], []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "imports.jsonl")
        script.write_text(loads(pair, paths))
        for number in range(TIMES):
            imports.append(timed(partial(import_alone, script)))
            case_sweeps.append(timed(partial(case_sweep, pair, Path(folder, f"run-{number}"))))
    print(f"{' and '.join(pair)}, all cases, both directions")
    for number, kind in enumerate(("wall", "CPU")):
        bare = statistics.median(each[number] for each in imports)
        whole = statistics.median(each[number] for each in case_sweeps)
        over = whole / (bare + ALLOWED_S)
        print(f"{kind:4}  bare imports {bare:6.2f} s   the case sweep {whole:6.2f} s   "
              f"over (imports + {ALLOWED_S:.0f} s) {over:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
