"""What scripts have in common. Each script holds a copy of what it uses; nothing imports this."""

# mypy: ignore-errors
# ruff: noqa: F401, PT018, T201

import contextlib
import ctypes
import gc
import os
import resource
import sys
import weakref
from struct import pack

import numpy as np


def as_numpy(array):
    try:
        return np.from_dlpack(array)
    except (AttributeError, BufferError, TypeError):
        return np.asarray(array)


#: As rules call it; in the script of a cell it may be an adapter's function.
values = as_numpy


def element_strides(array):
    """The strides in elements, so that another dtype is not also another layout."""
    return [
        step / array.itemsize for n, step in zip(array.shape, array.strides, strict=True) if n > 1
    ]


def lost(observed, source):
    """What NumPy sees of a result that is not as in the source."""
    observed = np.asarray(observed)
    is_wide = observed.dtype.kind in "iu" and observed.itemsize > 1
    if is_wide and observed.shape == (source.nbytes,) != source.shape:
        source = np.frombuffer(source.tobytes(), np.uint8)  # numbers of bytes without a dtype
    words = ["dtype"] if observed.dtype != source.dtype else []
    if words and observed.itemsize == 1 and observed.nbytes == source.nbytes:
        if observed.tobytes() not in (source.tobytes(), source.tobytes("A")):
            return ["values"]
        as_it_lies = source.flags.forc and observed.tobytes() == source.tobytes("A")
        return words if as_it_lies else [*words, "layout"]
    if words and observed.dtype.kind in "VO":
        return [*words, "values"]
    if observed.shape != source.shape:
        return [*words, "shape"]
    words += ["layout"] if element_strides(observed) != element_strides(source) else []
    return words if np.all((observed == source) | (observed != observed)) else [*words, "values"]


#: A copy that is freed could lie where the next one does.
alive = []


def pointer(array):
    if hasattr(array, "__cuda_array_interface__"):
        return array.__cuda_array_interface__["data"][0]
    alive.append(as_numpy(array))
    return alive[-1].ctypes.data


def is_shared(first, second):
    """Is a byte that is written at one address read at the other?"""
    one, other = (ctypes.c_uint8.from_address(place) for place in (first, second))
    before = other.value
    one.value ^= 255
    observed = other.value
    one.value ^= 255
    return observed != before


def point(capsule, name):
    get = ctypes.PyDLL(None).PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return get(capsule, name)


def described(capsule):
    """Is the struct versioned? Its name, where it lies, its tensor, and its deleter's offset."""
    versioned = "versioned" in repr(capsule)
    name = b"dltensor_versioned" if versioned else b"dltensor"
    struct = point(capsule, name)
    return versioned, name, struct, struct + 32 * versioned, 16 if versioned else 56


def first_element(tensor):
    data = ctypes.c_void_p.from_address(tensor).value or 0
    return data + ctypes.c_uint64.from_address(tensor + 40).value


def exported_address(capsule):
    return first_element(described(capsule)[3])


#: As rules call it; in the script of a cell it may be an adapter's function.
address = exported_address


def requested(array):
    try:
        return array.__dlpack__(max_version=(1, 0))
    except TypeError:
        return array.__dlpack__()
    except BufferError as error:
        print("refused, which is allowed:", repr(error))
        raise SystemExit(0) from None


def refused(call, errors=Exception):
    """The call must raise one of the errors."""
    try:
        given = call()
    except errors as error:
        print("refused, as required:", repr(error))
    else:
        raise SystemExit(f"not refused: {given!r}")


def allowed(call, errors=Exception, end=sys.exit):
    """The result; the script may as well end with one of the errors."""
    try:
        return call()
    except errors as error:
        print("refused, which is allowed:", repr(error))
        end()


@contextlib.contextmanager
def judged():
    """Prints whether the rule holds, or what happens instead."""
    try:
        yield
    except BaseException as error:
        if getattr(error, "code", 1):  # of SystemExit
            print("actual: the rule is broken:", error, flush=True)
        raise
    print("actual: the rule holds")


def tried(call):
    """The result, or nothing where it is refused."""
    try:
        return call()
    except Exception as error:
        print("refused, which is allowed:", repr(error))


def require_equal(given, source):
    assert given.dtype == source.dtype and given.shape == source.shape, (given.dtype, given.shape)
    assert given.tobytes() == source.tobytes(), given


def require_same(result, source):
    """What was exported has arrived. A result without a dtype may be the bytes as they lie."""
    given = values(result)
    if given.itemsize == 1 and not hasattr(result, "dtype"):
        assert given.tobytes() in (source.tobytes(), source.tobytes("A")), given
    else:
        require_equal(given, source)


def require_still(at, expected):
    """The memory is as it was, also when much else was written."""
    _other = [bytearray(b"\xee" * len(expected)) for _ in range(64)]
    assert ctypes.string_at(at, len(expected)) == expected, "its values changed"


def require_major(capsule, most):
    if "versioned" in repr(capsule):
        major = ctypes.c_uint32.from_address(point(capsule, b"dltensor_versioned")).value
        assert major <= most, major


def consumed(prototype, capsule):
    """Renames the capsule; its deleter as a function of that prototype of ctypes."""
    _, name, struct, _, deleter_at = described(capsule)
    rename = ctypes.PyDLL(None).PyCapsule_SetName
    rename.argtypes = (ctypes.py_object, ctypes.c_char_p)
    consumed.name = b"used_" + name  # the capsule does not keep it
    rename(capsule, consumed.name)
    return prototype(None, ctypes.c_void_p)(ctypes.c_void_p.from_address(struct + deleter_at).value)


