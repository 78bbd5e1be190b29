"""What dlbench's adapter calls of Warp, on the fake driver: its stream scope makes the new stream
wait for the former one, unless an argument prevents that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import device_library

LIBRARY = device_library.Library("cuda")
config = SimpleNamespace(quiet=False)


def init() -> None:
    pass


def get_devices() -> list[str]:
    return ["cpu", "cuda:0"]


class Stream:
    def __init__(self, device: str, cuda_stream: int) -> None:
        self.cuda_stream = cuda_stream


def get_stream(device: str) -> Stream:
    return Stream(device, LIBRARY.current)


class ScopedStream:
    def __init__(self, stream: Stream, sync_enter: bool = True, sync_exit: bool = False) -> None:
        self.stream, self.sync_enter, self.sync_exit = stream, sync_enter, sync_exit

    def __enter__(self) -> Stream:
        former = LIBRARY.current
        LIBRARY.streams.append(self.stream.cuda_stream)
        if self.sync_enter and former != LIBRARY.current:
            LIBRARY.driver.order(former, LIBRARY.current)
        return self.stream

    def __exit__(self, *_: object) -> None:
        LIBRARY.streams.pop()
        if self.sync_exit and LIBRARY.current != self.stream.cuda_stream:
            LIBRARY.driver.order(self.stream.cuda_stream, LIBRARY.current)


def array(source: Any, device: str = "cuda:0") -> device_library.Array:
    if isinstance(source, device_library.Array):
        return source
    return LIBRARY.from_numpy(source)


def from_dlpack(source: Any) -> device_library.Array:
    return LIBRARY.from_dlpack(source)
