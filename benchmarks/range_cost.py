"""Prints the cost of a range: without a tool, at most 2 ns, and with a tool that only counts.

Needs a C++ compiler and NVTX's headers (nvidia-nvtx).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests/python"))
import ranges as tools  # noqa: E402

MOST_NS = 2.0
SOURCES = ("range", "nvtx", "roctx", "recorder")


def build(folder: Path) -> Path:
    """Compile the loop with the sources of ranges, as CMake does."""
    sources = [str(ROOT / "harness/core/trace" / f"{name}.cpp") for name in SOURCES]
    program = folder / "loop"
    flags = ["-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-DDLBENCH_NVTX"]
    include = [f"-I{ROOT / 'harness/core'}", f"-isystem{tools.nvtx_include()}"]
    loop = str(Path(__file__).with_suffix(".cpp"))
    command = [tools.compiler(), *flags, *include, loop, *sources, "-o", str(program), "-ldl"]
    subprocess.run(command, check=True)
    return program


def run(program: Path, tool: Path | None) -> tuple[bool, float, float]:
    """Whether a tool was attached; ns of an empty iteration, and of an iteration with a range."""
    environment = {k: v for k, v in os.environ.items() if k != "NVTX_INJECTION64_PATH"}
    environment |= {"NVTX_INJECTION64_PATH": str(tool)} if tool else {}
    reported = subprocess.run(
        [str(program)], env=environment, capture_output=True, text=True, check=True
    )
    attached, empty, whole = reported.stdout.split()
    return attached == "1", float(empty), float(whole)


def main() -> int:
    """Print all, and fail if a range without a tool costs more than MOST_NS."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        program, tool = build(folder), tools.injection(folder)
        alone, empty, without = run(program, None)
        listened, _, counted = run(program, tool)
    assert (alone, listened) == (False, True)
    print(f"{'an iteration around nothing':<46}{empty:7.2f} ns")
    print(f"{'a range, no tool attached':<46}{without - empty:7.2f} ns   (at most {MOST_NS:.0f})")
    print(f"{'a range, a tool that counts':<46}{counted - empty:7.2f} ns")
    print(f"{'ratio':<46}{(counted - empty) / max(without - empty, 0.01):7.1f}")
    return 0 if without - empty <= MOST_NS else 1


if __name__ == "__main__":
    sys.exit(main())
