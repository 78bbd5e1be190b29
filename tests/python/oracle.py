"""An independent judge of exchanges: ctypes and plain NumPy, without code of dlbench.

`python oracle.py REQUEST.json` makes each requested exchange by the libraries' public calls and
prints one JSON object per line: what was raised, or what is true of the result. It decides from
addresses, from values that are written into the source afterwards, and from the structs that the
capsules hold. `test_oracle.py` compares this with the document of a real run.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ALIGN = 256
COUNT_BYTES = 4096
#: Case name -> dtype, layout, bytes behind a multiple of ALIGN.
CASES = {
    "f32": ("float32", "line", 0),
    "f64": ("float64", "line", 0),
    "f16": ("float16", "line", 0),
    "i32": ("int32", "line", 0),
    "i64": ("int64", "line", 0),
    "u8": ("uint8", "line", 0),
    "u16": ("uint16", "line", 0),
    "bool": ("bool", "line", 0),
    "c64": ("complex64", "line", 0),
    "c128": ("complex128", "line", 0),
    "f32-2d": ("float32", "grid", 0),
    "f32-fortran": ("float32", "fortran", 0),
    "f32-strided": ("float32", "strided", 0),
    "f32-reversed": ("float32", "reversed", 0),
    "f32-broadcast": ("float32", "broadcast", 0),
    "f32-0d": ("float32", "scalar", 0),
    "f32-empty": ("float32", "empty", 0),
    "f32-unaligned": ("float32", "line", 4),
    "f32-align16": ("float32", "line", 16),
    "f32-align64": ("float32", "line", 64),
    "f32-readonly": ("float32", "line", 0),
    "f32-grad": ("float32", "line", 0),
}


def content(case: str) -> np.ndarray[Any, Any]:
    """A NumPy array with the dtype, layout, alignment and flags of the case."""
    dtype_name, layout, offset = CASES[case]
    dtype = np.dtype(dtype_name)
    count = COUNT_BYTES // dtype.itemsize
    rows = 4
    span = {"strided": 2 * count, "broadcast": count // rows, "scalar": 1, "empty": 0}
    length = span.get(layout, count)
    raw = np.zeros(length * dtype.itemsize + 2 * ALIGN, np.uint8)
    begin = -raw.ctypes.data % ALIGN + offset
    line = raw[begin : begin + length * dtype.itemsize].view(dtype)
    numbers = np.arange(length) % 97
    line[:] = numbers % 2 if dtype.kind == "b" else numbers
    grid = (rows, count // rows)
    array = {
        "line": lambda: line,
        "empty": lambda: line,
        "scalar": lambda: line.reshape(()),
        "grid": lambda: line.reshape(grid),
        "fortran": lambda: line.reshape(grid[::-1]).T,
        "strided": lambda: line[::2],
        "reversed": lambda: line[::-1],
        "broadcast": lambda: np.broadcast_to(line, grid),
    }[layout]()
    if layout == "broadcast":
        array = np.lib.stride_tricks.as_strided(line, grid, (0, dtype.itemsize), writeable=True)
    if case == "f32-readonly":
        array.flags.writeable = False
    return array


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
        item = 1 if self.dtype == "null" else np.dtype(self.dtype).itemsize
        steps = zip(self.shape, self.strides, strict=True)
        return [step / item for extent, step in steps if extent > 1]


def c_order(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    strides = []
    for extent in reversed(shape):
        strides.append(item)
        item *= extent
    return tuple(reversed(strides))


KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}


def of_capsule(array: Any) -> Facts:
    """From a capsule of the array's own, which is not consumed."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = array.__dlpack__()
    _, struct = managed(capsule)
    tensor = struct.tensor
    shape = tuple(tensor.shape[: tensor.ndim]) if tensor.ndim else ()
    kind, bits = KINDS[tensor.dtype.code], tensor.dtype.bits
    dtype = "bool" if kind == "bool" else f"{kind}{bits}"
    item = bits // 8
    strides = c_order(shape, item)
    if tensor.strides and tensor.ndim:
        strides = tuple(step * item for step in tensor.strides[: tensor.ndim])
    return Facts((tensor.data or 0) + tensor.byte_offset, dtype, shape, strides)


def of_numpy(array: Any) -> Facts:
    return Facts(array.ctypes.data, array.dtype.name, array.shape, array.strides)


def of_torch(array: Any) -> Facts:
    strides = tuple(step * array.element_size() for step in array.stride())
    dtype = str(array.dtype).removeprefix("torch.")
    return Facts(array.data_ptr(), dtype, tuple(array.shape), strides)


