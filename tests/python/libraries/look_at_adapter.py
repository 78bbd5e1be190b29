"""Runs in a separate process: prints as JSON what the two adapter files of a library do.

Usage: look_at_adapter.py LIBRARY CASES, where CASES is a JSON list of Case's arguments.
"""

from __future__ import annotations

import gc
import json
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import dlbench
from dlbench import Call, Capsule, X, _check, loading
from dlbench.case import Case

PACKAGE = Path(dlbench.__file__).parent
#: Of devices alone; and NumPy's dispatch and calls, which hand nothing over.
NO_EXCHANGE_HERE = ("cuda_array_interface", "array_ufunc", "array_function", "call")


def load(role: str, library: str) -> ModuleType | None:
    path = PACKAGE / f"{role}s" / f"{library}.py"
    return loading.load_adapter(role, library, str(path)) if path.exists() else None


class Library:
    """One library's facts, whichever of its files has them."""

    def __init__(self, name: str) -> None:
        self.producer, self.consumer = load("producer", name), load("consumer", name)

    def fact(self, name: str) -> Any:
        for module in (self.consumer, self.producer):
            if hasattr(module, name):
                return getattr(module, name)
        return None

    def wait(self, array: Any) -> None:
        ready = self.fact("ready")
        if ready is not None:
            ready(array)

    def values(self, array: Any) -> np.ndarray[Any, Any]:
        """What an array holds, by a view of it where there is one."""
        own = self.fact("values")
        if own is not None:
            return np.asarray(own(array))
        return np.from_dlpack(array) if hasattr(array, "__dlpack__") else np.asarray(array)

    def address(self, array: Any) -> int:
        own = self.fact("address")
        return int(own(array)) if own is not None else self.values(array).ctypes.data


def fault(library: Library, array: Any, expected: np.ndarray[Any, Any]) -> str:
    values = library.values(array)
    if values.dtype != expected.dtype or values.shape != expected.shape:
        return f"{values.dtype}{values.shape}"
    return "" if np.array_equal(values, expected) else "other values"


def readonly(array: Any) -> list[bool]:
    """What the exports that can tell show: a buffer, `__array_interface__`, a versioned struct."""
    found = []
    with suppress(Exception):
        found.append(memoryview(array).readonly)
    with suppress(Exception):
        found.append(array.__array_interface__["data"][1])
    with suppress(Exception):
        facts = _check.read(array.__dlpack__(max_version=(1, 0)))
        found += [bool(facts["flags"] & 1)] if facts["struct"] == "versioned" else []
    return found


def made(library: Library, case: Case, device: str) -> dict[str, Any]:
    try:
        array = library.producer.make(case, device)  # type: ignore[union-attr]
    except Exception as why:  # Unsupported, or the library's own error
        return {"unsupported": str(why)}
    library.wait(array)
    # The exporter of the array's memory is gone by now.
    gc.collect()
    return {
        "fault": fault(library, array, case.numpy()),
        "strides": list(library.values(array).strides),
        "address": library.address(array),
        "readonly": readonly(array),
        "exports": [
            name
            for name in ("__dlpack__", "__array_interface__", "__array_struct__")
            if hasattr(array, name)
        ],
    }


def crossed(library: Library, spelled: Any, case: Case) -> str:
    """ "ok", or what was raised, or how the values differ."""
    from dlbench import _native_producer

    x = _native_producer.Array(case.numpy())
    try:
        if isinstance(spelled, Capsule):
            result = spelled.function(x.__dlpack__())
        elif isinstance(spelled, Call):
            arguments = [x if each is X else each for each in spelled.args]
            result = spelled.function(*arguments, **spelled.kwargs)
        else:
            result = spelled(x)
        library.wait(result)
    except Exception as error:
        return type(error).__name__
    del x
    gc.collect()
    # NumPy reads no array of the native consumer but as a buffer.
    return fault(library, result, case.numpy()) or "ok"


def main() -> None:
    """Print one JSON object on the last line."""
    library = Library(sys.argv[1])
    cases = [Case(**arguments) for arguments in json.loads(sys.argv[2])]
    module = library.producer or library.consumer
    assert module is not None
    devices = [
        device
        for role in (library.producer, library.consumer)
        if role is not None
        for device in loading.devices(role)
    ]
    report = {
        "version": loading.version(sys.argv[1], module),
        "devices": devices,
        "has_ready": library.fact("ready") is not None,
        "made": {case.name: made(library, case, loading.devices(module)[0]) for case in cases},
        "crossed": {
            protocol: {case.name: crossed(library, spelled, case) for case in cases}
            for protocol, spelled in getattr(library.consumer, "PROTOCOLS", {}).items()
            if protocol not in NO_EXCHANGE_HERE
        },
    }
    print()
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
