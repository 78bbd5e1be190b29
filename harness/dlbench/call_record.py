"""What reached the body of a consumer's function for `call`, by libdlbench_call.so."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dlbench.adapter import call_library
from dlbench.case import FOREIGN

MOST = 64  #: arrays of one call; DLBENCH_CALL_MOST
DIMENSIONS = 8
#: The codes of DLPack's dtypes; from 7 on they have the order of FOREIGN.
KINDS = {0: "int{}", 1: "uint{}", 2: "float{}", 4: "bfloat{}", 5: "complex{}", 6: "bool"}
KINDS |= dict(enumerate((name for name in FOREIGN if name.startswith("float")), 7))


class Tensor(ctypes.Structure):
    """dlbench_call_tensor."""

    _fields_ = [
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("shape", ctypes.c_int64 * DIMENSIONS),
        ("strides", ctypes.c_int64 * DIMENSIONS),
    ]

    def __str__(self) -> str:
        if self.ndim < 0:
            return "not described"
        shape, strides = tuple(self.shape[: self.ndim]), tuple(self.strides[: self.ndim])
        dtype = KINDS.get(self.code, f"code{self.code}bits{{}}lanes1").format(self.bits)
        return f"shape {shape}, strides {strides}, dtype {dtype}"


class BodyRecord(ctypes.Structure):
    """dlbench_call_record."""

    _fields_ = [
        ("calls", ctypes.c_uint64),
        ("sum", ctypes.c_uint64),
        ("arrays", ctypes.c_size_t),
        ("last", ctypes.c_size_t * MOST),
        ("watch", ctypes.c_void_p),
        ("described", ctypes.POINTER(Tensor)),
    ]

    @classmethod
    def of_library(cls) -> BodyRecord:
        return cls.in_dll(call_library(), "dlbench_call_record")


def descriptions(call: Callable[[], object]) -> list[str]:
    """The arguments of a call as its binding describes them to the body; strides in bytes."""
    found = (Tensor * MOST)(*[Tensor(-1)] * MOST)
    record = BodyRecord.of_library()
    record.described = found
    try:
        call()
    finally:
        record.described = None
    return [str(tensor) for tensor in found[: record.arrays]]


@dataclass(frozen=True)
class Record:
    """The calls of the body; the addresses that the last one got, and the first bytes there."""

    calls: int
    addresses: list[int]
    content: list[bytes]

    def holds(self, position: int, array: Any) -> bool:
        """Does an argument begin with the elements of a NumPy array, in C order?"""
        expected = array.tobytes()[: len(self.content[position])]
        return bool(self.content[position].startswith(expected))


def recorded(function: Callable[..., object], body: Callable[..., object]) -> Callable[..., None]:
    """Returns the function, which calls `body` with the addresses that its own body gets."""

    def call(*arrays: object) -> None:
        found = record(lambda: function(*arrays))
        for _ in range(found.calls):
            body(*found.addresses)

    return call


def record(call: Callable[[], object], sources: Sequence[Any] = ()) -> Record:
    """The record of a call, with as many bytes of each argument as these NumPy arrays have."""
    library = call_library()
    body = BodyRecord.of_library()
    size = max((array.size * max(array.itemsize, 4) for array in sources), default=0)
    content = ctypes.create_string_buffer(max(1, MOST * size))
    library.dlbench_call_begin(content, ctypes.c_size_t(size))
    try:
        call()
        launched = ctypes.POINTER(BodyRecord).in_dll(library, "dlbench_call_launched")
        deadline = time.monotonic() + 1
        while launched and not launched.contents.calls and time.monotonic() < deadline:
            time.sleep(0.01)  # the kernel may not have ended
        library.dlbench_call_gather()
    finally:
        body.watch = None
    found = [content.raw[i * size : (i + 1) * size] for i in range(body.arrays)]
    return Record(body.calls, body.last[: body.arrays], found)
