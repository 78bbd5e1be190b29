"""The result that the consumer returns."""

import threading

import numpy as np

from dlbench import _check
from dlbench.check.known_producer import SIZES
from rulebreaker.fault import breaks

KEPT = []


def shows(rule, facts):
    """Is it the tensor that this rule exports?"""
    return breaks(rule) and facts["shape"] == (SIZES[rule],)


class Memory:
    """Memory at an address, for NumPy; keeps what it belongs to."""

    def __init__(self, address, shape, strides, dtype, readonly, owner):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(shape),
            "strides": tuple(strides),
            "typestr": np.dtype(dtype).str,
            "data": (address, readonly),
        }


class Imported(_check.Buffered):
    device = "cpu"

    def __init__(self, array, owner=None, facts=None):
        self.array, self.owner, self.facts = array, owner, facts

    def _buffer(self, flags):
        return self.array, flags, {}

    def _released(self):
        pass

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **words):
        array, owner = self.array, self.owner
        if self.facts and shows("import.exported-again", self.facts):
            owner = None
        lies = array.ctypes.data, array.shape, array.strides, array.dtype
        readonly = not array.flags.writeable
        return np.asarray(Memory(*lies, readonly, owner or array)).__dlpack__(**words)

    def __getitem__(self, index):
        view = Imported(self.array[index])
        if not (self.facts and shows("import.view-keeps", self.facts)):
            view.owner = self.owner
        return view

    def __del__(self):
        facts, imported_tensor = self.facts, self.owner
        if facts is None or not hasattr(imported_tensor, "release"):
            return
        elsewhere = threading.current_thread() is not threading.main_thread()
        if (
            shows("import.deleter-once", facts)
            or shows("import.several", facts)
            or (shows("import.null-context", facts) and not facts["context"])
            or (shows("import.other-thread", facts) and elsewhere)
            or (breaks("import.empty-deleted") and 0 in facts["shape"])
        ):
            KEPT.append(imported_tensor)
