"""The consumer's imports by the buffer protocol and the array interfaces."""

import numpy as np

from dlbench import _check
from rulebreaker.exports import zeros_like
from rulebreaker.fault import breaks, enter
from rulebreaker.result import Imported, Memory


def from_buffer(x):
    enter(getattr(x, "word", "line"), {})
    view = memoryview(x)
    array = np.asarray(view)
    if breaks("import-buffer.values"):
        array = zeros_like(array)
    if breaks("import-buffer.read-only") and view.readonly:
        steps, address = array.strides, array.ctypes.data
        array = np.asarray(Memory(address, array.shape, steps, array.dtype, False, view))
    if breaks("import-buffer.held"):
        address, shape, steps = array.ctypes.data, array.shape, array.strides
        array = np.asarray(Memory(address, shape, steps, array.dtype, view.readonly, None))
    return Imported(array)


def from_interface(x):
    enter(getattr(x, "word", "line"), {})
    found = x.__array_interface__
    data, readonly = found["data"]
    dtype = np.dtype(found["typestr"])
    steps = found.get("strides") or [
        dtype.itemsize * int(np.prod(found["shape"][i + 1 :])) for i in range(len(found["shape"]))
    ]
    if breaks("import-interface.values", False):
        return Imported(zeros_like(np.ones(found["shape"], dtype)))
    if 0 in found["shape"]:
        return Imported(np.empty(found["shape"], dtype))
    if breaks("import-interface.values"):
        steps = [abs(step) for step in steps]
        data -= 0 if steps == list(found.get("strides") or steps) else dtype.itemsize * 63
    owner = None if breaks("import-interface.keeps-exporter") else x
    return Imported(np.asarray(Memory(data, found["shape"], steps, dtype, readonly, owner)))


def from_struct(x):
    enter(getattr(x, "word", "line"), {})
    facts = _check.read_struct(x.__array_struct__)
    steps = facts["strides"]
    data = facts["data"]
    if breaks("import-struct.values", False):
        return Imported(zeros_like(np.ones(facts["shape"] or (), "f4")))
    if 0 in (facts["shape"] or ()):
        return Imported(np.empty(facts["shape"], f"{facts['kind']}{facts['itemsize']}"))
    if breaks("import-struct.values", any(step < 0 for step in steps or ())):
        data, steps = data + steps[0] * (facts["shape"][0] - 1), [-step for step in steps]
    owner = None if breaks("import-struct.keeps-exporter") else x
    dtype = f"{facts['kind']}{facts['itemsize']}"
    readonly = not facts["flags"] & 0x400
    return Imported(np.asarray(Memory(data, facts["shape"], steps, dtype, readonly, owner)))
