"""Reads what a library exports, and exports tensors of any description."""

from collections.abc import Mapping, Sequence
from typing import Any

Facts = dict[str, Any]

def read(capsule: object, /) -> Facts: ...
def import_capsule(capsule: object, /) -> ImportedTensor: ...
def gather(
    address: int, shape: Sequence[int], strides: Sequence[int] | None, itemsize: int, /
) -> bytes: ...
def make_api(
    callbacks: dict[str, Any],
    *,
    version: tuple[int, int] = ...,
    without: str = ...,
    name: str = ...,
) -> object: ...
def get_buffer(x: object, flags: int, /) -> Facts: ...
def read_struct(capsule: object, /) -> Facts: ...
def make_struct(
    two: int,
    kind: str,
    itemsize: int,
    flags: int,
    shape: Sequence[int],
    strides: Sequence[int],
    data: int,
    keep: object,
    /,
) -> object: ...
def heap_bytes() -> int | None: ...

class Memory:
    address: int
    def __init__(self, content: object, offset: int = ...) -> None: ...
    def poison(self) -> None: ...

class BorrowedTensor:
    deletions: int
    had_gil: bool
    address: int
    def __init__(
        self,
        memory: Memory,
        shape: Sequence[int],
        strides: Sequence[int] | None,
        *,
        dtype: tuple[int, int, int] = ...,
        legacy: bool = ...,
        version: tuple[int, int] = ...,
        flags: int = ...,
        device: tuple[int, int] = ...,
        byte_offset: int = ...,
        data: int | None = ...,
        deleter: str = ...,
        destructor: str = ...,
        name: str | None = ...,
        poison: bool = ...,
        trapped: bool = ...,
    ) -> None: ...
    def capsule(self) -> object: ...

class ImportedTensor:
    facts: Facts
    def release(self, how: str = ...) -> None: ...

class Api:
    versions: list[tuple[int, int]]
    functions: Mapping[str, bool]
    def __init__(self, published: object) -> None: ...
    def from_object(self, x: object, /) -> ImportedTensor: ...
    def to_object(self, borrowed: BorrowedTensor, /) -> Any: ...
    def borrow(self, x: object, /) -> Facts: ...
    def allocate(
        self, dtype: tuple[int, int, int], shape: Sequence[int], device_type: int = ..., /
    ) -> Facts: ...
    def stream(self, device_type: int = ..., id: int = ..., /) -> Any: ...  # noqa: A002

class Buffered:
    def _buffer(self, flags: int) -> tuple[object, int, dict[str, Any]]: ...
    def _released(self) -> None: ...
