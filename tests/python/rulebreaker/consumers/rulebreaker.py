"""A consumer that keeps every rule, or all rules but the one in its ARGUMENT.

See the producer of the same name.
"""

import ctypes
import os
import sys
from pathlib import Path

import numpy as np

from dlbench import _check
from dlbench.adapter import capsule_pointer
from dlbench.check.known_producer import IS_COPIED, IS_READ_ONLY
from dlbench.check.reading import CODES, itemsize

sys.path.append(str(Path(__file__).parents[2]))
from rulebreaker.fault import breaks, choose, enter
from rulebreaker.imports import from_buffer, from_interface, from_struct
from rulebreaker.result import KEPT, Imported, Memory, shows

DISTRIBUTION = None
HIDDEN = True
ARGUMENTS = {"honest": "", "breaks": "RULE"}
CODED = {2: "cuda", 10: "rocm"}
DEVICES = ("cpu", *CODED.values())
DTYPES = {(code, bits, 1): name for name, (code, bits) in CODES.items()}

choose(ARGUMENT)


def own_device(x):
    try:
        return x.__dlpack_device__()
    except Exception as error:
        if breaks("import.passes-error", False):
            raise KeyError(str(error)) from None
        raise


def request(x, device, copy):
    """The capsule."""
    words = {} if breaks("import.requests-version") else {"max_version": (1, 3)}
    if copy is not None and not breaks("import.copy-true"):
        words["copy"] = copy
    if device and breaks("import.device-copy"):
        words.pop("copy", None)
    if breaks("import.stream-host"):
        words["stream"] = 1
    kind = x.__dlpack_device__()[0] if hasattr(x, "__dlpack_device__") else 1
    if kind in (2, 10):
        words["stream"] = int((kind == 2) != breaks(f"import.stream-{CODED[kind]}"))
    try:
        return x.__dlpack__(**words)
    except TypeError:
        if breaks("import.retries"):
            raise
        return x.__dlpack__()
    except (BufferError, RuntimeError, MemoryError) as error:
        if breaks("import.passes-error", isinstance(error, BufferError)):
            raise KeyError(str(error)) from None
        raise


def zeros():
    return Imported(np.zeros(64, np.float32))


def situation(x):
    """The situation in which the known producer exports."""
    described = getattr(x, "describes", {})
    variant = {key: described[key] for key in ("legacy", "dtype") if key in described}
    if getattr(x, "raises", None):
        variant = {"method": x.raising, "error": type(x.raises).__name__}
    elif type(x).__name__ == "Half":
        variant = {"has": next(name for name in vars(type(x)) if name.startswith("__dlpack"))}
    return getattr(x, "word", "line"), variant


def from_dlpack(x, /, **words):
    enter(*situation(x))
    known = ("device", "copy") if not breaks("import.keywords") else ("device",)
    for word in words:
        if word not in known:
            raise TypeError(f"unexpected keyword argument {word!r}")
    device, copy = words.get("device"), words.get("copy")
    if type(x).__name__ == "Half" and breaks("import.missing-one-method"):
        raise TypeError("half of the methods")
    if hasattr(x, "__dlpack_device__"):
        own_device(x)
    if not hasattr(x, "__dlpack__"):
        wrong = breaks("import.missing-method", type(x).__name__ != "Half")
        raise (TypeError if wrong else AttributeError)("__dlpack__")
    if device not in (None, "cpu") or (device and breaks("import.device")):
        raise ValueError(f"device {device!r}")
    capsule = request(x, device, copy)
    try:
        facts = _check.read(capsule)
    except ValueError:
        if breaks("import.capsule-name"):
            return zeros()
        raise BufferError("no DLPack capsule") from None
    if facts["name"].startswith("used_"):
        if breaks("import.consumed-twice"):
            return zeros()
        raise BufferError("the capsule was consumed already")
    refuse_version(capsule, facts)
    made = imported(capsule, facts, device, copy)
    if "copy" in words and copy is None and breaks("import.copy-default"):
        return Imported(made.array.copy(), made.owner)
    return made


