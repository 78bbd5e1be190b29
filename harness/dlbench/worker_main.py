"""The worker process: `PYTHON worker_main.py --fd 3 --parent PID`, started by the fleet.

`--requests FILE` handles the requests in a file instead and prints the answers, for `dlbench
debug`; `--facts` prints facts about this environment; `--compile JSON` compiles adapters' sources.
Runs in any environment, whether or not dlbench is installed there.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import importlib.util
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).absolute().parent


def search_folders() -> list[str]:
    """The folders with dlbench's modules. If the extensions here are for another Python, those for
    this Python may be in $DLBENCH_WORKERS or in an installed dlbench.
    """
    folders = [str(FOLDER)]
    if any((FOLDER / f"_worker{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
        return folders
    folders += [os.environ["DLBENCH_WORKERS"]] if os.environ.get("DLBENCH_WORKERS") else []
    installed = PathFinder.find_spec("dlbench")
    if installed is not None:
        folders += installed.submodule_search_locations or ()
    return list(dict.fromkeys(folders))


def load_package() -> ModuleType:
    """Import `dlbench` from this file's folder, leaving sys.path as the environment made it."""
    folder = FOLDER
    spec = importlib.util.spec_from_file_location(
        "dlbench", folder / "__init__.py", submodule_search_locations=search_folders()
    )
    if spec is None or spec.loader is None:
        raise SystemExit(f"{folder} holds no dlbench package")
    package = importlib.util.module_from_spec(spec)
    sys.modules["dlbench"] = package
    spec.loader.exec_module(package)
    return package


def main() -> None:
    """Serve until the end is requested; then exit at once, without the shutdown of libraries. With
    --finish it exits normally, so that a profiler writes its data.
    """
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--fd", type=int)
    arguments.add_argument("--parent", type=int, default=0)
    arguments.add_argument("--requests", type=Path)
    arguments.add_argument("--facts", action="store_true")
    arguments.add_argument("--compile")
    arguments.add_argument("--finish", action="store_true")
    options = arguments.parse_args()
    # The script's own folder must not be on sys.path: it holds files such as `repro.py`.
    script = Path(__file__)
    own = {str(script.absolute().parent), str(script.resolve().parent)}
    sys.path[:] = [entry for entry in sys.path if entry not in own]
    faulthandler.enable()
    load_package()
    if options.facts:
        from dlbench import interpreter

        interpreter.print_facts(search_folders())
        return
    if options.compile:
        from dlbench.libraries import compiled

        compiled.print_answers(options.compile)
        return
    from dlbench import _worker

    if options.requests is not None:
        _worker.serve(os.open(options.requests, os.O_RDONLY), 1)
        return
    # Scanning new objects repeatedly takes a quarter of the time of imports. With a threshold of 0
    # gc.isenabled() stays true, so import_effects.py still sees a library that disables it.
    gc.set_threshold(0)
    os.set_inheritable(options.fd, False)
    _worker.die_with_parent(options.parent)
    _worker.serve(options.fd, options.fd)
    if not options.finish:
        os._exit(0)


if __name__ == "__main__":
    main()
