"""What reached the body of a consumer's function for `call`, by libdlbench_call.so."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dlbench.adapter import call_library

MOST = 64  #: arrays of one call; DLBENCH_CALL_MOST


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
    finish = library.dlbench_call_finish
    finish.restype = ctypes.c_uint64
    size = max((array.size * max(array.itemsize, 4) for array in sources), default=0)
    arrays, addresses = ctypes.c_size_t(), (ctypes.c_size_t * MOST)()
    content = ctypes.create_string_buffer(max(1, MOST * size))
    library.dlbench_call_begin(content, ctypes.c_size_t(size))
    try:
        call()
    finally:
        calls = finish(ctypes.byref(arrays), addresses)
    found = [content.raw[i * size : (i + 1) * size] for i in range(arrays.value)]
    return Record(calls, addresses[: arrays.value], found)
