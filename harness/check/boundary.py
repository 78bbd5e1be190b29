"""What a consumer's function for `call` does with an argument that is not what it declares: one
plain float32 array with unit stride.

The function gets two arrays; the first is replaced. It runs in the child of `check`.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

from dlbench import loading
from dlbench.adapter import Call, Unsupported
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
    "sparse": None,
    "PyData sparse": None,
    "JAX BCOO": None,
    "meta": None,
}
#: Conditions of functions that are called as f(x, y).
OF_POSITIONS = ("too few", "too many", "keyword")
OTHER_KINDS = ("sparse", "PyData sparse", "JAX BCOO", "meta")
#: Conditions whose first argument has no address.
WITHOUT_ADDRESS = ("None", "a number", *OTHER_KINDS)
TAKEN, COPIED, CONVERTED, REFUSED = "taken", "copied", "converted", "refused"
SILENT, ABSENT = "silently wrong", "no such array"
OUTCOMES = (TAKEN, COPIED, CONVERTED, REFUSED, SILENT, ABSENT)
#: Outcomes of a process that does not answer.
CRASHED, TIMED_OUT = "crashed", "timed-out"


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
    condition = request["condition"]
    plain, case = Case(**request["plain"]), Case(**request["case"])
    try:
        made = [producer.make(each, "cpu") for each in (case, plain)]
        if condition in OTHER_KINDS:
            made[0] = _other_kind(condition, made[0], plain)
    except Exception as error:  # of the producer's library
        return {"outcome": ABSENT, "detail": first_line(error)}
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
            if isinstance(function, Call) and condition in OF_POSITIONS:
                raise Unsupported("the adapter's Call says how the arrays are passed")
        except Unsupported as error:
            return {"outcome": ABSENT, "detail": first_line(error)}
        sources = [case.numpy(), plain.numpy()]
        try:
            seen = record(lambda: function(*arguments, **keywords), sources)
        except Exception as error:
            return {"outcome": REFUSED, "detail": f"{type(error).__name__}: {first_line(error)}"}
    place = None if condition in WITHOUT_ADDRESS else _address(arguments[0], producer)
    return _judge(seen, len(arguments) + len(keywords), place, sources[0])


def _other_kind(condition: str, array: Any, plain: Case) -> Any:
    """The array as one of its library that is sparse, or that has no memory; or a sparse one of
    another library with the same content."""
    if condition == "PyData sparse":
        return __import__("sparse").COO.from_numpy(plain.numpy())
    if condition == "JAX BCOO":
        from jax.experimental.sparse import BCOO
        from jax.numpy import asarray

        return BCOO.fromdense(asarray(plain.numpy()))
    kind = type(array).__module__
    if kind == "torch":
        return array.to_sparse() if condition == "sparse" else array.to("meta")
    if kind == "numpy" and condition == "sparse":
        from scipy.sparse import csr_array

        return csr_array(array)
    raise Unsupported(f"{kind} has no {condition} arrays")


def _judge(seen: Any, passed: int, place: int | None, source: Any) -> dict[str, str]:
    """What the body got in place of the first of so many arguments, if it ran."""
    if seen.calls != 1:
        return {"outcome": SILENT, "detail": f"the body ran {seen.calls} times"}
    if len(seen.addresses) != passed:
        return {"outcome": SILENT, "detail": f"the body got {len(seen.addresses)} arrays"}
    address = seen.addresses[0]
    if not address:
        return {"outcome": SILENT, "detail": "the body got a null pointer"}
    reads = seen.holds(0, source.astype("f4"))
    if place is None:
        return {"outcome": CONVERTED if reads else SILENT, "detail": "the body got a pointer"}
    if address == place:
        what = "" if reads else "the body got the array's address, and reads other values there"
        return {"outcome": TAKEN if reads else SILENT, "detail": what}
    if reads:
        return {"outcome": COPIED if source.dtype == "f4" else CONVERTED, "detail": ""}
    is_copy = seen.holds(0, source)
    what = "the body got a copy, and reads other values there" if is_copy else "other values"
    return {"outcome": SILENT, "detail": what}


def _address(array: object, producer: Any) -> int:
    """The first byte of an array."""
    import numpy as np

    find = getattr(producer, "address", None)
    if find is not None:
        return int(find(array))
    memory = getattr(producer, "memory", None)
    return int(np.asarray(memory(array) if memory else array).ctypes.data)
