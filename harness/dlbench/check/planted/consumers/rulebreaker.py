"""A consumer that keeps every rule, or all but the one that it is named after.

See the producer of the same name.
"""

import ctypes
import os
import threading

import numpy as np

from dlbench import _check
from dlbench.adapter import capsule_pointer
from dlbench.check.lender import IS_COPIED, IS_READ_ONLY, SIZES
from dlbench.check.reading import CODES, itemsize

DISTRIBUTION = None
HIDDEN = True
ARGUMENTS = {"honest": "", "breaks": "RULE"}
RULE = ARGUMENT[1] or ""
DTYPES = {(code, bits, 1): name for name, (code, bits) in CODES.items()}
KEPT = []


def breaks(rule):
    return rule == RULE


def shows(rule, facts):
    """Is it this rule's own tensor?"""
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

    def __getitem__(self, index):
        view = Imported(self.array[index])
        if not (self.facts and shows("import.view-keeps", self.facts)):
            view.owner = self.owner
        return view

    def __del__(self):
        facts, taken = self.facts, self.owner
        if facts is None or not hasattr(taken, "release"):
            return
        elsewhere = threading.current_thread() is not threading.main_thread()
        if (
            shows("import.deleter-once", facts)
            or shows("import.several", facts)
            or (shows("import.other-thread", facts) and elsewhere)
            or (breaks("import.empty-deleted") and 0 in facts["shape"])
        ):
            KEPT.append(taken)


def asked(x, copy):
    """The capsule."""
    words = {} if breaks("import.asks-version") else {"max_version": (1, 3)}
    if copy is not None and not breaks("import.copy-true"):
        words["copy"] = copy
    if breaks("import.stream-host"):
        words["stream"] = 1
    try:
        return x.__dlpack__(**words)
    except TypeError:
        if breaks("import.retries"):
            raise
        return x.__dlpack__()
    except BufferError as error:
        if breaks("import.passes-error"):
            raise RuntimeError(str(error)) from None
        raise


def zeros():
    return Imported(np.zeros(64, np.float32))


def from_dlpack(x, /, **words):
    known = ("device", "copy") if not breaks("import.keywords") else ("device",)
    for word in words:
        if word not in known:
            raise TypeError(f"unexpected keyword argument {word!r}")
    device, copy = words.get("device"), words.get("copy")
    if not hasattr(x, "__dlpack__"):
        raise (TypeError if breaks("import.missing-method") else AttributeError)("__dlpack__")
    if device not in (None, "cpu") or (device and breaks("import.device")):
        raise ValueError(f"device {device!r}")
    capsule = asked(x, copy)
    try:
        facts = _check.read(capsule)
    except ValueError:
        if breaks("import.capsule-name"):
            return zeros()
        raise BufferError("no DLPack capsule") from None
    if facts["name"].startswith("used_"):
        if breaks("import.consumed-twice"):
            return zeros()
        raise BufferError("the capsule was taken already")
    refuse_version(capsule, facts)
    return imported(capsule, facts, copy)


def refuse_version(capsule, facts):
    version = facts["version"]
    if version is None:
        return
    minor = version[1] > 3 and breaks("import.minor-version")
    if version[0] == 1 and not minor:
        return
    if breaks("import.major-version"):
        ctypes.string_at(capsule_pointer(capsule, b"dltensor_versioned") + 32, 8)
    taken = _check.take(capsule)
    if breaks("import.major-version-deleted"):
        KEPT.append(taken)
    raise BufferError(f"DLPack {version}")


def refused(taken, why):
    if breaks("import.failure-deleted"):
        KEPT.append(taken)
    raise BufferError(why)


def die_of(facts):
    """Faults that end the process."""
    strides = facts["strides"]
    if (
        (breaks("import.null-strides") and strides is None and facts["ndim"] > 0)
        or (breaks("import.reversed") and strides and min(strides) < 0)
        or (breaks("import.scalar") and facts["ndim"] == 0)
        or (breaks("import.null-deleter") and not facts["deleter"])
    ):
        os.abort()


def imported(capsule, facts, copy):
    if shows("import.legacy", facts) and facts["struct"] == "legacy":
        raise BufferError("no legacy struct")
    if shows("import.versioned", facts) and facts["struct"] == "versioned":
        raise BufferError("no versioned struct")
    die_of(facts)
    if breaks("import.empty-null") and facts["data"] == 0:
        raise BufferError("data is NULL")
    if shows("import.alive-at-exit", facts):
        _check.abort_at_exit()
    if shows("import.leak", facts):
        KEPT.append(bytearray(64))
    taken = capsule if breaks("import.capsule-renamed") else _check.take(capsule)
    dtype = dtype_of(facts)
    if dtype is None:
        return refused(taken, f"dtype {facts['dtype']}")
    if facts["device"] != (1, 0) and not breaks("import.unknown-device"):
        return refused(taken, f"device {facts['device']}")
    return described(taken, facts, dtype, copy)


