"""A producer that keeps every rule, or all rules but the one in its ARGUMENT.

It is written in Python around `_check`, so that a fault is easy to plant in each of its calls. A
fault shows only where its rule tests: sizes and layouts distinguish the rules.
"""

import contextlib
import ctypes
import dataclasses
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from dlbench import _check, _native_producer
from dlbench.check.known_producer import IS_COPIED, IS_READ_ONLY, KnownProducer, copy_bytes
from dlbench.check.reading import CODES
from dlbench.check.situation import EMPTY, LAZY, word_of
from dlbench.device import Device

sys.path.append(str(Path(__file__).parents[2]))
from rulebreaker import exchange_api
from rulebreaker.exports import Others
from rulebreaker.fault import breaks, choose, chosen, enter

DISTRIBUTION = None
HIDDEN = True
SPECIAL = ("swapped", "nulls", *LAZY)
ARGUMENTS = {"honest": "", "breaks": "RULE"}
WORDS = ("stream", "max_version", "dl_device", "copy")

choose(ARGUMENT)


def make(case, device):
    return Ordered(case, device) if device.startswith("sim") else Array(case, device)


@contextlib.contextmanager
def on_stream(device, handle):
    former = _native_producer.stream(device)
    _native_producer.set_stream(device, handle)
    try:
        yield
    finally:
        _native_producer.set_stream(device, former)


def address(array):
    return array.address if isinstance(array, Ordered) else None


#: The rule about a stream, by its argument.
ORDERS = {"omitted": "omitted", None: "none", 1: "legacy", 2: "per-thread"}


class Ordered:
    """A native array on a device with streams. By a fault, an export waits, or it does not."""

    def __init__(self, case, device):
        self.array = _native_producer.DeviceArray(case.numpy(), device, memory="device")
        self.address, self.bytes = self.array.address, case.bytes
        self.described = {"device": self.array.__dlpack_device__(), "data": self.address}
        self.like = case.numpy()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream="omitted", **words):
        if "dl_device" in words and breaks("export.order-host"):
            early = np.frombuffer(ctypes.string_at(self.address, self.bytes), np.float32)
            return early.copy().__dlpack__(max_version=words.get("max_version"))
        if stream == -1 and breaks("export.order-minus-one"):
            self.array.__dlpack__(dl_device=(1, 0))
        elif stream != -1 and breaks(f"export.order-{ORDERS.get(stream, 'handle')}"):
            stream = -1
        given = {} if stream == "omitted" else {"stream": stream}
        return self.array.__dlpack__(**given, **words)

    def borrowed(self):
        KEPT.append(self.array)
        known = KnownProducer(SimpleNamespace(), self.like, **self.described)
        return known._export({"max_version": (1, 3)})


