"""An independent judge of exchanges: ctypes and the libraries' own words, no code that judges.

    python oracle.py [LIBRARY|LIBRARY:all ...] [--run FOLDER] [--protocols ...] [--cases ...]
                     [--others LIBRARY ...]

runs dlbench over all pairs of these libraries (without names: all that are installed), makes each
of its cells again by the adapters' calls, and prints counts and every disagreement. It decides from
pointers, from bytes that are written through in both directions, and from the values that a library
lists itself. Exits with 1 if something disagrees. `--run` takes the folder of an earlier run.
`--others` are paired with LIBRARY, not among themselves, so runs for several do not repeat them.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import math
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import dlbench
from dlbench import _core
from dlbench.adapter import Call, Capsule, X
from dlbench.case import Case
from dlbench.libraries import discover
from dlbench.loading import load_adapter

PACKAGE = Path(dlbench.__file__).parent
SIZE = 4096
PROTOCOLS = ("dlpack", "convert", "buffer", "array")
Key = tuple[str, ...]
Verdicts = dict[Key, dict[str, Any]]


# The structs of dlpack.h, as the specification writes them.


class Device(ctypes.Structure):
    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class Dtype(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", Dtype),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Legacy(ctypes.Structure):
    _fields_ = (
        ("tensor", Tensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


api = ctypes.pythonapi
api.PyCapsule_GetName.restype = ctypes.c_char_p
api.PyCapsule_GetName.argtypes = [ctypes.py_object]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def managed(capsule: object) -> tuple[str, Legacy | Versioned]:
    """The struct in an unconsumed capsule, and its name: legacy or versioned."""
    name = api.PyCapsule_GetName(capsule)
    address = api.PyCapsule_GetPointer(capsule, name)
    if name == b"dltensor":
        return "legacy", Legacy.from_address(address)
    assert name == b"dltensor_versioned", name
    return "versioned", Versioned.from_address(address)


@dataclass(frozen=True)
class Facts:
    """Where an array lies and how: bytes for the address and the strides."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def element_strides(self) -> list[float]:
        """In elements, of the dimensions in which a stride means something."""
        steps = zip(self.shape, self.strides, strict=True)
        return [step / width(self.dtype) for extent, step in steps if extent > 1]


