"""The axes of `--calls`: what a call with several arrays costs, by binding."""

from __future__ import annotations

from dlbench.analysis.calls import CALL
from dlbench.errors import BadInput
from dlbench.libraries import discover
from dlbench.running.request import Request

ARRAYS = ("0", "1", "2", "4", "8", "14", "20")
#: Each offers another set of protocols, or is common as an argument of compiled functions.
PRODUCERS = ("array", "jax", "native", "numpy", "torch", "tvm_ffi")


def complete(request: Request) -> None:
    """Fills in the axes that the request leaves open. Raises BadInput if others exclude calls."""
    if request.pair:
        raise BadInput("--calls measures producers against bindings: name them by --producers and "
                       "--consumers")  # fmt: skip
    if request.protocols not in ([], [CALL]):
        raise BadInput("--calls measures the protocol call: leave out --protocols")
    found = discover.catalogue(request.adapters)
    request.protocols = [CALL]
    request.arrays = request.arrays or list(ARRAYS)
    request.sizes = request.sizes or ["1KiB"]
    request.consumers = request.consumers or bindings(found)
    request.producers = request.producers or [
        name for name in PRODUCERS if discover.library(name, found.roles(name)).installed
    ]


def bindings(found: discover.Catalogue) -> list[str]:
    """The consumers with functions of arrays, NAME or NAME:CALL."""
    names = []
    for name, roles in found.files.items():
        file = roles.get("consumer")
        if file is None or file.hidden:
            continue
        names += [name] if CALL in file.protocols else []
        names += [f"{name}:{call}" for call, protocols in file.calls.items() if CALL in protocols]
    return names
