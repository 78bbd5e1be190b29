"""Prints the cost of starting dlbench: CPU time of a process, over that of one without dlbench.

The commands are interleaved. Each figure is the difference of their shortest times, because other
programs, which share a processor's caches, only add time. It is processor time, because wall time
includes other programs. Python writes its compiled files, as in a second run of pytest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

#: Name, command, command to compare with, maximum difference in ms.
PASS = ["-c", "pass"]
#: The work of pytest with the distributions of an environment: it imports the plugins that they
#: name, and lists the files of distributions with a plugin. A whole run scatters by more than that.
PLUGINS = """
import importlib.metadata, pytest
for found in importlib.metadata.distributions():
    if found.name == "dlbench" and not {with_dlbench}:
        continue
    points = [point for point in found.entry_points if point.group == "pytest11"]
    if found.name == "dlbench" and points:
        for file in found.files:
            str(file)
        for point in points:
            point.load()
"""
CASES = (
    ("dlbench --version", ["-m", "dlbench", "--version"], PASS, 60.0),
    ("import dlbench", ["-c", "import dlbench"], PASS, 25.0),
    (
        "an unrelated pytest run",
        ["-c", PLUGINS.format(with_dlbench=True)],
        ["-c", PLUGINS.format(with_dlbench=False)],
        5.0,
    ),
)
#: Modules that `import dlbench` must not load.
HEAVY = ("numpy", "matplotlib", "rich", "click", "dlbench._core")


def processor_ms(words: list[str], folder: Path) -> float:
    """User and system time of one process."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"startup: {' '.join(words)} ended with status {process.returncode}")
    return (used.ru_utime + used.ru_stime) * 1e3


def loaded() -> list[str]:
    """The modules of HEAVY that a process with `import dlbench` has loaded."""
    script = f"import sys, dlbench; print(*({set(HEAVY)} & {{*sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--times", type=int, default=20, help="Runs of each. Default: 20.")
    times = arguments.parse_args().times
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, words, reference, most in CASES:
            pairs = [
                (processor_ms(words, folder), processor_ms(reference, folder))
                for _ in range(times + 1)
            ][1:]  # the first compiles and reads files
            own, other = (min(times) for times in zip(*pairs, strict=True))
            more, ratio = own - other, own / other
            verdict = "" if more <= most else f"  more than {most:g} ms"
            print(f"{name:<26} {more:6.1f} ms more  {ratio:5.2f} times{verdict}")
    found = loaded()
    print(f"import dlbench loads       {', '.join(found) or 'none'} of {', '.join(HEAVY)}")


if __name__ == "__main__":
    main()
