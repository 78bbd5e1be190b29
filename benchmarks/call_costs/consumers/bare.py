"""The native function; the same with a chain of multiplications for each array; and the same again,
which is timed by a bare C loop each time that a worker asks for it."""

import json
import os
from pathlib import Path

from dlbench import _native_consumer, _native_producer
from dlbench.adapter import compiled_module
from dlbench.case import Case

DISTRIBUTION = None
LINKS, BLOCK_NS, PRELUDE, SETS = 120, 100_000, 64, 4

loop = compiled_module(__file__, "loop.cc")
native = _native_consumer.call_dlpack_c


def timed(arrays):
    """Appends the time of a call, and that of a chain, to the file $BARE_TIMES."""
    case = Case(name="f32", dtype="float32", bytes=1024)
    make = _native_producer.Array
    sets = [tuple(make(case.numpy()) for _ in range(arrays)) for _ in range(SETS)]
    about = loop.time_calls(native, sets, PRELUDE)
    calls = max(SETS, int(BLOCK_NS / about))
    found = {
        "call": loop.time_calls(native, sets, calls),
        "chain": loop.time_chains(LINKS, 1000),
    }
    with Path(os.environ["BARE_TIMES"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    return native


PROTOCOLS = {"call": lambda arrays: native}
CALLS = {
    "chain": {"call": lambda arrays: loop.chained(native, LINKS)},
    "timed": {"call": timed},
}


def extras(array):
    return {}
