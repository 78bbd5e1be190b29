"""What the ladder of all cases costs one couple, beside its imports: `ladder_cost.py [A B]`.

The couple's bare imports in a process of their own, then `dlbench A B --cases all` from the shell's
point of view; both several times in turns, the medians.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dlbench import discover
from run_cost import import_alone, loads

TIMES = 3
#: Beside the import, a ladder may take so long.
ALLOWED_S = 2.0


def ladder(couple: tuple[str, str], out: Path) -> float:
    """Seconds of the whole command."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "dlbench", *couple, "--cases", "all", "--no-plots", "--quiet"]
    subprocess.run([*command, "--out", str(out)], check=True)
    return time.perf_counter() - begin


def main() -> None:
    """Print the two, and how the ladder compares with import + 2 s."""
    couple = (sys.argv[1], sys.argv[2]) if len(sys.argv) == 3 else ("numpy", "torch")
    libraries = discover.libraries(discover.catalogue(None))
    paths = {one.name: (one.producer_path, one.consumer_path) for one in libraries}
    imports, walls = [], []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "imports.jsonl")
        script.write_text(loads(couple, paths))
        for number in range(TIMES):
            begin = time.perf_counter()
            import_alone(script)
            imports.append(time.perf_counter() - begin)
            walls.append(ladder(couple, Path(folder, f"run-{number}")))
    bare, wall = statistics.median(imports), statistics.median(walls)
    print(f"{' and '.join(couple)}, all cases, both ways")
    print(f"bare imports {bare:7.2f} s")
    print(f"the ladder   {wall:7.2f} s")
    print(f"beside the imports {wall - bare:.2f} s; over (imports + {ALLOWED_S:.0f} s) "
          f"{wall / (bare + ALLOWED_S):.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
