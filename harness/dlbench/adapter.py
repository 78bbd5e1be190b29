"""The names that an adapter file may import: for writing a call, and for declining a request.

Every pytest run imports this file if dlbench is installed, so modules that few adapters need are
imported inside functions.
"""

from __future__ import annotations

import itertools
import linecache
import os
import re
import sys
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any


class _Placeholder:
    """Stands for the producer's array in a `Call`."""

    def __repr__(self) -> str:
        return "X"


X = _Placeholder()


class Call:
    """A consumer's public call with more than one argument: `Call(np.frombuffer, X, np.float32)`.

    It describes the call; the worker compiles it to one vectorcall. With several arrays, as for
    `call`, each X takes the next one, also in a list. For `call`, `within` may be a function of a
    context manager, in which the worker makes these calls and no others.
    """

    within: Callable[[], AbstractContextManager[Any]] | None = None

    def __init__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs

    def __call__(self, *arrays: Any, **more: Any) -> Any:
        each = itertools.cycle(arrays) if len(arrays) == 1 else iter(arrays)

        def put(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple([put(item) for item in value])
            if isinstance(value, list):
                return [put(item) for item in value]
            if value is not X:
                return value
            array = next(each, X)
            if array is X:
                raise TypeError(f"a Call has more arguments X than the {len(arrays)} arrays")
            return array

        args = [put(value) for value in self.args]
        kwargs = {name: put(value) for name, value in self.kwargs.items()}
        if len(arrays) > 1 and next(each, X) is not X:
            raise TypeError(f"a Call has fewer arguments X than the {len(arrays)} arrays")
        with self.within() if self.within else nullcontext():
            return self.function(*args, **(kwargs | more))


class Capsule:
    """A consumer's call on a DLPack capsule, which `x.__dlpack__()` returned before."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, array: Any, **more: Any) -> Any:
        return self.function(array.__dlpack__(), **more)


#: The numbers of arrays for which compiled modules have functions; as in consumers/call/numbers.h.
CALL_NUMBERS = (0, 1, 2, 4, 8, 14, 20)


#: The last words of calls in CALLS that `--calls` measures only if they are named: the same
#: function under a condition.
CONDITIONS = ("keywords", "list", "scalars", "output", "nogil", "inference")


def keywords(function: Callable[..., Any], arrays: int) -> Call:
    """The call of a function with so many arrays as keywords: f(a0=x, a1=y)."""
    return Call(function, **{f"a{i}": X for i in range(arrays)})


def scalars(function: Callable[..., Any], arrays: int) -> Call:
    """The call with an integer and a floating-point number after the arrays: f(x, y, 3, 0.5)."""
    return Call(function, *[X] * arrays, 3, 0.5)


def one_list(function: Callable[..., Any], arrays: int) -> Call:
    """The call with one list of the arrays: f([x, y])."""
    return Call(function, [X] * arrays)


def function_of(
    module: Any, prefix: str, spelled: Callable[[Any, int], Any] | None = None
) -> Callable[[int], Any]:
    """For `call` in PROTOCOLS: PREFIX_8 of a compiled module as its function of 8 arrays. `module`
    may be a function that loads it. `spelled` makes the call from the function and the number."""

    def find(arrays: int) -> Any:
        require(arrays in CALL_NUMBERS, f"built for {', '.join(map(str, CALL_NUMBERS))} arrays")
        loaded = module if not callable(module) or isinstance(module, ModuleType) else module()
        function = getattr(loaded, f"{prefix}_{arrays}", None)
        require(function is not None, f"no function of {arrays} arrays")
        return spelled(function, arrays) if spelled else function

    return find


def compiled(adapter: str, source: str) -> str:
    """The library of a C++ source beside an adapter, which is compiled once on this machine. The
    adapter names the source in BUILDS too, so that it is compiled before workers time."""
    from dlbench.libraries import compiled

    return compiled.library(adapter, source)


def compiled_module(adapter: str, source: str) -> Any:
    """The same as a Python extension with the source's name."""
    import importlib.util

    name = Path(source).stem
    spec = importlib.util.spec_from_file_location(name, compiled(adapter, source))
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def written_function(arrays: int, body: str, parameter: str = "_", **names: Any) -> Any:
    """A Python function of so many arrays, with a body such as `function({_.ctypes.data})`: what
    is in braces is repeated for each array, which is `_`. `names` are those that the body uses."""
    words = [f"a{i}" for i in range(arrays)]

    def repeated(text: str) -> str:
        return ", ".join(re.sub(r"\b_\b", word, text) for word in words)

    spelled = re.sub(r"\{([^{}]*)\}", lambda found: repeated(found[1]), body)
    scope: dict[str, Any] = dict(names)
    # A name that no body uses.
    text = f"def _written({repeated(parameter)}) -> None:\n    {spelled}\n"
    # Compilers of Python functions read their source by the name of the file, and write that name
    # into what they make.
    file = f"<dlbench {zlib.crc32(text.encode()):08x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), scope)
    return scope["_written"]


def call_library_path() -> Path:
    """libdlbench_call.so, which has the body of all functions for `call`."""
    import dlbench

    places = (Path(folder, "libdlbench_call.so") for folder in dlbench.__path__)
    return next(filter(Path.exists, places))


def call_library() -> Any:
    """The same, for ctypes."""
    import ctypes

    library = ctypes.CDLL(str(call_library_path()))
    library.dlbench_call_function.restype = ctypes.c_void_p
    library.dlbench_call_function.argtypes = [ctypes.c_size_t]
    return library


class Unsupported(Exception):  # noqa: N818
    """Raised by `make` where the library cannot express the case; the text is the reason."""


def require(condition: bool, reason: str) -> None:
    """Raise Unsupported(reason) unless the condition holds."""
    if not condition:
        raise Unsupported(reason)


def split_device(device: str) -> tuple[str, int]:
    """The kind of a device and its number: ("cuda", 1), ("cpu", 0)."""
    kind, _, number = device.partition(":")
    return kind, int(number or 0)


def opencl_cpu() -> str:
    """The file of intel-opencl-rt's CPU driver, or nothing; the driver does not register itself.

    A SYCL library finds it if OCL_ICD_FILENAMES is set before its import.
    """
    drivers = sorted(Path(sys.prefix, "lib").glob("libintelocl.so.*"))
    return str(drivers[-1]) if drivers else ""


def forget_mpich_memory() -> None:
    """Unlink this process's shared memory; only other ranks would open it by its name.

    MPICH unlinks it in MPI_Finalize; a worker exits without it, or is killed.
    """
    for file in Path("/dev/shm").glob(f"mpich_shm_{os.getpid():x}_*"):
        file.unlink(missing_ok=True)


def clang() -> str:
    """The name of a clang on PATH, with or without a version; tinygrad compiles with $CC."""
    import shutil

    names = ["clang", *(f"clang-{version}" for version in range(30, 13, -1))]
    return next((name for name in names if shutil.which(name)), "clang")


def turns_in_a_second(spent: Callable[[int], float], few: int) -> float:
    """Turns per second, for `busy`: from the shortest times of `few` and of four times as many
    turns.

    If noise hides the difference, the time to start is included.
    """
    spent(1)
    for _ in range(4):
        short, long = (min(spent(turns) for _ in range(5)) for turns in (few, 4 * few))
        if long > 1.5 * short:
            return 3 * few / (long - short)
    return 4 * few / long


def capsule_pointer(capsule: object, name: bytes) -> int:
    """The pointer in a capsule of that name, for `address`."""
    import ctypes

    # Not ctypes.pythonapi: all libraries share that one, and some set types on it.
    get = ctypes.PyDLL(None).PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_size_t, (ctypes.py_object, ctypes.c_char_p)
    return int(get(capsule, name))


def word_at(address: int) -> int:
    """The pointer stored at an address."""
    import ctypes

    return ctypes.c_size_t.from_address(address).value
