"""A race as a script that needs no dlbench: producer busy, the consumer's call, its first read."""

from __future__ import annotations

import ast
from pathlib import Path

from dlbench import snippets

SECONDS = 0.02
TIMES = 20
#: Where the queue is a device's, whose delays are kernels of dlbench's.
EXCHANGE_ALONE = "the exchange alone: the work that it raced with was put there by --sync"


def is_possible(producer: Path, name: str) -> bool:
    """Can the producer's file fill its queue?"""
    return "busy" in snippets.defined(snippets.tree(producer, name))


def preparation(producer: Path, consumer: Path, names: tuple[str, str]) -> list[ast.stmt]:
    """What the lines rest on: of the producer's file how it fills its queue, of both how an array
    is waited for and read."""
    made = snippets.tree(producer, names[0])
    taken = snippets.tree(consumer, names[1])
    own = {"busy", "new_stream", "on_stream", "values", "ready"}
    return [
        *snippets.needed(made, own & snippets.defined(made)),
        *snippets.needed(taken, {"values", "ready"} & snippets.defined(taken)),
    ]


def lines(
    producer: Path, consumer: Path, names: tuple[str, str], device: str, call: str
) -> list[str]:
    """The race itself, so many times; `call` imports `array`."""
    made = snippets.defined(snippets.tree(producer, names[0]))
    taken = snippets.defined(snippets.tree(consumer, names[1]))
    # A library's functions may stand in either of its files.
    taken |= made if names[0] == names[1] else set()
    busy = [f"    array = busy(case, {device!r}, {SECONDS})"]
    if {"new_stream", "on_stream"} <= made:
        entered = f"    with on_stream({device!r}, new_stream({device!r})):"
        busy = [entered, f"    {busy[0]}"]
    read = "values(result)" if "values" in taken else "np.asarray(result)"
    return [
        "stale = 0",
        f"for _ in range({TIMES}):",
        *busy,
        "    array = array[0] if isinstance(array, tuple) else array",
        f"    result = {call}",
        *(["    ready(result)"] if "ready" in taken else []),
        f"    stale += not np.array_equal({read}, source)",
        *(["    ready(array)"] if "ready" in made else []),
        f'print(f"{{stale}} of {TIMES} first reads saw what was there before")',
    ]