def of_arrow(array: Any) -> Facts:
    if array.type == lib("pyarrow").null():
        return Facts(0, "null", (len(array),), (0,))
    dtype = np.dtype(array.type.to_pandas_dtype())
    place = array.buffers()[1].address + array.offset * dtype.itemsize
    return Facts(place, dtype.name, (len(array),), (dtype.itemsize,))


def facts(array: Any) -> Facts:
    """Of an array of any of the libraries, chosen by the type that came out."""
    library = type(array).__module__.partition(".")[0]
    own = {"numpy": of_numpy, "torch": of_torch, "pyarrow": of_arrow}
    if library == "mlx":
        lib("mlx").eval(array)
    elif library == "jaxlib":
        array.block_until_ready()
    return own.get(library, of_capsule)(array)


def values(array: Any) -> np.ndarray[Any, Any]:
    """Its content, as its own library reads it now."""
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        return np.asarray(array.detach().tolist())
    if library in ("mlx", "pyarrow"):
        return np.asarray(array.tolist())
    if library in ("tvm_ffi", "array_api_strict"):
        return np.from_dlpack(array).copy()
    if library in ("warp", "paddle", "tensorflow"):
        return np.asarray(array.numpy())
    return np.array(array)


MODULES = {
    "jax": "jax",
    "mlx": "mlx.core",
    "pyarrow": "pyarrow",
    "torch": "torch",
    "tvm_ffi": "tvm_ffi",
    "array_api_strict": "array_api_strict",
    "warp": "warp",
    "paddle": "paddle",
    "tensorflow": "tensorflow",
    "numpy": "numpy",
}


def lib(name: str) -> Any:
    return importlib.import_module(MODULES[name])


def make(producer: str, case: str) -> Any:
    """An array of that library with the case's content; ValueError where it has no such arrays."""
    array = content(case)
    if case == "f32-readonly" and producer not in ("numpy", "array_api_strict", "pyarrow"):
        raise ValueError("no read-only arrays")
    if case == "f32-grad":
        if producer != "torch":
            raise ValueError("no gradients")
        return lib("torch").from_numpy(array).requires_grad_()
    made: dict[str, Callable[[], Any]] = {
        "numpy": lambda: array,
        "torch": lambda: lib("torch").from_numpy(array),
        "jax": lambda: lib("jax").numpy.array(array),
        "mlx": lambda: lib("mlx").array(array),
        "pyarrow": lambda: lib("pyarrow").array(array),
        "tvm_ffi": lambda: lib("tvm_ffi").from_dlpack(array),
        "array_api_strict": lambda: lib("array_api_strict").asarray(array, copy=False),
        "warp": lambda: lib("warp").array(array, copy=False),
        "paddle": lambda: lib("paddle").to_tensor(array),
        "tensorflow": lambda: lib("tensorflow").constant(array),
    }
    return made[producer]()


TAKES: dict[str, dict[str, Callable[[Any], Any]]] = {
    "numpy": {
        "dlpack": np.from_dlpack,
        "convert": np.asarray,
        "buffer": lambda x: np.asarray(memoryview(x)),
    },
    "torch": {
        "dlpack": lambda x: lib("torch").from_dlpack(x),
        "convert": lambda x: lib("torch").as_tensor(x),
    },
    "jax": {
        "dlpack": lambda x: lib("jax").dlpack.from_dlpack(x),
        "convert": lambda x: lib("jax").numpy.asarray(x),
    },
    "mlx": {
        "dlpack": lambda x: lib("mlx").from_dlpack(x),
        "convert": lambda x: lib("mlx").array(x),
    },
    "pyarrow": {"convert": lambda x: lib("pyarrow").array(x)},
    "tvm_ffi": {"dlpack": lambda x: lib("tvm_ffi").from_dlpack(x)},
    "array_api_strict": {
        "dlpack": lambda x: lib("array_api_strict").from_dlpack(x),
        "convert": lambda x: lib("array_api_strict").asarray(x),
    },
    "warp": {"dlpack": lambda x: lib("warp").from_dlpack(x)},
    "paddle": {"dlpack": lambda x: lib("paddle").from_dlpack(x)},
    "tensorflow": {
        "dlpack": lambda x: lib("tensorflow").experimental.dlpack.from_dlpack(x.__dlpack__())
    },
}


#: A tensor's deleter may be called when its proxy is gone.
HOOKS: list[Any] = []