def width(dtype: str) -> int:
    """Bytes of an element: its bits are the first number in its name. Fewer than eight take one.
    The name of texts may be a buffer's format, which has their bytes; of an object a pointer."""
    if dtype in ("object", "O"):
        return np.dtype(object).itemsize
    if dtype.endswith("s"):
        return int(dtype[:-1] or 1)
    bits = re.search("[0-9]+", dtype)
    return max(1, int(bits[0]) // 8) if bits else 1


def c_order(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    strides = []
    for extent in reversed(shape):
        strides.append(item)
        item *= extent
    return tuple(reversed(strides))


KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
NARROW = dict(enumerate((
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn"),
    "float4_e2m1fn",
), start=7))  # fmt: skip


def of_capsule(array: Any) -> tuple[Facts, Any]:
    """From a capsule of the array's own, which is not consumed."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = array.__dlpack__()
    _, struct = managed(capsule)
    tensor = struct.tensor
    shape = tuple(tensor.shape[: tensor.ndim]) if tensor.ndim else ()
    code, bits = tensor.dtype.code, tensor.dtype.bits
    dtype = NARROW.get(code) or ("bool" if code == 6 else f"{KINDS[code]}{bits}")
    strides = c_order(shape, bits // 8)
    if tensor.strides and tensor.ndim:
        strides = tuple(step * bits // 8 for step in tensor.strides[: tensor.ndim])
    return Facts((tensor.data or 0) + tensor.byte_offset, dtype, shape, strides), capsule


def library_of(array: Any) -> str:
    """The first part of its type's module, which an array type of ctypes lacks."""
    return (type(array).__module__ or "").partition(".")[0]


def of_native(array: Any) -> tuple[Facts, Any]:
    """Of a result of the native consumer, which alone has an attribute `via`."""
    dtype = array.dtype
    if dtype.startswith("dlpack("):
        code, bits, _ = map(int, dtype[len("dlpack(") : -1].split(","))
        dtype = NARROW.get(code) or f"{KINDS[code]}{bits}"
    if dtype.startswith(">"):  # the format of a buffer without dimensions
        dtype = np.dtype(dtype).name
    return Facts(array.address, dtype, array.shape, array.strides), array


def of_numpy(array: Any) -> tuple[Facts, Any]:
    return Facts(array.ctypes.data, array.dtype.name, array.shape, array.strides), array


def of_pointer(array: Any) -> tuple[Facts, Any]:
    strides = array.stride() if hasattr(array, "stride") else array.strides
    dtype = str(array.dtype).rpartition(".")[2]
    if dtype == "bfloat16" and array.dtype != sys.modules[library_of(array)].bfloat16:
        dtype = "uint16"  # Paddle prints both as bfloat16
    item = width(dtype)
    steps = tuple(step * item for step in strides)
    return Facts(array.data_ptr(), dtype, tuple(array.shape), steps), array


def of_arrow(array: Any) -> tuple[Facts, Any]:
    if hasattr(array, "to_pybytes"):  # a buffer
        return Facts(array.address, "uint8", (array.size,), (1,)), array
    if not hasattr(array, "buffers"):  # a tensor
        return of_buffer(array)
    dtype = np.dtype(array.type.to_pandas_dtype())
    if dtype.kind == "b":
        raise TypeError("its elements are bits")
    content = array.buffers()[1]
    place = (content.address if content else 0) + array.offset * dtype.itemsize
    return Facts(place, dtype.name, (len(array),), (dtype.itemsize,)), array


def of_polars(series: Any) -> tuple[Facts, Any]:
    return of_arrow(series.to_arrow())


def of_awkward(array: Any) -> tuple[Facts, Any]:
    if sys.modules["awkward"].to_numpy(array, allow_missing=True).dtype.kind in "SUVMm":
        raise TypeError("it has several buffers, or one of integers")
    *_, content = sys.modules["awkward"].to_buffers(array)[2].values()
    return of_numpy(content)


def of_buffer(array: Any) -> tuple[Facts, Any]:
    view = memoryview(array)
    content = np.asarray(view)
    return Facts(content.ctypes.data, content.dtype.name, content.shape, content.strides), view


def of_interface(array: Any) -> tuple[Facts, Any]:
    spec = array.__array_interface__
    if not isinstance(spec["data"], tuple):
        raise BufferError("its data are bytes, not a pointer")
    dtype = np.dtype(spec["typestr"])
    shape = tuple(spec["shape"])
    strides = spec.get("strides") or c_order(shape, dtype.itemsize)
    return Facts(spec["data"][0], dtype.name, shape, strides), spec


#: By the first part of the type's module: the object in it that has the memory, and how it is read.
HELD: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda x: getattr(x.array, "_data", x.to_numpy()),
    "xarray": lambda x: x.data,
    "pint": lambda x: x.magnitude,
    "array_api_strict": lambda x: x._array,
    "ndonnx": lambda x: x.unwrap_numpy(),
}
OWN: dict[str, Callable[[Any], tuple[Facts, Any]]] = {
    "torch": of_pointer,
    "paddle": of_pointer,
    "pyarrow": of_arrow,
    "polars": of_polars,
    "awkward": of_awkward,
}


def facts(array: Any) -> Facts | None:
    """Of an array of any library; None if each reading gives another address."""
    if isinstance(array, np.ndarray):
        return of_numpy(array)[0]
    library = library_of(array)
    if library in HELD:
        return facts(HELD[library](array))
    if library == "torch":
        array = array.detach()
    ways = [OWN[library]] if library in OWN else [of_capsule, of_buffer, of_interface]
    if hasattr(array, "via"):
        ways = [of_native]
    # Its capsules round strides to whole elements, its interface has no bfloat16.
    if library == "warp" and "bfloat16" not in str(array.dtype):
        ways = [of_interface, *ways]
    for way in ways:
        try:
            (first, _kept), (second, _) = way(array), way(array)
        except Exception:  # a library may raise anything
            continue
        return first if first.address == second.address else None
    return None


def kind_of(array: Any) -> str:
    """The kind of NumPy's dtype; empty without one."""
    try:
        return str(array.dtype.kind)
    except Exception:  # a library may raise anything
        return ""


def values(array: Any) -> np.ndarray[Any, Any]:
    """Its content, as its own library lists it now."""
    library = library_of(array)
    if library == "pint":
        return values(array.magnitude)
    if hasattr(array, "via") and hasattr(ml_dtypes, dtype := of_native(array)[0].dtype):
        return np.asarray(array).view(getattr(ml_dtypes, dtype)).astype(np.float32)
    if hasattr(array, "via") and array.dtype.startswith(">"):
        return np.asarray(array).view(array.dtype)
    if hasattr(array, "via") and dtype == "O":  # whose buffer has the pointers as numbers
        found = np.asarray(array)
        objects = [ctypes.cast(int(at), ctypes.py_object).value for at in found.flat]
        return np.array(objects, object).reshape(found.shape)
    if hasattr(array, "via") and dtype.endswith("s"):
        return np.asarray(array).view(f"S{width(dtype)}")
    if library == "torch":
        array = array.detach()
    if library == "paddle" and of_pointer(array)[0].dtype in ("bfloat16", *NARROW.values()):
        array = array.astype("float32")  # `tolist` returns their bits
    if isinstance(array, memoryview) and array.format not in ("e", "f", "d", "?", *"bBhHiIlLqQ"):
        return np.asarray(array)
    if isinstance(array, np.ma.MaskedArray):
        array = array.filled(np.nan) if array.dtype.kind in "fO" else array.data
    if isinstance(array, np.ndarray):
        array = np.asarray(array)
        if array.dtype.kind in "SUVMm":
            return array
    if kind_of(array) == "V":
        return np.asarray(array)
    if library == "polars":
        listed, inner = np.asarray(array.to_list()), getattr(array.dtype, "shape", ())
        return listed if listed.size else listed.reshape(len(array), *inner)
    if library == "pyarrow" and hasattr(array, "to_pybytes"):
        return np.frombuffer(array, np.uint8)
    if hasattr(array, "tolist"):
        listed = np.asarray(array.tolist())
        # A list ends at its first dimension without elements.
        return listed if listed.size else listed.reshape(tuple(array.shape))
    if hasattr(array, "numpy"):
        return np.asarray(array.numpy())
    if library in HELD:
        return np.asarray(HELD[library](array))
    return np.array(array)


def is_same(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    """Equal shapes but for dimensions of 1, and equal numbers; None is a missing one, as is NaN."""
    if [n for n in found.shape if n != 1] != [n for n in expected.shape if n != 1]:
        return False
    if expected.dtype.kind in "SUVOT":
        return found.reshape(-1).tolist() == expected.reshape(-1).tolist()
    if expected.dtype.kind in "Mm":
        found, expected = found.astype(expected.dtype).view("i8"), expected.view("i8")
    wide = complex if expected.dtype.kind == "c" else float
    a = np.array([math.nan if x is None else x for x in found.reshape(-1).tolist()], wide)
    b = expected.reshape(-1)
    b = np.asarray(b.astype(np.float64) if b.dtype.kind not in "c" else b, wide)
    return bool(np.array_equal(a, b, equal_nan=True))


def is_bytes(array: Any) -> bool:
    """Has it no dtype?"""
    library = library_of(array)
    is_view = isinstance(array, memoryview) and (array.format, array.ndim) == ("B", 1)
    named = isinstance(array, (bytes, bytearray)) or type(array).__name__ == "mmap"
    named |= type(array).__module__ == "mpi4py.MPI"
    return named or is_view or (library == "pyarrow" and hasattr(array, "to_pybytes"))


def is_right(
    result: Any, source: Any, content: np.ndarray[Any, Any], stored: np.ndarray[Any, Any]
) -> bool | None:
    """Are the values those of the source? None if the library lists none. `stored`: as in memory,
    where bytes without a dtype have no byte order."""
    plain = np.frombuffer(stored.tobytes(), np.uint8)
    lying = np.frombuffer(stored.tobytes("A"), np.uint8)
    try:
        if is_bytes(result):
            return bytes(result) in (plain.tobytes(), lying.tobytes())
        found = values(result)
        if found.dtype.kind == "O":
            holes = [repr(value) in ("None", "<NA>", "masked") for value in found.reshape(-1)]
            found = np.where(np.reshape(holes, found.shape), None, found)
        is_read = found.dtype.kind not in "OV" or found.dtype.kind == content.dtype.kind
        if not is_read and found.size and not (found.reshape(-1) == None).any():  # noqa: E711
            return None
        return is_same(found, plain if is_bytes(source) else content)
    except Exception:  # a library may raise anything
        return None


#: A tensor's deleter may be called when its proxy is gone.
HOOKS: list[Any] = []


class Proxy:
    """Shows DLPack alone, in one version, and counts the calls of the tensor's deleter."""

    def __init__(self, array: Any, versioned: bool) -> None:
        self.array, self.versioned = array, versioned
        self.struct, self.flags, self.deleted, self.has_deleter = "", 0, 0, False
        self.capsule: Any = None

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **words: Any) -> Any:
        if not self.versioned and words.keys() - {"stream"}:
            raise TypeError("an exporter of DLPack 0: no keyword but stream")
        if self.versioned and words.get("max_version") is None:
            words["max_version"] = (1, 0)
        capsule = self.capsule = self.array.__dlpack__(**words)
        self.struct, struct = managed(capsule)
        self.flags = struct.flags if isinstance(struct, Versioned) else 0
        self.has_deleter = bool(struct.deleter)
        if self.has_deleter:
            original = DELETER(struct.deleter)

            @DELETER
            def counted(place: int) -> None:
                self.deleted += 1
                original(place)

            HOOKS.append((counted, original))
            struct.deleter = ctypes.cast(counted, ctypes.c_void_p).value
        return capsule


PROXIED = {"dlpack_legacy": False, "dlpack_versioned": True}


def is_waited_for(condition: Callable[[], bool], seconds: float = 2.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    return condition()


class Alone:
    """Shows one protocol of an array: a method of its type, or an attribute of its own."""

    def __init__(self, array: Any, name: str) -> None:
        self.held = array
        shown = getattr(array, name)
        if callable(shown):
            setattr(type(self), name, lambda _, *args, **words: shown(*args, **words))
        else:
            setattr(self, name, shown)


def spelled(consumer: Any, protocol: str) -> Callable[[Any], Any] | None:
    """The consumer's call for a protocol in the host's memory, as its adapter spells it."""
    call = consumer.PROTOCOLS.get(protocol)
    if isinstance(call, Capsule):
        return lambda x: call.function(x.__dlpack__())
    if isinstance(call, Call):

        def put(value: Any, x: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(put(each, x) for each in value)
            return x if value is X else value

        return lambda x: call.function(
            *(put(value, x) for value in call.args),
            **{name: put(value, x) for name, value in call.kwargs.items()},
        )
    return call


def poke(at: int, size: int, look: Callable[[], bytes]) -> bool:
    """Does a changed bit at the address show where `look` looks? It is changed back."""
    before, seen = ctypes.string_at(at, size), look()
    ctypes.memmove(at, bytes(byte ^ 1 for byte in before), size)
    shows = look() != seen
    ctypes.memmove(at, before, size)
    return shows


def shares(given: Facts, found: Facts, readonly: bool) -> dict[str, bool]:
    """What pointers and writes in both directions say."""
    verdict = {"address": given.address == found.address}
    if not readonly:
        bytes_of = [(place.address, width(place.dtype)) for place in (given, found)]
        (source, item), (result, other) = bytes_of
        verdict["write"] = poke(source, item, lambda: ctypes.string_at(result, other))
        verdict["back"] = poke(result, other, lambda: ctypes.string_at(source, item))
    return verdict


def is_written(array: Any, place: Facts) -> bool | None:
    """Does a public assignment to the array, or to its buffer, change this memory? None where every
    assignment raised and no buffer says it. All bytes are restored."""
    if type(array).__module__ in ("builtins", "array", "mmap") or isinstance(array, ctypes.Array):
        return not memoryview(array).readonly
    if library_of(array) == "torch":
        array = array.detach()
    at, size = place.address, width(place.dtype)
    ends = [step * (n - 1) for n, step in zip(place.shape, place.strides, strict=True)]
    low, high = at + sum(min(end, 0) for end in ends), at + sum(max(end, 0) for end in ends) + size
    before, is_assigned = ctypes.string_at(low, high - low), False
    ctypes.memmove(at, b"\1" * size, size)
    for zero in (0, False):  # array_api_strict takes no number for a boolean
        with contextlib.suppress(Exception):  # a library may raise anything
            array[...] = zero
            is_assigned = True
    changed = ctypes.string_at(at, size) != b"\1" * size
    ctypes.memmove(low, before, len(before))
    # An assignment to MLX's arrays, which xarray keeps, replaces their memory; their buffer is it.
    held = array.data if library_of(array) == "xarray" else array
    try:
        return changed or not memoryview(held).readonly
    except Exception:  # a library may raise anything
        return changed if is_assigned else None


def is_faithful(source: Any, passed: Any) -> bool:
    """Is what was passed as protected as the source? A buffer may name another object."""
    try:
        return memoryview(source).readonly == memoryview(passed).readonly
    except Exception:  # at least one has no buffer
        return True


ALONE = {
    "array": "__array__",
    "array_interface": "__array_interface__",
    "array_struct": "__array_struct__",
}


def shown(source: Any, producer: Any, protocol: str) -> Any:
    """What the consumer gets for a protocol: the array, or one that shows this protocol alone."""
    exports = getattr(producer, "EXPORTS", {})
    if protocol == "dlpack" and not hasattr(source, "__dlpack__") and exports:
        export = exports.get("dlpack_versioned") or exports.get("dlpack_legacy")
        kind = type("Exported", (), {"__dlpack__": lambda *_, **__: export(source),
                                     "__dlpack_device__": lambda _: (1, 0)})  # fmt: skip
        return kind()
    if protocol == "buffer":
        # NumPy has no format for times and bfloat16, and a consumer may need none.
        with contextlib.suppress(ValueError):
            return pickle.PickleBuffer(exports.get("buffer", lambda x: x)(source))
    if protocol in ALONE:
        return type("Alone", (Alone,), {})(source, ALONE[protocol])
    return source


def judge(
    producer: Any, consumer: Any, ready: Any, protocol: str, spec: dict[str, Any], size: int
) -> dict[str, Any]:
    """What is true of one exchange; `raised` where there was none."""
    case = Case(**spec, bytes=size)
    try:
        source = producer.make(case, "cpu")
        content = case.expected() if not case.foreign else case.numpy()
        stored = case.numpy()
        if (nulls := case.nulls(content)) is not None:
            content = np.where(nulls, np.nan, content)
        if is_right(source, source, content, stored) is False:
            return {"unmade": "the maker changed the values"}
        given = facts(source)
    except Exception as error:
        return {"unmade": f"{type(error).__name__}: {error}"[:200]}
    is_own = case.storage in ("own", "view")
    proxy = Proxy(source, PROXIED[protocol]) if protocol in PROXIED else None
    take = spelled(consumer, "dlpack" if proxy else protocol)
    take = take or spelled(consumer, "convert")
    try:
        passed = proxy or shown(source, producer, protocol)
        result = take(passed)
        if ready is not None:
            ready(result)
    except Exception as error:
        return {"raised": type(error).__name__, "text": str(error)[:200], "own": is_own}
    # Other types may raise when their dtype is read.
    has_objects = type(result) is np.ndarray and result.dtype.kind == "O" != content.dtype.kind
    if result is None or has_objects:
        return {"objects": True}
    found = facts(result)
    verdict: dict[str, Any] = {
        "type": f"{type(result).__module__}.{type(result).__name__}",
        "values": is_right(result, source, content, stored),
        "empty": content.size == 0,
        "own": is_own,
        "aligned": bool(given) and given.address % 64 == 0,
    }
    if given and found and not is_bytes(result) and not is_bytes(source):
        verdict |= {
            "dtype": given.dtype == found.dtype,
            "dtypes": [given.dtype, found.dtype],
            "shape": given.shape == found.shape,
            "layout": given.element_strides() == found.element_strides(),
        }
    if result is source:
        verdict["address"] = True
    elif given and found and content.size:
        verdict |= shares(given, found, case.readonly)
        if is_faithful(source, passed) and verdict["address"] and verdict.get("back", True):
            verdict["writable"] = [is_written(source, given), is_written(result, found)]
    if proxy is not None:
        verdict |= {"struct": proxy.struct, "flags": proxy.flags, "null": not proxy.has_deleter}
        if proxy.has_deleter:
            verdict["early"] = bool(proxy.deleted) and verdict.get("address", False)
            # The producer's capsule deletes a tensor that the consumer left in it, in its own way.
            verdict["left"] = not api.PyCapsule_GetName(proxy.capsule).startswith(b"used_")
            proxy.capsule = None
            del result
            verdict["deleted"] = is_waited_for(lambda: proxy.deleted > 0) and proxy.deleted
    return verdict


def judge_all(cells: list[list[Any]]) -> None:
    """Judge cells of one producer, and print a line before and after each."""
    # Libraries print to standard output too.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    loaded: dict[tuple[str, str], Any] = {}
    for *key, size in cells:
        print(json.dumps({"began": key}), file=out, flush=True)
        ends: list[Any] = []
        # The producer of the consumer's library may know how to wait for a result.
        for role, name in (("producer", key[0]), ("consumer", key[1]), ("producer", key[1])):
            if (role, name) not in loaded:
                try:
                    path = str(PACKAGE / f"{role}s" / f"{name.partition(':')[0]}.py")
                    loaded[role, name] = load_adapter(role, name, path)
                except BaseException as error:  # a library may raise anything
                    loaded[role, name] = error
            ends.append(loaded[role, name])
        *ends, waits = ends
        failed = [end for end in ends if isinstance(end, BaseException)]
        ready = getattr(ends[1], "ready", None) or getattr(waits, "ready", None)
        verdict = {"unmade": f"import: {failed[0]}"[:200]} if failed else judge(
            *ends, ready, key[2], _core.case(key[3]), size)  # fmt: skip
        print(json.dumps({"cell": key, **verdict}), file=out, flush=True)
    # No library's shutdown is of interest.
    out.flush()
    os._exit(0)


def judged(cells: list[Key], sizes: dict[Key, int], seconds: float = 60) -> Verdicts:
    """The verdicts on the cells: a process for each pair, and a new one after a crash."""
    verdicts: Verdicts = {}
    by_pair: dict[Key, list[Key]] = {}
    for key in cells:
        by_pair.setdefault(key[:2], []).append(key)
    for own in by_pair.values():
        left = list(own)
        while left:
            lines, status = _judged_apart([[*key, sizes[key]] for key in left], seconds)
            done = {tuple(line.pop("cell")): line for line in lines if "cell" in line}
            verdicts |= done
            began = [tuple(line["began"]) for line in lines if "began" in line]
            if began and began[-1] not in done:
                verdicts[began[-1]] = {"unmade": f"the judge ended with {status}"}
            elif not began:
                break
            left = [key for key in left if key not in verdicts]
    return verdicts


def _judged_apart(cells: list[list[Any]], seconds: float) -> tuple[list[dict[str, Any]], object]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cells, file)
        file.flush()
        command = [sys.executable, __file__, "--judge", file.name]
        settings = {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=os.environ | settings, text=True) as child:  # fmt: skip
            try:
                out, _ = child.communicate(timeout=seconds + 2 * len(cells))
            except subprocess.TimeoutExpired:
                child.kill()
                out, _ = child.communicate()
    return [json.loads(line) for line in out.splitlines()], child.returncode


def by_key(document: dict[str, Any]) -> Verdicts:
    """The exchanges of a run by producer, consumer, protocol and case."""
    every = (*document["benchmarks"], *document["not_measured"])
    return {
        (e["producer"], e["consumer"], e["protocol"], e["case"]): e
        for e in every
        if e["phase"] == "exchange" and e["clock"] == "call" and e["device"] == "cpu"
    }


WORKS = ("zero-copy", "copy", "device-copy", "unproven")
#: Outcomes that the oracle tries.
TRIED = (*WORKS, "refused", "wrong")
WRITABLE = {"both": (True, True), "source": (True, False), "result": (False, True),
            "neither": (False, False)}  # fmt: skip
FLAGS = {"read-only": 1, "is-copied": 2}
Claim = tuple[str, Any, Any]  #: what, as the oracle found it, as the document says it


def claims(oracle: dict[str, Any], entry: dict[str, Any]) -> Iterator[Claim]:
    """What both say of one combination. What one of them left undecided is no claim."""
    outcome = entry.get("found", entry["outcome"])
    works = "raised" not in oracle and "objects" not in oracle
    if outcome == "wrong":
        if works and oracle["values"] is not None and entry.get("code") == "values-differ":
            yield "values", oracle["values"], False
        return
    # An allocator may choose another address here, at which a consumer copies or refuses.
    texts = f"{oracle.get('text')} {entry.get('reason')}"
    if not (oracle.get("own") and " aligned to " in texts):
        yield "works", works, outcome in WORKS
    if not works or outcome not in WORKS:
        return
    # dlbench states then neither the values nor what has changed.
    unread = {"values-not-checked", "source-not-checked"}
    is_read = not unread & {w["code"] for w in entry.get("warnings", ())}
    if oracle["values"] is not None and is_read:
        yield "values", oracle["values"], True
    changed, evidence = set(entry["changed"]), entry["evidence"]
    is_placed = not (oracle["own"] and (outcome == "copy" or not oracle["aligned"]))
    is_placed &= is_read or outcome != "unproven"
    for proof in ("address", "write"):
        if is_placed and proof in oracle and evidence[proof] != "skipped":
            yield proof, oracle[proof], evidence[proof] == "yes"
    shared = oracle.get("write", oracle.get("address"))
    if is_placed and shared is not None and outcome != "unproven":
        yield "shared", shared, outcome == "zero-copy"
    if "dtype" in oracle and is_read:
        yield "dtype kept", oracle["dtype"], not changed & {"dtype", "precision"}
        yield "shape kept", oracle["shape"], "shape" not in changed
        # Of a result whose memory is not shown the layout is unknown.
        is_laid_out = outcome != "unproven" or "layout" in changed
        if oracle["shape"] and not oracle["empty"] and is_laid_out:
            yield "strides kept", oracle["layout"], "layout" not in changed
    if "writable" in oracle and "writable" in entry:
        ends = ("source writable", "result writable")
        stated = WRITABLE[entry["writable"]]
        claimed = zip(ends, oracle["writable"], stated, strict=True)
        yield from (claim for claim in claimed if claim[1] is not None)
    if "struct" not in oracle:
        return
    observed = entry.get("observed", {})
    if observed.get("struct"):
        yield "struct", oracle["struct"], observed["struct"]
    if observed.get("struct") == "versioned":
        yield "flags", oracle["flags"] & 3, sum(FLAGS.get(word, 0) for word in observed["flags"])
    if "warnings" in entry:
        codes = sorted(w["code"] for w in entry["warnings"] if w["code"].startswith("deleter-"))
        yield "deleter", sorted(deleter_warnings(oracle)), codes


def deleter_warnings(oracle: dict[str, Any]) -> Iterator[str]:
    if oracle["null"]:
        yield "deleter-null"
    elif oracle["deleted"] == 0 and not oracle["left"]:
        yield "deleter-never"
    if oracle.get("early"):
        yield "deleter-early"


def compared(oracle: Verdicts, document: dict[str, Any]) -> tuple[Counter[str], list[str]]:
    """What was decided, with counts, and every disagreement with both verdicts."""
    cells = by_key(document)
    counts: Counter[str] = Counter()
    found = []
    for key, verdict in oracle.items():
        entry = cells.get(key, {"outcome": "no-protocol"})
        outcome = entry.get("found", entry["outcome"])
        if "unmade" in verdict or outcome not in TRIED:
            counts["not tried by both"] += 1
            continue
        counts["compared"] += 1
        counts[f"dlbench: {outcome}"] += 1
        counts["by pointer"] += "address" in verdict
        counts["by write both ways"] += "back" in verdict
        counts["writable, of both"] += "writable" in verdict and "writable" in entry
        counts["by values"] += verdict.get("values") is not None
        counts["unproven that the oracle decides"] += outcome == "unproven" and "write" in verdict
        differing = [claim for claim in claims(verdict, entry) if claim[1] != claim[2]]
        if differing:
            counts["disagree"] += 1
            message = {
                k: entry[k] for k in ("outcome", "reason", "changed", "evidence") if k in entry
            }
            lines = [f"{what}: oracle {mine}, document {its}" for what, mine, its in differing]
            found.append("\n    ".join([" ".join(key), *lines, f"{verdict}", f"{message}"]))
    return counts, found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("libraries", nargs="*")
    parser.add_argument("--protocols", default=",".join(PROTOCOLS))
    parser.add_argument("--cases", default="all")
    parser.add_argument("--others", nargs="*", default=[])
    parser.add_argument("--run")
    parser.add_argument("--judge")
    options = parser.parse_args()
    if options.judge:
        judge_all(json.loads(Path(options.judge).read_text()))
    folder = options.run or tempfile.mkdtemp() + "/run"
    if not options.run:
        found = discover.catalogue()
        names = found.expanded(options.libraries + options.others) or ["all"]
        makers = [name for name in names if not found.is_call(name)]
        axes = ["--producers", ",".join(makers), "--consumers", ",".join(names)]
        axes += ["--cases", options.cases]
        rest = ["--sizes", str(SIZE), "--replicas", "1", "--precision", "99%", "--no-plots"]
        command = [sys.executable, "-m", "dlbench", "--matrix", *axes, *rest, "--quiet"]
        subprocess.run([*command, "--protocols", options.protocols, "--out", folder], check=True)
    document = json.loads(Path(folder, "results.json").read_text())
    entries = by_key(document)
    wanted = [
        key
        for key, entry in entries.items()
        if entry.get("found", entry["outcome"]) in TRIED
        and (options.run is None or not options.libraries or {*key[:2]} <= {*options.libraries})
        and not {*key[:2]} <= {*options.others}
    ]
    counts, differing = compared(judged(wanted, {k: entries[k]["bytes"] for k in wanted}), document)
    print("\n".join(differing))
    print("\n".join(f"{count:>7} {what}" for what, count in counts.most_common()))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
