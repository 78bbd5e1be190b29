"""The producer's exports through the buffer protocol and the array interfaces."""

import dataclasses
import sys

import numpy as np

from dlbench import _check
from rulebreaker.fault import breaks, enter

WRITABLE, FULL_RO = 1, 0x11C
WRITEABLE, NOT_SWAPPED, C_ORDER = 0x400, 0x200, 0x1
assert sys.byteorder == "little", "the typestr of __cuda_array_interface__"


def zeros_like(array):
    """Other elements, or another shape."""
    return np.zeros_like(array) if array.any() else np.zeros((1, 1), array.dtype)


class Others(_check.Buffered):
    """The exports of an array with `case`, `device`, `view` (a NumPy array) and `first` (an
    address)."""

    def _buffer(self, flags):
        enter(self.case, {})
        changes = {}
        view = self.view
        if breaks("buffer.values", False):
            view = zeros_like(view)
        elif breaks("buffer.values", self.case.layout == "strided"):
            changes["strides"] = (self.view.itemsize,)
        if breaks("buffer.format") and flags & 0x4:
            changes["format"] = "f" if view.dtype == np.int32 else "i"
        if breaks("buffer.fields") and not flags & 0x4:
            changes["format"] = "f"
        if breaks("buffer.length"):
            changes["len"] = self.view.nbytes + 1
        if breaks("buffer.read-only") and self.case.readonly:
            flags &= ~WRITABLE
        if breaks("buffer.contiguous", self.case.layout == "strided" and not self.case.readonly):
            flags = FULL_RO
        if breaks("buffer.keeps-memory"):
            changes["orphan"] = True
        return view, flags, changes

    def _released(self):
        pass

    @property
    def __array_interface__(self):
        enter(self.case, {})
        found = dict(self.view.__array_interface__)
        data, _ = found["data"]
        if breaks("interface.keys"):
            found["version"] = 2
        if breaks("interface.values", False):
            found["typestr"] = "<f4" if self.case.dtype == "int32" else "<i4"
        elif breaks("interface.values", self.case.layout == "strided"):
            found["strides"] = (self.view.itemsize,)
        if breaks("interface.read-only"):
            found["data"] = (data, False)
        return found

    @property
    def __array_struct__(self):
        enter(self.case, {})
        view, readonly = self.view, self.case.readonly
        writeable = not readonly or breaks("struct.flags")
        flags = NOT_SWAPPED | (WRITEABLE if writeable else 0)
        flags |= C_ORDER if view.flags.c_contiguous else 0
        kind = view.dtype.kind
        if breaks("struct.values"):
            kind = "f" if kind == "i" else "i"
        two = 3 if breaks("struct.two") else 2
        return _check.make_struct(
            two, kind, view.itemsize, flags, view.shape, view.strides, self.first, self
        )

    def __array__(self, *dtypes, **words):
        dtype = dtypes[0] if dtypes else None
        enter(
            self.case,
            {**({"dtype": None if dtype is None else dtype.name} if dtypes else {}), **words},
        )
        if breaks("array.keywords", "copy" in words):
            raise TypeError("copy")
        view, copy = self.view, words.get("copy")
        dtype = view.dtype if dtype is None else dtype
        if breaks("array.values", self.case.dtype == "bool"):
            view = zeros_like(view)
        if dtypes and breaks("array.dtype"):
            dtype = np.dtype(np.int64)
        if copy is False and breaks("array.copy-false"):
            view = view.copy()
        elif copy is False and dtype != view.dtype:
            raise ValueError("a copy is needed")
        if dtype != view.dtype:
            return view.astype(dtype)
        return view.copy() if copy is True and not breaks("array.copy-true") else view

    def __array_ufunc__(self, ufunc, method, *given, **words):
        arrays = [one.view if isinstance(one, Others) else one for one in given]
        return self._kept("dispatch.ufunc", getattr(ufunc, method)(*arrays, **words))

    def __array_function__(self, function, types, args, words):
        arrays = [one.view for one in args[0]]
        return self._kept("dispatch.function", function(arrays, *args[1:], **words))

    def _kept(self, rule, computed):
        if breaks(rule):
            return computed
        made = type(self)(dataclasses.replace(self.case, bytes=computed.nbytes), self.device)
        made.view[...] = computed
        return made

    @property
    def __cuda_array_interface__(self):
        if self.device == "cpu" and not breaks("cuda.host"):
            raise AttributeError("__cuda_array_interface__")
        shape = list(self.view.shape) if breaks("cuda.keys") else self.view.shape
        empty = not self.view.size and not breaks("cuda.empty")
        return {
            "shape": shape,
            "typestr": "<f4",
            "data": (0 if empty else self.first, False),
            "version": "3" if breaks("cuda.version") else 3,
            "stream": 0 if breaks("cuda.stream") else 1,
        }