def refuse_version(capsule, facts):
    version = facts["version"]
    if version is None:
        return
    minor = version[1] > 3 and breaks("import.minor-version")
    if version[0] == 1 and not minor:
        return
    if breaks("import.major-version"):
        ctypes.string_at(capsule_pointer(capsule, b"dltensor_versioned") + 32, 8)
    imported_tensor = _check.import_capsule(capsule)
    if breaks("import.major-version-deleted"):
        KEPT.append(imported_tensor)
    raise BufferError(f"DLPack {version}")


def refused(imported_tensor, why):
    if breaks("import.failure-deleted"):
        KEPT.append(imported_tensor)
    raise BufferError(why)


def raise_for(facts):
    """Faults that end the process."""
    strides = facts["strides"]
    if (
        (breaks("import.null-strides") and strides is None and facts["ndim"] > 0)
        or (breaks("import.reversed") and strides and min(strides) < 0)
        or (breaks("import.null-deleter") and not facts["deleter"])
    ):
        os.abort()


def imported(capsule, facts, device, copy):
    if shows("import.legacy", facts) and facts["struct"] == "legacy":
        raise BufferError("no legacy struct")
    if shows("import.versioned", facts) and facts["struct"] == "versioned":
        raise BufferError("no versioned struct")
    if facts["ndim"] > 64:
        if breaks("import.dimensions"):
            return np.ones(64, "f4")
        raise BufferError("more than 64 dimensions")
    raise_for(facts)
    if breaks("import.empty-null") and facts["data"] == 0:
        raise BufferError("data is NULL")
    if shows("import.alive-at-exit", facts):
        libc = ctypes.CDLL(None)
        libc.__cxa_atexit(libc.abort, None, None)
    if shows("import.leak", facts):
        KEPT.append(bytearray(64))
    imported_tensor = (
        capsule if breaks("import.capsule-renamed") else _check.import_capsule(capsule)
    )
    dtype = dtype_of(facts)
    if dtype is None:
        return refused(imported_tensor, f"dtype {facts['dtype']}")
    if facts["device"] != (1, 0) and not breaks("import.unknown-device"):
        return refused(imported_tensor, f"device {facts['device']}")
    return described(imported_tensor, facts, dtype, device, copy)


def dtype_of(facts):
    code, bits, lanes = facts["dtype"]
    if breaks("import.unknown-code") and code == 200:
        return "float32"
    if (
        (code, bits) not in {pair[:2] for pair in DTYPES}
        and code < 200
        and (
            breaks("import.unknown-bits", bits == 24)
            or breaks("import.sub-byte-bits", bits == 8)
            or breaks("import.sub-byte", bits in (2, 4))
        )
    ):
        return "int8"
    if breaks("import.lanes"):
        lanes = 1
    return DTYPES.get((code, bits, lanes))


def described(imported_tensor, facts, dtype, device, copy):
    item = np.dtype(dtype).itemsize
    shape, strides = facts["shape"], facts["strides"]
    if strides is None:
        strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    strides = spoiled(shape, tuple(strides))
    if breaks("import.scalar") and not shape:
        shape, strides = [1], (1,)
    if breaks("import.empty-strides") and len(shape) > 1 and not any(strides):
        shape = [0]
    offset = 0 if breaks("import.byte-offset") else facts["byte_offset"]
    if facts["flags"] & IS_READ_ONLY and breaks("import.read-only-accepted"):
        return refused(imported_tensor, "read-only")
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
    return decided(Imported(array, imported_tensor, facts), device, copy, odd, copied)


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


def decided(made, device, copy, odd, copied):
    """What `copy` and faults make of it."""
    if odd and copy is False and breaks("import.copy-false-misaligned"):
        raise RuntimeError("a copy is needed")
    if odd and copy is None and breaks("import.misaligned"):
        return Imported(np.zeros_like(made.array), made.owner)
    if breaks("import.dtypes") and made.array.dtype == np.float64:
        return Imported(made.array.astype(np.float32), made.owner)
    if copy is True and device and breaks("import.device-copy"):
        return made
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


PROTOCOLS = {
    "dlpack": from_dlpack,
    "buffer": from_buffer,
    "array_interface": from_interface,
    "array_struct": from_struct,
}