class Array(Others):
    def __init__(self, case, device="cpu"):
        source = case.numpy()
        self.case, self.device, self.place = case, device, Device.parse(device)
        low = min((0, *(s * (n - 1) for s, n in zip(source.strides, source.shape, strict=True))))
        self.memory, first = copy_bytes(source, (source.ctypes.data + low) % 256)
        self.first = first
        whole = np.frombuffer(self.memory, np.uint8)
        start = first - self.memory.address
        self.view = np.ndarray(source.shape, source.dtype, whole, start, source.strides)
        self.view.flags.writeable = not case.readonly
        self.exports, self.copies, self.wants_device = 0, [], False

    def __del__(self):
        size = self.case.bytes
        early = breaks("export.keeps-memory") and size == 1 << 20
        if early or (breaks("buffer.keeps-memory") and size == 1 << 17):
            for memory in (self.memory, *self.copies):
                memory.poison()

    @property
    def __dlpack_device__(self):
        enter(self.case, {})
        if breaks("export.device-method"):
            raise AttributeError("__dlpack_device__")
        answer = self.place.in_dlpack()
        if breaks("export.device-pair"):
            answer = (answer[0], None)
        if breaks("export.device-agrees"):
            answer = (3, 0)
        return lambda: answer

    def __array_namespace__(self):
        return Names

    def __dlpack__(self, *positional, **requested):
        enter(self.case, requested)
        self.wants_device = "dl_device" in requested
        if positional and not breaks("export.positional"):
            raise TypeError("keyword arguments only")
        for word in requested:
            missing = breaks("export.keywords") and word == "dl_device"
            if word not in WORDS or missing:
                raise TypeError(f"unexpected keyword argument {word!r}")
        if (
            breaks("export.other-thread")
            and threading.current_thread() is not threading.main_thread()
        ):
            raise RuntimeError("another thread")
        self._require_stream(requested.get("stream"))
        self._require_device(requested)
        self._require_sayable()
        capsule = self._borrowed(requested).capsule()
        if breaks("export.name-static", self.exports < 8):
            KEPT.append(renamed(capsule))
        return capsule

    def _require_stream(self, stream):
        kind = self.place.kind
        refused = {"cpu": stream is not None, "cuda": stream == 0, "rocm": stream in (1, 2)}[kind]
        allowed = {
            ("cpu", 1): "export.stream-host",
            ("cpu", 2): "export.stream-host",
            ("cpu", -1): "export.stream-host-minus-one",
            ("cuda", 0): "export.stream-cuda-zero",
            ("rocm", 1): "export.stream-rocm-one",
            ("rocm", 2): "export.stream-rocm-one",
        }.get((kind, stream))
        if refused and not (allowed and breaks(allowed)):
            raise ValueError(f"stream {stream} on {kind}")

    def _require_device(self, requested):
        device = requested.get("dl_device")
        if device is None:
            return
        versioned = requested.get("max_version") is not None
        if not versioned and device[0] == 200 and breaks("export.device-unknown-unversioned"):
            return
        if device != (1, 0) or breaks("export.device-host", requested.get("copy") is not True):
            wrong = breaks("export.device-unknown") and versioned and device[0] == 200
            own = breaks("export.copy-false-device", device[0] != 200)
            wrong |= own and requested.get("copy") is False
            raise (ValueError if wrong else BufferError)("dl_device")

    def _require_sayable(self):
        special = self.case.special
        if special not in ("", *LAZY) and not (
            special == "swapped" and breaks("export.byte-order")
        ):
            wrong = breaks("export.refusal-type", special == "nulls")
            raise (TypeError if wrong else BufferError)(f"no DLPack for {special}")

    def _is_legacy(self, requested):
        version = requested.get("max_version")
        if version is None:
            return not breaks("export.version-none")
        if version == (2, 0) and breaks("export.version-newer"):
            raise BufferError("too new")
        return version[0] < 1 and not breaks("export.version-older")

    def _borrowed(self, requested):
        legacy = self._is_legacy(requested)
        readonly = self.case.readonly
        if legacy and readonly and not breaks("export.read-only-legacy"):
            raise BufferError("the legacy struct has no read-only flag")
        words = {"legacy": legacy, "poison": False, "flags": 0}
        if readonly and not breaks("export.read-only-flag"):
            words["flags"] |= IS_READ_ONLY
        if special := self.case.special * breaks("export.lazy"):
            view = self.view.imag if special == "conj" else self.view
            np.negative(view, out=view)
        memory, first = self._exported(requested, words)
        size = self.case.bytes
        if size == 1 << 18 and self.exports == 1 and breaks("export.twice"):
            words["poison"] = True
        if size == 1 << 19 and breaks("export.renamed-capsule"):
            words |= {"poison": True, "destructor": "regardless"}
        self.exports += 1
        words["deleter"] = {
            "export.deleter-without-gil": "wants-gil",
            "export.deleter-thread": "wants-thread",
            "export.deleter-at-exit": "wants-python",
            "export.leak-consumed": "leaks",
        }.get(chosen(), "honest")
        if breaks("export.leak-unconsumed"):
            words["destructor"] = "none"
        if breaks("export.capsule"):
            words["name"] = "dltensor_without_owner"
        if breaks("export.version-current", requested.get("max_version") == (1, 0)):
            words["version"] = (2, 0)
        borrowed = _check.BorrowedTensor(memory, *self.described(words, first), **words)
        # The state must exist at a second deletion.
        if size == 1 << 19:
            self.memory_of_borrowed = borrowed
            KEPT.append(borrowed)
        return borrowed

    def _exported(self, requested, words):
        copy = requested.get("copy")
        ignored = "export.copy-true"
        if requested.get("max_version") is None:
            ignored = "export.copy-true-unversioned"
        wanted = copy is True and not breaks(ignored)
        wanted |= copy is False and breaks("export.copy-false")
        wanted |= copy is None and breaks("export.copy-none", "copy" in requested)
        wanted |= breaks("export.copied-flag", copy is True)
        if not wanted:
            if copy is True or breaks("export.shared-flag"):
                words["flags"] |= IS_COPIED
            return self.memory, self.first
        if not breaks("export.copied-flag"):
            words["flags"] |= IS_COPIED
        memory = _check.Memory(self.memory)
        if breaks("export.keeps-memory") and self.case.bytes == 1 << 20:
            self.copies.append(memory)
        return memory, memory.address + self.first - self.memory.address

    def described(self, words, first, *, is_honest=False):
        """Shape and strides; the rest goes to `words`."""
        view, item = self.view, self.view.itemsize
        layout = word_of(dataclasses.replace(self.case, readonly=False))
        code, bits = CODES[self.case.dtype]
        if not is_honest and breaks("export.dtypes", self.case.dtype == "int32"):
            code = 3
        words["dtype"] = (code, bits, 1)
        plain_copy = words["flags"] & IS_COPIED and not self.wants_device
        words["device"] = self.place.in_dlpack()
        if breaks("export.device-id", plain_copy):
            words["device"] = (1, 1)
        if breaks("export.device-agrees", False):
            words["device"] = (11, 0)
        shape, strides = view.shape, tuple(step // item for step in view.strides)
        rest = 0 if breaks("export.alignment") else first % 256
        words |= {"data": first - rest, "byte_offset": rest}
        if not view.size and not breaks("export.empty-data"):
            words |= {"data": None, "byte_offset": 0}
        if breaks("export.flags-defined"):
            words["flags"] |= 32
        if breaks("export.strides-there", view.flags.c_contiguous):
            strides = None
        if is_honest:  # it has rules of its own
            return shape, strides
        if breaks("export.offset") and self.case.offset:
            words["byte_offset"] += item
            shape = (shape[0] - 1, *shape[1:])
        # Rules about lifetimes have large arrays.
        rule = "views" if self.case.own else "empty" if layout in EMPTY else layout
        if breaks(f"export.{rule}", self.case.bytes < 1 << 17):
            shape, strides = SPOILED.get(layout, (lambda n, s: (n, s[::-1])))(shape, strides)
        return shape, strides


class Names:
    """The dtypes that the library itself names."""

    int2, int4, uint4 = "int2", "int4", "uint4"

    @staticmethod
    def empty(shape, dtype):
        enter("line", {"dtype": dtype})
        bits = 8 if breaks("export.sub-byte") else 4
        return Small(shape, dtype, (int(dtype == "uint4"), bits, 1))


class Small:
    """An array of elements with less than eight bits."""

    def __init__(self, shape, kind, dtype):
        self.shape, self.kind, self.dtype = shape, kind, dtype

    def __dlpack__(self, **requested):
        if self.kind == "int2" and not breaks("export.sub-byte", False):
            raise (TypeError if breaks("export.sub-byte-refusal") else BufferError)("int2")
        return _check.BorrowedTensor(
            _check.Memory(bytes(8)), self.shape, (1,), dtype=self.dtype, poison=False
        ).capsule()


def renamed(capsule):
    """The same name at an address of its own, which is returned."""
    name = ctypes.create_string_buffer(repr(capsule).split('"')[1].encode())
    rename = ctypes.PyDLL(None).PyCapsule_SetName
    rename(ctypes.py_object(capsule), name)
    return name


KEPT = []
#: Shape and strides under a fault; they stay inside the allocated memory.
SPOILED = {
    "grid": lambda shape, strides: (shape, (1, shape[0])),
    "window": lambda shape, strides: (shape, (0, 0)),
    **dict.fromkeys(("slice", "slice-strided"), lambda shape, strides: (shape, (0,))),
    "strided": lambda shape, strides: (shape, (1,)),
    "reversed": lambda shape, strides: (shape, (0,)),
    "broadcast": lambda shape, strides: (shape, (0, 0)),
    "ones": lambda shape, strides: (shape, (3, 0, 5)),
    "scalar": lambda shape, strides: ((1,), (1,)),
    **dict.fromkeys(EMPTY, lambda shape, strides: ((0, 1), (1, 1))),
}


exchange_api.publish(Array)
Ordered.__dlpack_c_exchange_api__ = Array.__dlpack_c_exchange_api__
