"""A worker under valgrind, started so that its counts repeat exactly."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from dlbench import _core
from dlbench.counting.profile import Profile, read
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput
from dlbench.supervisor import Worker, worker_command

#: Starts a command with the same addresses in every process, where that is allowed.
FIXED_ADDRESSES = """
import ctypes, os, sys
ctypes.CDLL(None).personality(0x0040000)
os.execv(sys.argv[1], sys.argv[1:])
"""
LOOP = "dlbench_counted"  #: the worker's function around the counted calls


def require() -> str:
    """The path of valgrind. Raises BadInput where there is none."""
    found = shutil.which("valgrind")
    if found is None:
        raise BadInput("counting instructions needs valgrind, which is not on PATH: install it")
    return found


def version() -> str:
    """ "valgrind-3.19.0", or an empty text."""
    try:
        ended = _core.run_program([require(), "--version"], 60)
    except OSError:
        return ""
    return ended.out.strip() if ended.status == 0 else ""


def command(out: Path, place: Environment) -> list[str]:
    """A worker under callgrind. Each pass through LOOP leaves a file OUT.1, OUT.2, ..."""
    # A worker built with valgrind's header starts the collection itself; else everything is
    # counted.
    begins = "no" if place.callgrind_requests else "yes"
    return [
        *(sys.executable, "-ISc", FIXED_ADDRESSES),
        require(),
        "--tool=callgrind",
        "--vgdb=no",  # its pipes would stay behind in the folder for temporary files
        f"--instr-atstart={begins}",
        "--collect-atstart=no",
        f"--toggle-collect={LOOP}",
        f"--zero-before={LOOP}",
        f"--dump-after={LOOP}",
        "--demangle=yes",
        f"--callgrind-out-file={out}",
        "--log-file=" + str(out.with_suffix(".log")),
        *worker_command(place),
    ]


class CountingWorker(Worker):
    """A worker under callgrind, its files in `folder`."""

    def __init__(self, folder: Path, place: Environment, timeout_s: float) -> None:
        self._out = folder / "callgrind"
        self._passes = 0
        super().__init__(
            command(self._out, place),
            timeout_s,
            name="the worker under valgrind",
            variables={"PYTHONHASHSEED": "0"},  # hashes are the same in every process
        )

    def read_pass(self) -> Profile:
        """The profile of the latest `count`."""
        self._passes += 1
        path = self._out.with_name(f"{self._out.name}.{self._passes}")
        profile = read(path)
        path.unlink()
        return profile
