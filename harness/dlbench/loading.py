"""What a worker does once for each library: run its adapter file, ask for versions and devices."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from types import ModuleType


def load_adapter(role: str, name: str, path: str) -> ModuleType:
    """Run an adapter file under a private name, so that producers/numpy.py never shadows numpy."""
    private = f"_dlbench_{role}_{name}"
    spec = importlib.util.spec_from_file_location(private, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[private] = module
    spec.loader.exec_module(module)
    return module


def version(name: str, module: ModuleType) -> str:
    """The version of the adapter's distribution as installed here, or an empty string."""
    distribution = getattr(module, "DISTRIBUTION", name)
    for alternative in (distribution,) if isinstance(distribution, str) else distribution or ():
        try:
            return importlib.metadata.version(alternative)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def devices(module: ModuleType) -> list[str]:
    """Where the library's arrays can lie here, in dlbench's words."""
    ask = getattr(module, "devices", None)
    if ask is not None:
        return [str(device) for device in ask()]
    return list(getattr(module, "DEVICES", ("cpu",)))
