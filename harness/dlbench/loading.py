"""Loads a library in a worker: runs its adapter file, reads its version and devices."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

from dlbench import import_effects
from dlbench.libraries import arguments, facts
from dlbench.text.escaping import shortened


def load_adapter(role: str, name: str, path: str) -> ModuleType:
    """Run an adapter file under a private name, so that producers/numpy.py never shadows numpy.

    The file of NAME:ARGUMENT finds what was chosen as ARGUMENT, a name and a value; that of a bare
    NAME finds `("", None)`.
    """
    private = f"_dlbench_{role}_{name}"
    spec = importlib.util.spec_from_file_location(private, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[private] = module
    _, argument = arguments.split(name)
    known = facts.read_arguments(facts.parse(Path(path)), Path(path)) if argument else {}
    module.ARGUMENT = arguments.read(argument, known) if argument else ("", None)  # type: ignore[attr-defined]
    spec.loader.exec_module(module)
    ready_with = getattr(module, "READY", None)
    if ready_with is not None and argument.partition("=")[0] not in ready_with:
        module.ready = None  # type: ignore[attr-defined]
    return module


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
    return module, effects, seconds


def version(name: str, module: ModuleType) -> str:
    """The adapter's VERSION, else that of its distribution as installed here, or nothing."""
    own = getattr(module, "VERSION", None)
    if own is not None:
        return shortened(str(own))
    distribution = getattr(module, "DISTRIBUTION", arguments.split(name)[0])
    for alternative in (distribution,) if isinstance(distribution, str) else distribution or ():
        try:
            return shortened(importlib.metadata.version(alternative))
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def devices(module: ModuleType) -> list[str]:
    """The devices that can hold the library's arrays here."""
    find_drivers = getattr(module, "devices", None)
    if find_drivers is not None:
        return [str(device) for device in find_drivers()]
    return list(getattr(module, "DEVICES", ("cpu",)))
