"""Compiles the C++ sources of adapters on this machine, once for each set of versions.

It runs in the interpreter of an environment: on request of the supervisor before any worker times,
and in a worker, which finds the library under the same key. A library that the wheel has beside the
source is used in its place if no package that it was made with has another version here.
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
from collections.abc import Mapping, Sequence
from pathlib import Path

from dlbench.adapter import CALL_NUMBERS, call_library_path
from dlbench.errors import os_reason, signal_name
from dlbench.libraries import facts

FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden", "-w")
#: A line of a source with further flags; {torch} is the folder of that package.
FLAGS_LINE = re.compile(r"^(?://|#): (.*)$", re.MULTILINE)
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
#: In a library of the wheel (call/body.h): the hash of its source, then packages and versions.
MADE_WITH = re.compile(rb"dlbench made with ([0-9a-f]{64}): ([^\0]+)\0")
#: Packages that add no code to a call, so that any version will do.
UNTIMED = {"numpy"}
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
        self.library = self._path.with_suffix(SUFFIX)
        made_with = versions_in_wheel(self._path)
        self.is_prebuilt = bool(made_with) and all(
            package in UNTIMED or _version(package) in (None, version)
            for package, version in made_with.items()
        )
        if self.is_prebuilt:
            return
        words = shlex.split(os.environ.get("CXX", "")) or ["c++"]
        found = shutil.which(words[0])
        if found is None:
            raise NotCompiled(INSTALL, "not-installed")
        flags = " ".join(FLAGS_LINE.findall(_text(self._path)))
        packages = re.findall(r"\{(\w+)\}", flags)
        folders = {package: _folder_of(package) for package in packages}
        flags = re.sub(r"\{(\w+)\}", lambda package: shlex.quote(folders[package[1]]), flags)
        included = [sysconfig.get_path("include"), _folder_of("dlbench.consumers")]
        self._command = [found, *words[1:], *FLAGS, *(f"-I{place}" for place in included)]
        library = call_library_path().parent
        self._after = [*shlex.split(flags), f"-L{library}", "-ldlbench_call"]
        self.versions = _versions(adapter, packages)
        self._sites = {Path(folder).parent for folder in folders.values()}
        compiler = Path(found).resolve().stat()
        key = [_hash_of(self._path), *self._command, *self._after, *self.versions]
        key += [sys.version, SUFFIX, str(compiler.st_mtime_ns), str(compiler.st_size)]
        self.library = folder() / "calls" / f"{self._path.stem}-{_hash(key)[:32]}.so"

    def is_compiled(self) -> bool:
        """Raises NotCompiled for a cache that another user can write to."""
        if self.is_prebuilt:
            return True
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
                made = self._make(aside, f"-Wl,-rpath,{call_library_path().parent}")
                made.chmod(0o700)
                made.replace(self.library)
        except OSError as error:
            raise NotCompiled(f"{cache}: {os_reason(error)}") from error

    def prebuild(self, to: Path) -> None:
        """Makes the wheel's library in this folder. Raises NotCompiled."""
        mark = f"dlbench made with {_hash_of(self._path)}: {', '.join(self.versions)}"
        more = [f'-DDLBENCH_MADE_WITH="{mark}"', "-s", "-Wl,-rpath,$ORIGIN/../.."]
        with tempfile.TemporaryDirectory() as aside:
            # The same bytes from each folder.
            more += [f"-ffile-prefix-map={place}=." for place in (aside, *self._sites)]
            shutil.copy(self._make(aside, *more), to / f"{self._path.stem}{SUFFIX}")

    def _make(self, aside: str, *more: str) -> Path:
        source, made = self._path, Path(aside, "made.so")
        if source.suffix == ".py":
            source = Path(aside, f"{source.stem}.cpp")
            numbers = map(str, CALL_NUMBERS)
            source.write_bytes(_run([sys.executable, str(self._path), *numbers], aside))
        _run([*self._command, str(source), "-o", str(made), *self._after, *more], aside)
        return made


def versions_in_wheel(source: Path) -> dict[str, str]:
    """The packages that the wheel's library of a source was made with, and their versions; empty
    where there is none, or one of another source. Raises NotCompiled."""
    try:
        found = MADE_WITH.search(source.with_suffix(SUFFIX).read_bytes())
    except OSError:
        return {}
    if found is None or found[1].decode() != _hash_of(source):
        return {}
    return dict(one.split(" ", 1) for one in found[2].decode().split(", "))


def version_in_wheel(adapter: str | Path, builds: Mapping[str, str]) -> str:
    """The version with which the wheel's functions of an adapter were compiled, as "3.3.1 (in the
    wheel)". Empty if the wheel has none."""
    path = Path(adapter)
    version = versions_in_wheel(path.parent / builds[""]).get(path.stem)
    return f"{version} (in the wheel)" if version else ""


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


def _text(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise NotCompiled(f"{source}: {error}") from error


def _hash(words: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def _hash_of(source: Path) -> str:
    """Of all that dlbench has of a source."""
    headers = sorted(Path(_folder_of("dlbench.consumers"), "call").glob("*.h"))
    return _hash([_text(source), *map(_text, headers), *FLAGS])


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
    names = sorted({*map(facts.requirement_name, named)})
    return [f"{name} {version}" for name in names if (version := _version(name))]


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


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