class Proxy:
    """Shows DLPack alone, in one version, and counts the calls of the tensor's deleter."""

    def __init__(self, array: Any, versioned: bool) -> None:
        self.array, self.versioned = array, versioned
        self.struct, self.flags, self.deleted, self.has_deleter = "", 0, 0, False

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **words: Any) -> Any:
        if not self.versioned and words.keys() - {"stream"}:
            raise TypeError("an exporter of DLPack 0: no keyword but stream")
        if self.versioned and words.get("max_version") is None:
            words["max_version"] = (1, 0)
        capsule = self.array.__dlpack__(**words)
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


def write_into(place: Facts) -> Any:
    """Change the first element of the memory behind an array; what stands there now."""
    dtype = np.dtype(place.dtype)
    before = np.frombuffer(ctypes.string_at(place.address, dtype.itemsize), dtype)[0]
    after = np.array(not before if dtype.kind == "b" else before + 1, dtype)
    ctypes.memmove(place.address, after.tobytes(), dtype.itemsize)
    return after[()]


def judge(producer: str, consumer: str, protocol: str, case: str) -> dict[str, Any]:
    """What is true of one exchange; `raised` where there was none."""
    try:
        source = make(producer, case)
        given = facts(source.detach() if case == "f32-grad" else source)
    except Exception as error:
        return {"unmade": f"{type(error).__name__}: {error}"}
    expected = content(case)
    if (given.dtype, given.shape) != (expected.dtype.name, expected.shape):
        return {"unmade": f"made {given.dtype} {given.shape}"}
    if list(values(source).reshape(-1)) != list(expected.reshape(-1)):
        return {"unmade": "the maker changed the values"}
    proxy = Proxy(source, PROXIED[protocol]) if protocol in PROXIED else None
    take = TAKES[consumer]["dlpack" if proxy else protocol]
    try:
        result = take(proxy if proxy is not None else source)
    except Exception as error:
        return {"raised": type(error).__name__, "text": str(error)[:200]}
    if type(result) is np.ndarray and result.dtype.kind == "O":
        return {"objects": True}
    found = facts(result.detach() if consumer == "torch" else result)
    if found.dtype == "null":
        return {"objects": True}
    same = values(result).reshape(-1).tolist() == expected.reshape(-1).tolist()
    verdict: dict[str, Any] = {
        "type": f"{type(result).__module__}.{type(result).__name__}",
        "values": same,
        "dtype": given.dtype == found.dtype,
        "dtypes": [given.dtype, found.dtype],
        "shape": given.shape == found.shape,
        "layout": given.element_strides() == found.element_strides(),
        "empty": expected.size == 0,
    }
    if expected.size:
        verdict["address"] = given.address == found.address
        writable = expected.flags.writeable and producer not in ("pyarrow",)
        if writable and given.dtype == found.dtype:
            # A new result: some libraries keep the values that were read before.
            again = take(source if proxy is None else Proxy(source, proxy.versioned))
            first = facts(again.detach() if consumer == "torch" else again)
            after = write_into(given)
            verdict["write"] = bool(values(again).reshape(-1)[0] == after)
            verdict["address"] = verdict["address"] and first.address == given.address
            del again
    if proxy is not None:
        verdict |= {"struct": proxy.struct, "flags": proxy.flags, "null": not proxy.has_deleter}
        if proxy.has_deleter:
            verdict["early"] = bool(proxy.deleted) and verdict.get("address", False)
            del result
            verdict["deleted"] = is_waited_for(lambda: proxy.deleted > 0) and proxy.deleted
    return verdict


def main() -> None:
    os.environ.update(JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    request = json.loads(Path(sys.argv[1]).read_text())
    # Libraries print to standard output too.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # Paddle stands before TensorFlow: the other order crashes.
    for name in ("paddle", *MODULES):
        if name in (*request["producers"], *request["consumers"]):
            lib(name)
    if "warp" in (*request["producers"], *request["consumers"]):
        lib("warp").config.quiet = True
        lib("warp").init()
    for producer in request["producers"]:
        for consumer in request["consumers"]:
            for protocol in request["protocols"]:
                if not TAKES[consumer].keys() & {protocol, "dlpack" if protocol in PROXIED else ""}:
                    continue
                for case in request["cases"]:
                    key = [producer, consumer, protocol, case]
                    print(json.dumps({"began": key}), file=out, flush=True)
                    print(json.dumps({"cell": key, **judge(*key)}), file=out, flush=True)
    # No library's shutdown is of interest.
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