def dtype_of(facts):
    code, bits, lanes = facts["dtype"]
    if breaks("import.unknown-code") and code == 200:
        return "float32"
    if breaks("import.unknown-bits") and bits == 24:
        return "float16"
    if breaks("import.lanes"):
        lanes = 1
    return DTYPES.get((code, bits, lanes))


def described(taken, facts, dtype, copy):
    item = np.dtype(dtype).itemsize
    shape, strides = facts["shape"], facts["strides"]
    if strides is None:
        strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    strides = spoiled(shape, tuple(strides))
    offset = 0 if breaks("import.byte-offset") else facts["byte_offset"]
    readonly = bool(facts["flags"] & IS_READ_ONLY) and not breaks("import.read-only")
    readonly |= breaks("import.writable")
    steps = [step * item for step in strides]
    address = facts["data"] + offset
    if 0 in shape:
        array = np.empty(shape, dtype)
    else:
        array = np.asarray(Memory(address, shape, steps, dtype, readonly, None))
    odd = address % max(itemsize(facts), 1) != 0
    copied = bool(facts["flags"] & IS_COPIED)
    return decided(Imported(array, taken, facts), copy, odd, copied)


def spoiled(shape, strides):
    if breaks("import.strided") and strides == (2,):
        return (1,)
    if breaks("import.broadcast") and strides == (0, 1):
        return (0, 0)
    if breaks("import.fortran") and strides == (1, 8):
        return (8, 1)
    if breaks("import.ones") and shape == (1, 64, 1):
        return (1, 0, 1)
    return strides


def decided(made, copy, odd, copied):
    """What `copy` and faults make of it."""
    if odd and copy is False and breaks("import.copy-false-misaligned"):
        raise RuntimeError("a copy is needed")
    if odd and copy is None and breaks("import.misaligned"):
        return Imported(np.zeros_like(made.array), made.owner)
    if breaks("import.dtypes") and made.array.dtype == np.float64:
        return Imported(made.array.astype(np.float32), made.owner)
    if copy is True and not copied and not breaks("import.copy-true"):
        return Imported(made.array.copy(), made.owner)
    if copy is False and not odd and breaks("import.copy-false"):
        return Imported(made.array.copy(), made.owner)
    readonly = made.facts["flags"] & IS_READ_ONLY
    if copy is None and not readonly and breaks("import.copy-none"):
        return Imported(made.array.copy(), made.owner)
    if shows("import.deleter-not-early", made.facts):
        made.owner.release()
    return made


def from_buffer(x):
    view = memoryview(x)
    array = np.asarray(view)
    if breaks("import-buffer.values"):
        array = array[::-1]
    if breaks("import-buffer.read-only") and view.readonly:
        steps, address = array.strides, array.ctypes.data
        array = np.asarray(Memory(address, array.shape, steps, array.dtype, False, view))
    if breaks("import-buffer.held"):
        address, shape, steps = array.ctypes.data, array.shape, array.strides
        array = np.asarray(Memory(address, shape, steps, array.dtype, view.readonly, None))
    return Imported(array)


def from_interface(x):
    found = x.__array_interface__
    data, readonly = found["data"]
    dtype = np.dtype(found["typestr"])
    steps = found.get("strides") or [
        dtype.itemsize * int(np.prod(found["shape"][i + 1 :])) for i in range(len(found["shape"]))
    ]
    if breaks("import-interface.values"):
        steps = [abs(step) for step in steps]
        data -= 0 if steps == list(found.get("strides") or steps) else dtype.itemsize * 63
    owner = None if breaks("import-interface.keeps-exporter") else x
    return Imported(np.asarray(Memory(data, found["shape"], steps, dtype, readonly, owner)))


def from_struct(x):
    facts = _check.read_struct(x.__array_struct__)
    steps = facts["strides"]
    data = facts["data"]
    if breaks("import-struct.values") and steps[0] < 0:
        data, steps = data + steps[0] * (facts["shape"][0] - 1), [-step for step in steps]
    owner = None if breaks("import-struct.keeps-exporter") else x
    dtype = f"{facts['kind']}{facts['itemsize']}"
    readonly = not facts["flags"] & 0x400
    return Imported(np.asarray(Memory(data, facts["shape"], steps, dtype, readonly, owner)))


PROTOCOLS = {
    "dlpack": from_dlpack,
    "buffer": from_buffer,
    "array_interface": from_interface,
    "array_struct": from_struct,
}
