"""A worker that handles a file of requests, then reports how long the planted delays were.

`PYTHON delays_child.py WORKER_MAIN REQUESTS` prints the answers, a line each, and as the last line
{"delays": {library: {"count": ..., "usual_ns": ...}}}.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from types import ModuleType


def main() -> None:
    """Serve, then report."""
    worker_main, requests = sys.argv[1:]
    # This script's own folder is no place to import from.
    sys.path.pop(0)
    runpy.run_path(worker_main)["load_package"]()
    from dlbench import _worker, loading

    loaded: dict[str, ModuleType] = {}
    load_adapter = loading.load_adapter

    def kept(role: str, name: str, path: str) -> ModuleType:
        module = loaded[f"{role} {name}"] = load_adapter(role, name, path)
        return module

    loading.load_adapter = kept
    _worker.serve(os.open(requests, os.O_RDONLY), 1)
    delays = {name: module.delays() for name, module in loaded.items() if hasattr(module, "delays")}
    sys.stdout.write(json.dumps({"delays": delays}) + "\n")


if __name__ == "__main__":
    main()
