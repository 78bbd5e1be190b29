"""What a consumer's function for `call` does with an argument that is not what it declares: one
plain float32 array with unit stride.

The function gets two arrays; the first is replaced. It runs in the child of `check`.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

from dlbench import loading
from dlbench.adapter import Unsupported
from dlbench.call_record import record
from dlbench.case import Case
from dlbench.errors import first_line

#: What the first argument is, and the case of it. None: made here.
CONDITIONS = {
    "float32": "f32",
    "float64": "f64",
    "strided": "f32-strided",
    "reversed": "f32-reversed",
    "rank 2": "f32-2d",
    "read-only": "f32-readonly",
    "big-endian": "f32-swapped",
    "unaligned": "f32-align1",
    "None": None,
    "a number": None,
    "too few": None,
    "too many": None,
    "keyword": None,
}
TAKEN, COPIED, CONVERTED, REFUSED = "taken", "copied", "converted", "refused"
SILENT, CRASHED, ABSENT = "silently wrong", "crashed", "no such array"
OUTCOMES = (TAKEN, COPIED, CONVERTED, REFUSED, SILENT, CRASHED, ABSENT)


def load(request: dict[str, Any]) -> tuple[ModuleType, ModuleType]:
    """The adapters of a request: their names and files by role."""
    producer, consumer = (
        loading.load_adapter(role, *request[role]) for role in ("producer", "consumer")
    )
    return producer, consumer


def run(adapters: tuple[ModuleType, ModuleType], request: dict[str, Any]) -> dict[str, str]:
    """The outcome of one condition, and its detail. `request` has the condition, and the cases:
    the plain one and that of the condition."""
    producer, consumer = adapters
    plain, case = Case(**request["plain"]), Case(**request["case"])
    try:
        made = [producer.make(each, "cpu") for each in (case, plain)]
    except Exception as error:  # of the producer's library
        return {"outcome": ABSENT, "detail": first_line(error)}
    condition = request["condition"]
    arguments, keywords = list(made), {}
    if condition in ("None", "a number"):
        arguments[0] = None if condition == "None" else 7
    elif condition == "too few":
        arguments.pop()
    elif condition == "too many":
        arguments.append(made[1])
    elif condition == "keyword":
        keywords = {"a1": arguments.pop()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function = consumer.PROTOCOLS["call"](2)
        except Unsupported as error:
            return {"outcome": ABSENT, "detail": first_line(error)}
        sources = [case.numpy(), plain.numpy()]
        try:
            seen = record(lambda: function(*arguments, **keywords), sources)
        except Exception as error:
            return {"outcome": REFUSED, "detail": f"{type(error).__name__}: {first_line(error)}"}
    return _judge(seen, [*arguments, *keywords.values()], sources[0], producer)


def _judge(seen: Any, passed: list[Any], source: Any, producer: Any) -> dict[str, str]:
    """What the body got in place of the first argument, if it ran."""
    places = [_address(each, producer) for each in passed]
    if seen.calls != 1:
        return {"outcome": SILENT, "detail": f"the body ran {seen.calls} times"}
    if len(seen.addresses) != len(passed):
        return {"outcome": SILENT, "detail": f"the body got {len(seen.addresses)} arrays"}
    address, place = seen.addresses[0], places[0]
    if place is None or not address:
        what = "a null pointer" if not address else "a pointer"
        return {"outcome": SILENT, "detail": f"the body got {what}"}
    reads = seen.holds(0, source.astype("f4"))
    if address == place:
        what = "" if reads else "the body got the array's address, and reads other values there"
        return {"outcome": TAKEN if reads else SILENT, "detail": what}
    if reads:
        return {"outcome": COPIED if source.dtype == "f4" else CONVERTED, "detail": ""}
    is_copy = seen.holds(0, source)
    what = "the body got a copy, and reads other values there" if is_copy else "other values"
    return {"outcome": SILENT, "detail": what}


def _address(argument: object, producer: Any) -> int | None:
    """The first byte of an array; None for what is none."""
    import numpy as np

    if argument is None or isinstance(argument, int):
        return None
    find = getattr(producer, "address", None)
    if find is not None:
        return int(find(argument))
    memory = getattr(producer, "memory", None)
    return int(np.asarray(memory(argument) if memory else argument).ctypes.data)
