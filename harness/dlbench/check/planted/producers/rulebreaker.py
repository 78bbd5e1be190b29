"""A producer that keeps every rule, or all but the one that it is named after.

It is Python around `_check`, so that each of its calls is easy to spoil. A fault shows itself where
its rule looks and nowhere else: sizes and layouts tell the rules apart.
"""

import sys
import threading

import numpy as np

from dlbench import _check
from dlbench.check.lender import IS_COPIED, IS_READ_ONLY, placed
from dlbench.check.reading import CODES, DEVICE_TYPES

DISTRIBUTION = None
HIDDEN = True
SPECIAL = ("swapped", "nulls")
ARGUMENTS = {"honest": "", "breaks": "RULE"}
WORDS = ("stream", "max_version", "dl_device", "copy")
WRITABLE, FULL_RO = 1, 0x11C
WRITEABLE, NOT_SWAPPED, C_ORDER = 0x400, 0x200, 0x1

RULE = ARGUMENT[1] or ""


def breaks(rule):
    return rule == RULE


def make(case, device):
    return Array(case, device)


class Array(_check.Buffered):
    def __init__(self, case, device="cpu"):
        source = case.numpy()
        self.case, self.device = case, device
        low = min((0, *(s * (n - 1) for s, n in zip(source.strides, source.shape, strict=True))))
        self.memory, first = placed(source, (source.ctypes.data + low) % 256)
        self.first = first
        whole = np.frombuffer(self.memory, np.uint8)
        start = first - self.memory.address
        self.view = np.ndarray(source.shape, source.dtype, whole, start, source.strides)
        self.view.flags.writeable = not case.readonly
        self.exports = 0

    def __del__(self):
        size = self.case.bytes
        early = breaks("export.keeps-memory") and size == 1 << 20
        if early or (breaks("buffer.keeps-memory") and size == 1 << 17):
            self.memory.poison()

    # DLPack

    @property
    def __dlpack_device__(self):
        if breaks("export.device-method"):
            raise AttributeError("__dlpack_device__")
        kind = DEVICE_TYPES[self.device.partition(":")[0]]
        answer = (kind, 0)
        if breaks("export.device-pair"):
            answer = (kind, None)
        if breaks("export.device-agrees"):
            answer = (3, 0)
        return lambda: answer

    def __dlpack__(self, *positional, **asked):
        if positional and not breaks("export.positional"):
            raise TypeError("keyword arguments only")
        for word in asked:
            missing = breaks("export.keywords") and word == "dl_device"
            if word not in WORDS or missing:
                raise TypeError(f"unexpected keyword argument {word!r}")
        if (
            breaks("export.other-thread")
            and threading.current_thread() is not threading.main_thread()
        ):
            raise RuntimeError("another thread")
        self._require_stream(asked.get("stream"))
        self._require_device(asked.get("dl_device"))
        self._require_sayable()
        return self._loan(asked).capsule()

    def _require_stream(self, stream):
        kind = self.device.partition(":")[0]
        refused = {"cpu": stream is not None, "cuda": stream == 0, "rocm": stream in (1, 2)}[kind]
        allowed = {
            ("cpu", 1): "export.stream-host",
            ("cpu", -1): "export.stream-host-minus-one",
            ("cuda", 0): "export.stream-cuda-zero",
            ("rocm", 1): "export.stream-rocm-one",
        }.get((kind, stream))
        if refused and not (allowed and breaks(allowed)):
            raise ValueError(f"stream {stream} on {kind}")

    def _require_device(self, device):
        if device is None:
            return
        if device != (1, 0) or breaks("export.device-host"):
            raise (ValueError if breaks("export.device-unknown") else BufferError)("dl_device")

    def _require_sayable(self):
        special = self.case.special
        if special and not (special == "swapped" and breaks("export.byte-order")):
            wrong = special == "nulls" and breaks("export.refusal-type")
            raise (TypeError if wrong else BufferError)(f"no DLPack for {special}")

    def _is_legacy(self, asked):
        version = asked.get("max_version")
        if version is None:
            return not breaks("export.version-none")
        if version == (2, 0) and breaks("export.version-newer"):
            raise BufferError("too new")
        return version[0] < 1 and not breaks("export.version-older")

    def _loan(self, asked):
        legacy = self._is_legacy(asked)
        readonly = self.case.readonly
        if legacy and readonly and not breaks("export.read-only-legacy"):
            raise BufferError("the legacy struct cannot say read-only")
        words = {"legacy": legacy, "poison": False, "flags": 0}
        if readonly and not breaks("export.read-only-flag"):
            words["flags"] |= IS_READ_ONLY
        memory, first = self._lent(asked, words)
        size = self.case.bytes
        if size == 1 << 18 and self.exports == 1 and breaks("export.twice"):
            words["poison"] = True
        if size == 1 << 19 and breaks("export.taken-capsule"):
            words |= {"poison": True, "destructor": "regardless"}
        self.exports += 1
        words["deleter"] = {
            "export.deleter-without-gil": "wants-gil",
            "export.deleter-thread": "wants-thread",
            "export.deleter-at-exit": "wants-python",
            "export.leak-consumed": "leaks",
        }.get(RULE, "honest")
        if breaks("export.leak-unconsumed"):
            words["destructor"] = "none"
        if breaks("export.capsule"):
            words["name"] = "dltensor_of_nobody"
        if breaks("export.version-current") and asked.get("max_version") == (1, 0):
            words["version"] = (2, 0)
        loan = _check.Loan(memory, *self._described(words, first), **words)
        # A second deletion must find what it deletes.
        if size == 1 << 19:
            self.memory_of_loan = loan
            KEPT.append(loan)
        return loan

    def _lent(self, asked, words):
        copy = asked.get("copy")
        wanted = copy is True and not breaks("export.copy-true")
        wanted |= copy is False and breaks("export.copy-false")
        wanted |= "copy" in asked and copy is None and breaks("export.copy-none")
        if not wanted:
            if copy is True or breaks("export.shared-flag"):
                words["flags"] |= IS_COPIED
            return self.memory, self.first
        if not breaks("export.copied-flag"):
            words["flags"] |= IS_COPIED
        memory = _check.Memory(self.memory)
        return memory, memory.address + self.first - self.memory.address

    def _described(self, words, first):
        """Shape and strides; the rest goes to `words`."""
        view, layout, item = self.view, self.case.layout, self.view.itemsize
        code, bits = CODES[self.case.dtype]
        if breaks("export.dtypes") and self.case.dtype == "int32":
            code = 1
        words["dtype"] = (code, bits, 1)
        words["device"] = (DEVICE_TYPES[self.device.partition(":")[0]], 0)
        shape, strides = view.shape, tuple(step // item for step in view.strides)
        rest = 0 if breaks("export.alignment") else first % 256
        words |= {"data": first - rest, "byte_offset": rest}
        if not view.size and not breaks("export.empty-data"):
            words |= {"data": None, "byte_offset": 0}
        if breaks("export.flags-defined"):
            words["flags"] |= 32
        if breaks("export.strides-there") and view.flags.c_contiguous:
            strides = None
        if breaks("export.offset") and self.case.offset:
            words["byte_offset"] += item
        if breaks(f"export.{layout}"):
            shape, strides = SPOILED.get(layout, (lambda n, s: (n, s[::-1])))(shape, strides)
        return shape, strides

    # The C exchange API

    def _lend(self):
        words = {"legacy": False, "poison": False, "flags": 0}
        shape, strides = self._described(words, self.first)
        if breaks("c-api.agrees"):
            memory = _check.Memory(self.memory)
            words["data"] += memory.address - self.memory.address
            return _check.Loan(memory, shape, strides, **words)
        words["deleter"] = "leaks" if breaks("c-api.leak") else "honest"
        if breaks("c-api.export"):
            words["dtype"] = (0, 32, 1)
        return _check.Loan(self.memory, shape, strides, **words)

    def _borrow(self):
        words = {"legacy": False, "poison": False, "flags": 0}
        shape, strides = self._described(words, self.first)
        if breaks("c-api.borrow"):
            words["dtype"] = (0, 32, 1)
        return _check.Loan(self.memory, shape, strides, **words)

    # Others

    def _buffer(self, flags):
        changes = {}
        if breaks("buffer.values") and self.case.layout == "strided":
            changes["strides"] = (self.view.itemsize,)
        if breaks("buffer.format"):
            changes["format"] = "i"
        if breaks("buffer.length"):
            changes["len"] = self.view.nbytes + 1
        if breaks("buffer.read-only") and self.case.readonly:
            flags &= ~WRITABLE
        if breaks("buffer.contiguous") and self.case.layout == "strided":
            flags = FULL_RO
        if breaks("buffer.keeps-memory"):
            changes["orphan"] = True
        return self.view, flags, changes

    def _released(self):
        pass

    @property
    def __array_interface__(self):
        found = dict(self.view.__array_interface__)
        data, _ = found["data"]
        if breaks("interface.keys"):
            found["version"] = 2
        if breaks("interface.values") and self.case.layout == "strided":
            found["strides"] = (self.view.itemsize,)
        if breaks("interface.read-only"):
            found["data"] = (data, False)
        return found

    @property
    def __array_struct__(self):
        view, readonly = self.view, self.case.readonly
        writeable = not readonly or breaks("struct.flags")
        flags = NOT_SWAPPED | (WRITEABLE if writeable else 0)
        flags |= C_ORDER if view.flags.c_contiguous else 0
        kind = "i" if breaks("struct.values") else view.dtype.kind
        two = 3 if breaks("struct.two") else 2
        return _check.make_struct(
            two, kind, view.itemsize, flags, view.shape, view.strides, self.first, self
        )

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


KEPT = []
#: What a fault makes of shape and strides, within the memory that is there.
SPOILED = {
    "strided": lambda shape, strides: (shape, (1,)),
    "reversed": lambda shape, strides: (shape, (0,)),
    "broadcast": lambda shape, strides: (shape, (0, 0)),
    "ones": lambda shape, strides: (shape, (3, 0, 5)),
    "scalar": lambda shape, strides: ((1,), (1,)),
    "empty": lambda shape, strides: ((1,), (1,)),
}


def _import(taken):
    from dlbench.case import Case

    facts = taken.facts
    made = Array(Case("f32", "float32", 4 * facts["shape"][0]))
    raw = _check.gather(facts["data"] + facts["byte_offset"], facts["shape"], None, 4)
    made.view[:] = np.frombuffer(raw, np.float32)
    if breaks("c-api.import"):
        KEPT.append(taken)
    else:
        taken.release()
    return made


def _allocate(dtype, shape):
    if dtype[0] == 200:
        if breaks("c-api.allocate-error"):
            return None
        raise BufferError("no such dtype")
    if breaks("c-api.allocate"):
        shape = (*shape[:-1], shape[-1] + 1)
    room = _check.Memory(bytes(4 * int(np.prod(shape))))
    steps = tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    return _check.Loan(room, shape, steps, dtype=dtype)


Array.__dlpack_c_exchange_api__ = _check.make_api(
    {
        "export": Array._lend,
        "import": _import,
        "borrow": Array._borrow,
        "allocate": _allocate,
        "stream": lambda kind, number: 7 if breaks("c-api.stream") else 0,
    },
    version=(0, 9) if breaks("c-api.version") else (1, 3),
    without="current_work_stream" if breaks("c-api.functions") else "",
    name="not_it" if breaks("c-api.capsule") else "dlpack_exchange_api",
)
assert sys.byteorder == "little", "the typestr of __cuda_array_interface__"
