"""Loads a library in a worker: runs its adapter file, reads its version and devices."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from dlbench import import_effects
from dlbench.libraries import arguments, facts
from dlbench.text.escaping import shortened

#: What the names of adapter modules begin with, before the role and the library.
PRIVATE = "_dlbench_"
#: Packages that any library may call or return arrays of: they show no owner.
SHARED = {"numpy"}


def load_adapter(role: str, name: str, path: str) -> ModuleType:
    """Run an adapter file under a private name, so that producers/numpy.py never shadows numpy.

    The file of NAME:ARGUMENT finds what was chosen as ARGUMENT, a name and a value; that of a bare
    NAME or of NAME:CALL finds `("", None)`. An entry of PROTOCOLS or EXPORTS that this version of
    the library lacks is left out; ABSENT has the library's error.
    """
    private = f"{PRIVATE}{role}_{name}"
    spec = importlib.util.spec_from_file_location(private, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[private] = module
    _, argument = arguments.split(name)
    tree = facts.with_call(facts.parse(Path(path)), argument)
    known = facts.read_arguments(tree, Path(path)) if argument else {}
    is_known = argument.partition("=")[0] in known
    module.ARGUMENT = arguments.read(argument, known) if is_known else ("", None)  # type: ignore[attr-defined]
    absent: dict[str, str] = {}
    vars(module).update({RESOLVE: lambda table: resolve_entries(table, absent), "ABSENT": absent})
    exec(_code(tree, path), vars(module))
    ready_with = getattr(module, "READY", None)
    if ready_with is not None and argument.partition("=")[0] not in ready_with:
        module.ready = None  # type: ignore[attr-defined]
    return module


RESOLVE = "_dlbench_resolve_entries"


def _code(tree: ast.Module, path: str) -> CodeType:
    """The file's code; each entry of a table is a function, which resolves the entry."""
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict):
            continue
        table = node.value
        if None not in table.keys and facts.TABLES & {*facts.bound_names(node)}:
            nothing = ast.arguments([], [], None, [], [], None, [])
            table.values = [ast.Lambda(nothing, value) for value in table.values]
            node.value = ast.Call(ast.Name(RESOLVE, ast.Load()), [table], [])
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def resolve_entries(table: dict[str, Callable[[], Any]], absent: dict[str, str]) -> dict[str, Any]:
    found = {}
    for name, resolve in table.items():
        try:
            found[name] = resolve()
        except AttributeError as error:
            absent[name] = str(error)
    return found


def load_and_observe(
    role: str, name: str, path: str
) -> tuple[ModuleType, import_effects.Effects, float]:
    """load_adapter(), its effects on all libraries of this worker, and its seconds. There are no
    effects if the process cannot be observed."""
    from dlbench import _worker  # `check` has none in another Python

    def observe() -> import_effects.State | None:
        try:
            return import_effects.observe(_worker.process_state)
        except Exception:  # of another package's object
            return None

    before = observe()
    begin = time.perf_counter()
    module = load_adapter(role, name, path)
    seconds = time.perf_counter() - begin
    after = observe()
    effects = {} if before is None or after is None else import_effects.compare(before, after)
    _disown_settings(effects, facts.parse(Path(path)))
    return module, effects, seconds


def _disown_settings(effects: import_effects.Effects, tree: ast.Module) -> None:
    """Removes the variables that the file sets by name: no effect of the library's import."""
    own = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    effects["environment"] = [name for name in effects.pop("environment", []) if name not in own]
    if not effects["environment"]:
        del effects["environment"]


def is_code_of(
    files: list[str], consumer: ModuleType, producer: ModuleType | None, array: object = None
) -> bool:
    """Do all these files of machine code lie in packages of the consumer, and none in one that the
    producer's adapter imports too? The pair of one library is its own consumer. NumPy decides
    nothing: a producer may call it from anywhere. Nor does the interpreter, unless the producer's
    array is one of Python's own, which copies nothing unasked."""
    own = _packages(consumer) - SHARED
    if producer is not None and _library(producer) != _library(consumer):
        own -= _packages(producer)
    maps = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    paths = {Path(line.split(None, 5)[5]) for line in maps if "/" in line}
    folders = [Path(path) for root in own for path in getattr(sys.modules[root], "__path__", ())]
    inside = {path.name for path in paths if any(map(path.is_relative_to, folders))}
    outside = {path.name for path in paths} - inside
    known = inside - outside
    if array is not None and type(array).__module__ in sys.stdlib_module_names:
        is_python = re.compile(r".*/(lib-dynload/[^/]*|libpython[^/]*|python[0-9.]*)")
        known |= {path.name for path in paths if is_python.fullmatch(str(path))}
    return bool(files) and set(files) <= known


def foreign_type(array: object, producer: ModuleType) -> str:
    """The type of a producer's array if another library of this worker defines it, and neither the
    producer's adapter nor NumPy, whose arrays belong to all; empty otherwise."""
    root = type(array).__module__.partition(".")[0]
    loaded = {_library(each) for name, each in [*sys.modules.items()] if name.startswith(PRIVATE)}
    is_foreign = root in loaded - SHARED - {_library(producer)} - _packages(producer)
    return f"{type(array).__module__}.{type(array).__qualname__}" if is_foreign else ""


def _library(module: ModuleType) -> str:
    return arguments.split(module.__name__.split("_", 3)[3])[0]


def _packages(module: ModuleType) -> set[str]:
    """The packages that an adapter imports, and that of the library's name."""
    named = [
        value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
        for value in vars(module).values()
    ]
    roots = {name.partition(".")[0] for name in (*named, _library(module))}
    return (roots & set(sys.modules)) - set(sys.stdlib_module_names) - {"dlbench"}


def version(name: str, module: ModuleType) -> str:
    """The adapter's VERSION, else that of its distribution as installed here, or in the wheel."""
    own = getattr(module, "VERSION", None)
    if own is not None:
        return shortened(str(own))
    distribution = getattr(module, "DISTRIBUTION", arguments.split(name)[0])
    for alternative in (distribution,) if isinstance(distribution, str) else distribution or ():
        try:
            return shortened(importlib.metadata.version(facts.requirement_name(alternative)))
        except importlib.metadata.PackageNotFoundError:
            continue
    if "" not in getattr(module, "BUILDS", {}):
        return ""
    from dlbench.libraries import compiled

    return compiled.version_in_wheel(str(module.__file__), module.BUILDS)


def devices(module: ModuleType) -> list[str]:
    """The devices that can hold the library's arrays here."""
    find_drivers = getattr(module, "devices", None)
    if find_drivers is not None:
        return [str(device) for device in find_drivers()]
    return list(getattr(module, "DEVICES", ("cpu",)))
