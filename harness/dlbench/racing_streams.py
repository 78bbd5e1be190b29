"""A race on a GPU as a script that needs no dlbench: the delay is a host function that sleeps, put
on the producer's stream by the driver itself; behind it the content is copied into the array."""

from __future__ import annotations

import ast
from collections.abc import Collection

from dlbench import snippets
from dlbench.errors import BadInput

TIMES = 20
#: What of an adapter's file the lines call.
CALLED = {"on_stream", "address", "stream"}

#: Where a driver's functions are found: of ROCm's, in the one that the library has loaded.
DRIVERS = {
    "cuda": """
import ctypes
driver = ctypes.CDLL('libcuda.so.1')

def found(name):
    place = ctypes.c_void_p()
    driver.cuGetProcAddress(name.encode(), ctypes.byref(place), 11040, ctypes.c_uint64(0))
    return place.value
""",
    "rocm": """
import ctypes
with open('/proc/self/maps') as maps:
    driver = ctypes.CDLL(next(line.split()[-1] for line in maps if 'libamdhip64' in line))

def found(name):
    return ctypes.cast(getattr(driver, name), ctypes.c_void_p).value
""",
}
CALLS = """
def drive(name, *arguments):
    kinds = [ctypes.c_int, *[ctypes.c_void_p] * len(arguments)]
    code = ctypes.CFUNCTYPE(*kinds)(found(name))(*arguments)
    if code != 0:
        raise RuntimeError(f'{name}: error {code}')

def driven(name, *arguments):
    made = ctypes.c_void_p()
    drive(name, ctypes.byref(made), *arguments)
    return made.value
"""
#: What makes the device's context current.
ENTER = {
    "cuda": """
drive('cuInit', 0)
drive('cuCtxSetCurrent', driven('cuDevicePrimaryCtxRetain', {number}))
""",
    "rocm": """
drive('hipSetDevice', {number})
""",
}
NAMES = {
    "cuda": {"stream": "cuStreamCreate", "wait": "cuStreamSynchronize", "pinned": "cuMemHostAlloc",
             "run": "cuLaunchHostFunc", "copy": "cuMemcpyAsync", "which_way": ""},
    "rocm": {"stream": "hipStreamCreateWithFlags", "wait": "hipStreamSynchronize",
             "pinned": "hipHostMalloc", "run": "hipLaunchHostFunc", "copy": "hipMemcpyAsync",
             "which_way": "4, "},
}  # fmt: skip
PREPARED = """
produced = driven('{stream}', 1)
size = source.nbytes
content = driven('{pinned}', 3 * size, 0)
zeros, seen = (content + size, content + 2 * size)
ctypes.memmove(content, source.ctypes.data, size)
ctypes.memset(zeros, 0, size)
sleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value
"""
BUSY = """
drive('{copy}', address(array), zeros, size, {which_way}produced)
drive('{wait}', produced)
drive('{run}', produced, sleep, 20000)
drive('{copy}', address(array), content, size, {which_way}produced)
"""
SEEN = """
drive('{wait}', reading)
stale += ctypes.string_at(seen, size) != source.tobytes()
drive('{wait}', produced)
"""


def is_possible(device: str, producer: ast.Module) -> bool:
    """On a GPU, where the producer's file can work on a given stream."""
    kind = device.partition(":")[0]
    return kind in NAMES and {"on_stream", "address"} <= snippets.defined(producer)


def driving(device: str) -> list[str]:
    """Imports and functions; behind them the device's context is current."""
    kind, _, number = device.partition(":")
    if not number.isascii() or not number.isdigit():
        raise BadInput(f"the cell's device is {device!r}; allowed here: {kind}:NUMBER")
    return _lines(DRIVERS[kind] + CALLS + ENTER[kind].format(number=int(number)))


def taking(
    device: str, own: Collection[str], library: Collection[str], call: ast.expr
) -> ast.Module:
    """The consumer's half, three statements: which stream it reads on, its call, its first read.

    `own` are the names of its file, `library` those of its files together.
    """
    names = NAMES[device.partition(":")[0]]
    is_fixed = "stream" in own and "on_stream" not in own
    reading = f"stream({device!r})" if is_fixed else f"driven({names['stream']!r}, 1)"
    tells = "on_stream" in library and not is_fixed
    inside = f"on_stream({device!r}, reading)" if tells else "contextlib.nullcontext()"
    place = f"address({'result' if 'address' in library else 'array'})"
    return ast.parse(
        f"reading = {reading}\n"
        f"with {inside}:\n"
        f"    result = {ast.unparse(ast.fix_missing_locations(call))}\n"
        f"drive({names['copy']!r}, seen, {place}, size, {names['which_way']}reading)\n"
    )


def lines(device: str, making: list[str], taking: ast.Module) -> list[str]:
    """The race itself, so many times; `making` leaves `array`."""
    names = NAMES[device.partition(":")[0]]
    reading, exchange, read = (ast.unparse(node) for node in taking.body)
    on_its_stream = f"with on_stream({device!r}, produced):"
    work = [*_lines(BUSY.format(**names)), on_its_stream, *_indented(exchange.splitlines())]
    work += [read, *_lines(SEEN.format(**names))]
    return [
        *_lines(PREPARED.format(**names)),
        reading,
        "def made():",
        *_indented([*making, "return array"]),
        on_its_stream,
        "    array = made()",
        "stale = 0",
        f"for _ in range({TIMES}):",
        *_indented(work),
        f'print(f"{{stale}} of {TIMES} first reads saw what was there before")',
    ]


def _lines(text: str) -> list[str]:
    return text.strip("\n").splitlines()


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for text in lines for line in text.splitlines()]
