"""An array library on the fake drivers, in ways that real ones are known to behave.

It has a current stream, a caching pool that reuses a block at once, and DLPack in both directions.
Modules and adapters that stand for real libraries are made of it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

import dlpack_structs

CODES = {"i": 0, "u": 1, "f": 2}
ALIVE: dict[int, Any] = {}  # what exported tensors hold, by address


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _release(address: int) -> None:
    ALIVE.pop(address, None)


class Driver:
    """The functions of libcuda.so.1 or libamdhip64.so.6 that a library calls."""

    NAMES: ClassVar = {
        "cuda": {"stream": "cuStreamCreate", "wait": "cuStreamSynchronize",
                 "wait_device": "cuCtxSynchronize", "event": "cuEventCreate",
                 "record": "cuEventRecord", "order": "cuStreamWaitEvent",
                 "wait_event": "cuEventSynchronize",
                 "allocate": "cuMemAlloc", "run": "cuLaunchHostFunc",
                 "device_count": "cuDeviceGetCount", "current_device": "cuCtxGetDevice"},
        "rocm": {"stream": "hipStreamCreateWithFlags", "wait": "hipStreamSynchronize",
                 "wait_device": "hipDeviceSynchronize", "event": "hipEventCreateWithFlags",
                 "record": "hipEventRecord", "order": "hipStreamWaitEvent",
                 "wait_event": "hipEventSynchronize",
                 "allocate": "hipMalloc", "run": "hipLaunchHostFunc",
                 "device_count": "hipGetDeviceCount", "current_device": "hipGetDevice"},
    }  # fmt: skip

    def __init__(self, kind: str, number: int = 0) -> None:
        self.kind, self.number = kind, number
        self.library = ctypes.CDLL("libcuda.so.1" if kind == "cuda" else "libamdhip64.so.6")
        if kind == "cuda":
            self("cuInit", 0)
            self.context = self.made("cuDevicePrimaryCtxRetain", number)
        self.enter()

    def enter(self) -> None:
        """Makes its device the current one of this thread."""
        if self.kind == "cuda":
            self("cuCtxSetCurrent", self.context)
        else:
            self("hipSetDevice", self.number)

    def number_from(self, name: str) -> int:
        """The number that a function makes."""
        out = ctypes.c_int()
        self(name, ctypes.byref(out))
        return out.value

    def _function(self, name: str) -> int:
        found = ctypes.c_void_p()
        if self.kind == "cuda":
            self.library.cuGetProcAddress(
                name.encode(), ctypes.byref(found), 11040, ctypes.c_uint64(0)
            )
        else:
            found = ctypes.cast(getattr(self.library, name), ctypes.c_void_p)
        assert found.value is not None
        return found.value

    def __call__(self, name: str, *arguments: Any) -> None:
        name = self.NAMES[self.kind].get(name, name)
        kinds = [ctypes.c_int, *[ctypes.c_void_p] * len(arguments)]
        code = ctypes.CFUNCTYPE(*kinds)(self._function(name))(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: error {code}")

    def made(self, name: str, *arguments: Any) -> int:
        """The handle or address that a function makes; 0 where it is null."""
        out = ctypes.c_void_p()
        self(name, ctypes.byref(out), *arguments)
        return out.value or 0

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        if self.kind == "cuda":
            self("cuMemcpyAsync", to, source, size, stream)
        else:
            self("hipMemcpyAsync", to, source, size, 4, stream)

    def order(self, first: int, then: int) -> None:
        """Work that is put on `then` from now on comes after what `first` has."""
        event = self.made("event", 2)
        self("record", event, first)
        self("order", then, event, 0)


class BorrowedTensor:
    """An imported tensor: its deleter is called with the last view."""

    def __init__(self, capsule: Any) -> None:
        self.managed = dlpack_structs.take(capsule)

    def __del__(self) -> None:
        self.managed.deleter(ctypes.addressof(self.managed))


class Block:
    """Memory of the pool, where it goes back to at once: the next array of the size gets it."""

    def __init__(self, library: Library, size: int) -> None:
        self.library, self.pool = library, library.pool.setdefault(size, [])
        self.address = self.pool.pop() if self.pool else library.driver.made("allocate", size)
        self.readers: set[int] = set()  # streams that it was exported to

    def __del__(self) -> None:
        if self.library.hoards:
            return
        if self.library.defers:
            for reader in self.readers:
                self.library.driver.order(reader, self.library.current)
        self.pool.append(self.address)


class Array:
    requires_grad = False

    def __init__(self, library: Library, address: int, shape: tuple[int, ...], dtype: Any,
                 owner: Any) -> None:  # fmt: skip
        self.library, self.ptr, self.owner = library, address, owner
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.size = int(np.prod(shape)) * self.dtype.itemsize

    def __dlpack_device__(self) -> tuple[int, int]:
        driver = self.library.driver
        return (2 if driver.kind == "cuda" else 10, driver.number)

    def __dlpack__(
        self, *, stream: int | None = None, max_version: Any = None, dl_device: Any = None, **_: Any
    ) -> Any:
        if dl_device == (1, 0):
            return self.library.to_host(self).__dlpack__(max_version=max_version)
        if stream != -1 or self.library.waits in ("always", "handle"):
            self.library.make_safe(stream or 0)
            if isinstance(self.owner, Block):
                self.owner.readers.add(stream or 0)
        managed = dlpack_structs.Versioned(1, 0)
        shape = (ctypes.c_int64 * len(self.shape))(*self.shape)
        steps = np.empty(self.shape, self.dtype).strides
        strides = (ctypes.c_int64 * len(steps))(*(step // self.dtype.itemsize for step in steps))
        kind, number = self.__dlpack_device__()
        code = CODES[self.dtype.kind]
        managed.tensor = dlpack_structs.Tensor(
            self.ptr, kind, number, len(shape), code, 8 * self.dtype.itemsize, 1, shape, strides
        )
        managed.deleter = _release
        ALIVE[ctypes.addressof(managed)] = (managed, shape, strides, self)
        return dlpack_structs.borrowed_capsule(managed)


class Library:
    """`waits`: what an export does before it returns: "stream", "device", "host" (it waits for the
    current stream) or "nothing"; "default": it lets the consumer wait for the default stream,
    whatever it works on itself; "deaf": it ignores the default streams' numbers; "always": it waits
    for stream -1 as well; "handle": it has no case for -1, as JAX (jax/_src/dlpack.py, to_dlpack);
    "early": it orders streams, and its export to the CPU does not wait.

    `keeps`: does an import hold the tensor that it was given? `defers`: is memory used again only
    after the streams that it was exported to? `hoards`: is it never used again? `shift`: bytes of
    each block before its array.
    """

    def __init__(
        self, kind: str, waits: str = "stream", *, keeps: bool = True, defers: bool = False,
        hoards: bool = False, number: int = 0, shift: int = 0,
    ) -> None:  # fmt: skip
        self.driver = Driver(kind, number)
        self.waits, self.keeps, self.defers, self.hoards = waits, keeps, defers, hoards
        self.shift = shift
        self.pool: dict[int, list[int]] = {}
        self.streams = [0]

    @property
    def current(self) -> int:
        return self.streams[-1]

    @contextlib.contextmanager
    def on_stream(self, handle: int) -> Iterator[None]:
        self.streams.append(handle)
        try:
            yield
        finally:
            self.streams.pop()

    def named(self) -> int:
        """The current stream as an argument: CUDA's default one is 1, ROCm's is 0."""
        return self.current or (1 if self.driver.kind == "cuda" else 0)

    def make_safe(self, stream: int) -> None:
        if self.waits == "device":
            self.driver("wait_device")
        elif self.waits == "host":
            self.driver("wait", self.current)
        elif self.waits == "default":
            self.driver.order(0, stream)
        elif self.waits == "always" and stream == -1:
            self.driver("wait", self.current)
        elif self.waits == "deaf" and stream in (0, 1, 2):
            pass
        elif self.waits != "nothing" and stream != self.current:
            self.driver.order(self.current, stream)

    def from_numpy(self, source: Any) -> Array:
        content = np.ascontiguousarray(source)
        block = Block(self, max(content.nbytes, 1) + self.shift)
        made = Array(self, block.address + self.shift, content.shape, content.dtype, block)
        if content.nbytes:
            self.driver.copy(made.ptr, content.ctypes.data, content.nbytes, self.current)
        self.driver("wait", self.current)
        return made

    def to_numpy(self, array: Array, stream: int | None = None) -> Any:
        stream = self.current if stream is None else stream
        content = np.empty(array.shape, array.dtype)
        if content.nbytes:
            self.driver.copy(content.ctypes.data, array.ptr, content.nbytes, stream)
        self.driver("wait", stream)
        return content

    def to_host(self, array: Array) -> Any:
        """An export to the CPU."""
        early = self.driver.made("stream", 1) if self.waits == "early" else None
        return self.to_numpy(array, early)

    def from_dlpack(self, source: Any, stream: int | None = None) -> Array:
        """`stream`: passed in the place of the current one."""
        source.__dlpack_device__()
        passed = self.named() if stream is None else stream
        return self.from_capsule(source.__dlpack__(stream=passed, max_version=(1, 0)))

    def from_capsule(self, capsule: Any) -> Array:
        borrowed = BorrowedTensor(capsule)
        tensor = borrowed.managed.tensor
        kind = next(kind for kind, code in CODES.items() if code == tensor.code)
        shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        dtype = np.dtype(f"{kind}{tensor.bits // 8}")
        owner = borrowed if self.keeps else None
        return Array(self, tensor.data + tensor.byte_offset, shape, dtype, owner)
