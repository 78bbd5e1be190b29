"""Compiles the C++ sources of adapters on this machine, once for each set of versions.

It runs in the interpreter of an environment: on request of the supervisor before any worker times,
and in a worker, which finds the library under the same key.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dlbench.adapter import CALL_NUMBERS, call_library_path
from dlbench.errors import os_reason, signal_name
from dlbench.libraries import facts

PACKAGE = Path(__file__).parents[1]
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden", "-w")
#: A line of a source with further flags; {torch} is the folder of that package.
FLAGS_LINE = re.compile(r"^(?://|#): (.*)$", re.MULTILINE)
LIMIT_S = 600  #: of one command
ANSWERS, MISSING = "dlbench-compiled ", "missing"
INSTALL = "needs a C++ compiler: apt-get install g++, or name one in $CXX"


class NotCompiled(ImportError):  # noqa: N818  (a result)
    """The reason in one line, and the outcome of the cells that need the library."""

    def __init__(self, reason: str, outcome: str = "import-failed") -> None:
        super().__init__(reason)
        self.reason, self.outcome = reason, outcome


def folder() -> Path:
    """$XDG_CACHE_HOME/dlbench; a relative path is ignored, as the XDG specification requires."""
    requested = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (requested if requested.is_absolute() else Path("~/.cache").expanduser()) / "dlbench"


class Source:
    """A source beside an adapter's file. One in Python prints C++ for numbers of arrays."""

    def __init__(self, adapter: str | Path, name: str) -> None:
        """Raises NotCompiled without a compiler or a package that the source needs."""
        self._path = Path(adapter).parent / name
        words = shlex.split(os.environ.get("CXX", "")) or ["c++"]
        found = shutil.which(words[0])
        if found is None:
            raise NotCompiled(INSTALL, "not-installed")
        try:
            text = self._path.read_text(encoding="utf-8")
            compiler = Path(found).resolve().stat()
        except (OSError, ValueError) as error:
            raise NotCompiled(f"{self._path}: {error}") from error
        flags = " ".join(FLAGS_LINE.findall(text))
        packages = re.findall(r"\{(\w+)\}", flags)
        flags = re.sub(r"\{(\w+)\}", lambda package: shlex.quote(_folder_of(package[1])), flags)
        included = [sysconfig.get_path("include"), str(PACKAGE / "consumers")]
        library = call_library_path().parent
        self._command = [found, *words[1:], *FLAGS, *(f"-I{place}" for place in included)]
        self._after = [*shlex.split(flags), f"-L{library}", f"-Wl,-rpath,{library}"]
        self._after += ["-ldlbench_call"]
        headers = [file.read_text() for file in sorted((PACKAGE / "consumers/call").glob("*.h"))]
        key = [text, *headers, *self._command, *self._after, *_versions(adapter, packages)]
        key += [sys.version, sysconfig.get_config_var("EXT_SUFFIX")]
        key += [str(compiler.st_mtime_ns), str(compiler.st_size)]
        name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]
        self.library = folder() / "calls" / f"{self._path.stem}-{name}.so"

    def is_compiled(self) -> bool:
        """Raises NotCompiled for a cache that another user can write to."""
        for path in (self.library.parent, self.library):
            if not path.exists():
                return False
            _require_own(path)
        return True

    def compile(self) -> None:
        """Raises NotCompiled. Another process may do the same meanwhile."""
        cache = self.library.parent
        try:
            cache.mkdir(mode=0o700, parents=True, exist_ok=True)
            _require_own(cache)
            with tempfile.TemporaryDirectory(dir=cache) as aside:
                source, made = self._path, Path(aside, self.library.name)
                if source.suffix == ".py":
                    source = Path(aside, f"{source.stem}.cpp")
                    numbers = map(str, CALL_NUMBERS)
                    source.write_bytes(_run([sys.executable, str(self._path), *numbers], aside))
                _run([*self._command, str(source), "-o", str(made), *self._after], aside)
                made.chmod(0o700)
                made.replace(self.library)
        except OSError as error:
            raise NotCompiled(f"{cache}: {os_reason(error)}") from error


def library(adapter: str, name: str) -> str:
    """The path of a source's library, for an adapter in a worker. Raises NotCompiled."""
    source = Source(adapter, name)
    if not source.is_compiled():
        source.compile()
    return str(source.library)


def print_answers(request: str) -> None:
    """A line with the state of each source: compiled, missing, or the outcome and the reason why it
    cannot be. The request in JSON: `sources`, pairs of adapter and name; `compiles`, those missing.
    """
    wanted = json.loads(request)
    found = [_state(adapter, name, wanted["compiles"]) for adapter, name in wanted["sources"]]
    print(f"{ANSWERS}{json.dumps(found)}")  # noqa: T201  (read by the supervisor)


def _state(adapter: str, name: str, compiles: bool) -> tuple[str, str]:
    try:
        source = Source(adapter, name)
        if not source.is_compiled():
            if not compiles:
                return MISSING, ""
            source.compile()
    except NotCompiled as failure:
        return failure.outcome, failure.reason
    return "", ""


def _folder_of(package: str) -> str:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise NotCompiled(f"needs the package {package}", "not-installed")
    return next(iter(found.submodule_search_locations))


def _versions(adapter: str | Path, packages: Sequence[str]) -> list[str]:
    """Those of the library's packages, which any of its files may name, and of these."""
    path, named = Path(adapter), [Path(adapter).stem, *packages]
    for role in ("producer", "consumer"):
        file = path.parents[1] / f"{role}s" / path.name
        if file.exists():
            named += facts.read_adapter(role, path.stem, file).distributions or ()
    found = []
    for name in sorted({*map(facts.requirement_name, named)}):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _require_own(path: Path) -> None:
    """Raises NotCompiled for what another user may have made or may change."""
    about = path.lstat()
    if about.st_uid != os.geteuid():
        raise NotCompiled(f"{path} belongs to another user: remove it, or set XDG_CACHE_HOME")
    if stat.S_ISLNK(about.st_mode) or about.st_mode & 0o022:
        raise NotCompiled(f"others can change {path}: remove it, or set XDG_CACHE_HOME")


def _run(command: list[str], place: str) -> bytes:
    """What it prints. Raises NotCompiled with the first error that it reports."""
    try:
        ended = subprocess.run(command, cwd=place, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        raise NotCompiled(f"{command[0]} did not end within {LIMIT_S} s") from None
    if ended.returncode:
        lines = ended.stderr.decode(errors="replace").splitlines()
        errors = [line for line in lines if re.search(r"[Ee]rror|No space", line)]
        how = signal_name(ended.returncode) or f"exit status {ended.returncode}"
        why = (errors or lines or [""])[0].replace(f"{place}/", "")
        raise NotCompiled(f"{Path(command[0]).name} ended with {how}: {why}".rstrip(": "))
    return ended.stdout
