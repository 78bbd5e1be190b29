"""A library for tests: adapters that need only NumPy."""

from __future__ import annotations

from pathlib import Path

PRODUCER = '''\
"""Makes lists of what NumPy has."""
import numpy as np

from dlbench import Unsupported

DISTRIBUTION = None
_scale = 2.0


def _wrapped(array):
    return np.asarray(array) * (_scale / 2)


def make(case, device):
    if case.readonly:
        raise Unsupported("always writable")
    if case.dtype != "float32" or case.strides:
        return case.numpy()
    return _wrapped(case.numpy())
'''

CONSUMER = '''\
"""Takes anything."""
import os

os.environ.setdefault("PLANTED", "1")

import numpy as np

from dlbench import Call, Capsule, X

DISTRIBUTION = None


def _wrapped(array):
    return np.from_dlpack(array)


def _fail(array):
    raise BufferError("not today")


def ready(array):
    array.sum()


PROTOCOLS = {
    "dlpack": _wrapped,
    "dlpack_c": lambda array: _fail(array),
    "dlpack_legacy": Capsule(type),
    "buffer": Call(np.frombuffer, X, np.float32, count=4),
    "convert": np.asarray,
}
'''


def plant(folder: Path, name: str = "mine") -> Path:
    """An adapters folder with one library in both roles."""
    for role, text in (("producers", PRODUCER), ("consumers", CONSUMER)):
        (folder / role).mkdir(parents=True, exist_ok=True)
        (folder / role / f"{name}.py").write_text(text)
    return folder
