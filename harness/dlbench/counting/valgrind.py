"""How valgrind is called, so that what it counts can repeat exactly."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

from dlbench import asking
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput

LOOP = "dlbench_counted"  #: the worker's function around the counted calls
_NO_RANDOMIZE = 0x0040000  # of personality(2)


def require() -> str:
    """The path of valgrind. Raises BadInput where there is none."""
    found = shutil.which("valgrind")
    if found is None:
        raise BadInput(
            "instructions are counted by valgrind, and there is none on PATH: install it"
        )
    return found


def version() -> str:
    """ "valgrind-3.19.0", or an empty text."""
    try:
        told = subprocess.run(
            [require(), "--version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return told.stdout.strip()


def command(out: Path, place: Environment, fd: int) -> list[str]:
    """A worker under callgrind. Each pass through LOOP leaves a file OUT.1, OUT.2, ..."""
    # A worker built with valgrind's header says itself when to begin; else all is instrumented.
    begins = "no" if place.callgrind_requests else "yes"
    return [
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
        *asking.command(place, fd),
    ]


def environment() -> dict[str, str]:
    """Ours, with Python's hashes the same in every process."""
    return os.environ | {"PYTHONHASHSEED": "0"}


def settle_addresses() -> None:
    """In the child, before valgrind: the same addresses in every process, where that is allowed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).personality(_NO_RANDOMIZE)
