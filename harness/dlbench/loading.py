"""What a worker does once for each library: run its adapter file, read versions and devices."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

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
        raise ImportError(f"{path} is no Python file")
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
    """Where the library's arrays can lie here, in dlbench's words."""
    ask = getattr(module, "devices", None)
    if ask is not None:
        return [str(device) for device in ask()]
    return list(getattr(module, "DEVICES", ("cpu",)))
