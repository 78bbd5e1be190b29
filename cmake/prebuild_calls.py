"""Compiles functions of several arrays for the wheel, those whose packages are installed.

    python prebuild_calls.py SOURCES LIBRARY_FOLDER FOLDER

LIBRARY_FOLDER has libdlbench_call.so. Writes a library for each source into FOLDER, and prints its
name and the packages that it was made with. $CXX names the compiler.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path

ROOT, LIBRARY, TO = map(Path, sys.argv[1:])
package = types.ModuleType("dlbench")  # its folders are joined only when it is installed
package.__path__ = [str(ROOT / "harness/dlbench"), str(ROOT), str(LIBRARY)]
sys.modules["dlbench"] = package

from dlbench.libraries import compiled, facts  # noqa: E402

#: What links PyTorch loads PyTorch.
LEFT_OUT = "torch"

TO.mkdir(parents=True, exist_ok=True)
for path in sorted((ROOT / "consumers").glob("*.py")):
    for name in sorted(set(facts.read_adapter("consumer", path.stem, path).builds.values())):
        try:
            source = None if path.stem == LEFT_OUT else compiled.Source(path, name)
        except compiled.NotCompiled as failure:
            print(f"{name}: {failure.reason}")
            continue
        if source and source.versions:
            try:
                source.prebuild(TO)
            except compiled.NotCompiled as failure:
                raise SystemExit(f"{name}: {failure.reason}") from None
            print(f"{name}: made with {', '.join(source.versions)}")