def get_buffer(array, flags):
    """A Py_buffer's words: buf, obj, len, itemsize, readonly and ndim, format, shape, strides."""
    view = (ctypes.c_void_p * 10)()
    ctypes.PyDLL(None).PyObject_GetBuffer(ctypes.py_object(array), view, flags)
    return view


def table_export(function, array):
    """The struct that the export of the C exchange API leaves."""
    export = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(function(24))
    struct = ctypes.c_void_p()
    assert export(array, ctypes.byref(struct)) == 0
    return struct.value


def table_allocate(function, code):
    """What the allocator of the C exchange API returns, leaves and complains of."""
    complaints = []
    shape = (ctypes.c_int64 * 2)(3, 5)
    words = 0, 1, 0, 2, code, 32, 1, ctypes.addressof(shape), 0, 0
    prototype = pack("=QiiiBBHQQQ", *words)
    set_error = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    report_error = set_error(lambda context, kind, message: complaints.append((kind, message)))
    allocate = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, set_error
    )(function(16))
    out = ctypes.c_void_p()
    try:
        status = allocate(prototype, ctypes.byref(out), None, report_error)
    except Exception as error:
        print("an exception is set:", repr(error))
        status = -1
    return status, out.value, complaints


def leave():
    """A callback of ctypes does not outlive the interpreter, and a deleter may be called late."""
    sys.stdout.flush()
    os._exit(0)


def left(call, array):
    """What many calls leave, in objects, references and KiB; the first ones fill caches."""

    def used():
        gc.collect()
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return sys.getallocatedblocks(), sys.getrefcount(array), most

    for count in (20_000, 50_000):
        before = used()
        for _ in range(count):
            call()
        objects, references, kib = (now - then for then, now in zip(before, used(), strict=True))
        print(count, "leave", objects, "objects", references, "references", kib, "KiB")
    assert objects < 500 and references < 500 and kib < 4_000


class Driver:
    """The driver of a GPU: streams that sleep, and copies on them."""

    def __init__(self, kind, number):
        self.is_cuda = kind == "cuda"
        if self.is_cuda:
            self.library = ctypes.CDLL("libcuda.so.1")
            self.call("cuInit", 0)
            self.call("cuCtxSetCurrent", self.made("cuDevicePrimaryCtxRetain", number))
        else:
            with open("/proc/self/maps") as maps:  # noqa: PTH123
                loaded = next(line.split()[-1] for line in maps if "libamdhip64" in line)
            self.library = ctypes.CDLL(loaded)
            self.call("hipSetDevice", number)

    def call(self, name, *arguments):
        place = ctypes.c_void_p()
        if self.is_cuda:
            find = self.library.cuGetProcAddress
            find(name.encode(), ctypes.byref(place), 11040, ctypes.c_uint64(0))
        else:
            place = ctypes.cast(getattr(self.library, name), ctypes.c_void_p)
        kinds = [ctypes.c_void_p] * len(arguments)
        code = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(place.value)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: error {code}")

    def made(self, name, *arguments):
        place = ctypes.c_void_p()
        self.call(name, ctypes.byref(place), *arguments)
        return place.value

    def stream(self):
        return self.made("cuStreamCreate" if self.is_cuda else "hipStreamCreateWithFlags", 1)

    def pinned(self, size):
        return self.made("cuMemHostAlloc" if self.is_cuda else "hipHostMalloc", size, 0)

    def copy(self, to, start, size, stream):
        if self.is_cuda:
            self.call("cuMemcpyAsync", to, start, size, stream)
        else:
            self.call("hipMemcpyAsync", to, start, size, 4, stream)

    def sleep(self, stream):
        usleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)
        self.call(
            "cuLaunchHostFunc" if self.is_cuda else "hipLaunchHostFunc", stream, usleep, 20000
        )

    def wait(self, stream):
        self.call("cuStreamSynchronize" if self.is_cuda else "hipStreamSynchronize", stream)


def require_order(array, source, on_stream, reader, **words):
    """A read on that stream, or on a new one, sees the content that the producer still computes;
    with stream -1 the content before it."""
    kind, number = array.__dlpack_device__()
    word, size = "cuda" if kind == 2 else "rocm", source.nbytes
    driver = Driver(word, number)
    first, place = driver.stream(), exported_address(array.__dlpack__(stream=-1))
    reader = driver.stream() if reader is None else reader
    named = {"own": reader, "legacy": int(kind == 2)}
    words = {key: named.get(value, value) for key, value in words.items()}
    content = driver.pinned(3 * size)
    ctypes.memmove(content, source.ctypes.data, size)
    ctypes.memset(content + size, 0, size)
    driver.copy(place, content + size, size, first)
    driver.wait(first)
    driver.sleep(first)
    driver.copy(place, content, size, first)
    with on_stream(f"{word}:{number}", first):
        capsule = array.__dlpack__(**words)
    seen = content + 2 * size
    if "dl_device" in words:
        seen = exported_address(capsule)
    else:
        driver.copy(seen, place, size, reader)
        driver.wait(reader)
    is_new = ctypes.string_at(seen, size) == source.tobytes()
    driver.wait(first)
    assert is_new == (words.get("stream") != -1), "new content" if is_new else "old content"
