"""Prints the cost of a run besides its imports and its rounds, for the default matrix.

usage: run_cost.py [LIBRARY ...]     default: all installed libraries

- wall time of the run, in one worker, over (the bare imports of all libraries + time in rounds);
- from the last import to the end: milliseconds a cell outside of timed blocks, and the part of them
  outside of the libraries' own untimed calls (make, first call, recorded call).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from dlbench import _core
from dlbench.libraries import discover
from dlbench.running.request import Request
from dlbench.supervisor import WORKER


class Silent:
    """An observer that prints nothing."""

    def on_progress(self, done: int, total: int, doing: str) -> None:
        """Ignore it."""

    def on_recorded(self, cell: str, outcome: str, median_ns: float) -> None:
        """Ignore it."""

    def on_covered(self) -> None:
        """Ignore it."""


def loads(names: Iterable[str], paths: dict[str, tuple[str, str]]) -> str:
    """The requests that load the libraries' adapters, as a worker reads them."""
    return "".join(
        json.dumps({"do": "load", "role": role, "library": name, "path": path}) + "\n"
        for name in names
        for role, path in zip(("producer", "consumer"), paths[name], strict=True)
        if path
    )


def import_alone(script: Path) -> float:
    """The seconds of the imports in a separate process."""
    command = [sys.executable, str(WORKER), "--requests", str(script)]
    quiet = subprocess.DEVNULL
    begin = time.perf_counter()
    subprocess.run(command, stdout=quiet, stderr=quiet, check=True)
    return time.perf_counter() - begin


def main() -> None:
    """Run the default matrix and print the two figures."""
    wanted = set(sys.argv[1:])
    libraries = [
        one
        for one in discover.libraries(discover.catalogue(None))
        if one.name in wanted or not wanted
    ]
    paths = {one.name: (one.producer_path, one.consumer_path) for one in libraries}
    plan = _core.make_plan(libraries, _core.Axes())
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "loads.jsonl")
        used = dict.fromkeys(name for _, *pair, _ in plan.pairs for name in pair)
        script.write_text(loads(used, paths))
        imports = import_alone(script)
        request = Request(jobs=1, timeout="60s", replicas=1)
        options = request.options(Path(folder, "run"), {}, resume=False)
        Path(folder, "run").mkdir()
        ran = _core.run(plan, options, Silent())
    after = ran.wall_s - ran.last_import_s - ran.timing_after_import_s
    cells = len(plan.cells)
    print(f"{len(plan.pairs)} pairs, {cells} cells, {ran.measured} measured")
    print(f"bare imports {imports:7.1f} s")
    print(f"rounds       {ran.round_s:7.1f} s")
    print(f"the run      {ran.wall_s:7.1f} s")
    print(f"run over (imports + rounds)             {ran.wall_s / (imports + ran.round_s):6.3f}")
    print(f"after the last import, without rounds   {after / cells * 1e3:6.3f} ms a cell")
    own = after - ran.library_after_import_s
    print(f"  without the libraries' own calls      {own / cells * 1e3:6.3f} ms a cell")


if __name__ == "__main__":
    main()
