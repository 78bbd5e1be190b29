"""Reads a consumer's result as the matrix does: by its adapter's functions and by protocols.

A way that needs no export by DLPack comes first: a fault of the export is not the import's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from dlbench import _check
from dlbench.check.reading import CODES, CPU, Facts, describe_error, values, values_of_numpy
from dlbench.check.reading import address as address_of
from dlbench.check.verdict import Broken, Ended, NotApplicable, Unclear

Array = np.ndarray[Any, Any]


def readings(
    function: Callable[[str], Any], request_export: Callable[[Any], Any] | None, result: Any
) -> Iterator[Facts]:
    """Address (None: unknown), dtype, shape, values and `readonly` (None: unknown) of a result, by
    each way that reads it. `function` finds the adapter's functions by name. Without
    `request_export` nothing is read by DLPack.

    Raises NotApplicable if no way reads it, Unclear if what describes it is no array.
    """
    place, known = result, None
    # The function may be about arrays of the library's own type, and the result is of another.
    with suppress(Exception):
        memory = function("memory")
        place = result if memory is None else memory(result)
    with suppress(Exception):
        address = function("address")
        known = None if address is None else address(result)
    ways: list[Callable[[], Facts]] = [lambda: _by_buffer(place), lambda: _by_numpy(place)]
    if request_export is not None:
        ways.append(lambda: _by_dlpack(request_export(place)))
    adapted = function("values")
    if adapted is not None:
        ways.insert(0, lambda: _by_values(adapted(result), known))
    why = faulty = ""  # texts: an exception would keep the result alive
    is_read = False
    for way in ways:
        try:
            facts = way()
        except Broken as end:
            faulty = str(end)
            continue
        except (Exception, Ended) as error:
            why = describe_error(error)
            continue
        is_read = True
        yield facts if known is None else {**facts, "address": known}
    if is_read:
        return
    if faulty:
        raise Unclear(f"what describes its result is faulty: {faulty}")
    raise NotApplicable(f"its result cannot be read: {why}")


def _by_values(readable: Any, known: int | None) -> Facts:
    try:
        facts = _by_buffer(readable)
    except Exception:
        facts = _by_numpy(readable)
    if facts["address"] != known:
        facts["address"] = facts["readonly"] = None  # it may be a copy
    return facts


def _by_buffer(result: Any) -> Facts:
    view = memoryview(result)
    return {**_of_numpy(np.asarray(view), result), "readonly": view.readonly}


def _by_numpy(result: Any) -> Facts:
    facts = _of_numpy(np.asarray(result), result)
    if not hasattr(result, "__array_interface__"):
        facts["address"] = facts["readonly"] = None  # it may be a copy
    return facts


def _by_dlpack(capsule: Any) -> Facts:
    facts = _check.read(capsule)
    is_versioned = facts["struct"] == "versioned"
    return {
        "address": address_of(facts),
        "dtype": facts["dtype"],
        "shape": tuple(facts["shape"]),
        "values": values(facts),
        "readonly": bool(facts["flags"] & 1) if is_versioned else None,
    }


def _of_numpy(array: Array, result: Any) -> Facts:
    """NumPy sees a dtype that it lacks as integers of the same size: the result's own name of its
    dtype counts."""
    name, own = array.dtype.name, dtype_of(result)
    if name not in CODES:
        raise NotApplicable(f"NumPy reads it as {name}")
    if own and CODES[own][1] == CODES[name][1]:
        name = own
    return {
        "address": array.ctypes.data,
        "dtype": (*CODES[name], 1),
        "shape": array.shape,
        "values": values_of_numpy(array),
        "readonly": not array.flags.writeable,
    }


def lies_on_host(array: Any) -> bool:
    """Does an array report the CPU's memory, or has no protocol for another?"""
    try:
        return bool(array.__dlpack_device__()[0] == CPU[0])
    except AttributeError:
        return not hasattr(array, "__cuda_array_interface__")
    except Exception:
        return False


def dtype_of(array: Any) -> str:
    """The dtype of an array; empty if dlbench has no name for it."""
    try:
        dtype = getattr(array, "dtype", None)
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or dtype
        name = str(name).rpartition(".")[2]
    except Exception:
        return ""
    return name if name in CODES else ""


def is_like(facts: Facts, array: Array) -> bool:
    """Are they the elements of an array, in its shape and dtype?"""
    return bool(
        facts["dtype"] == (*CODES[array.dtype.name], 1)
        and facts["shape"] == array.shape
        and facts["values"] == array.tobytes()
    )


def is_bytes_of(facts: Facts, array: Array) -> bool:
    """Is it the memory of an array, byte by byte?"""
    return bool(
        facts["dtype"] == (1, 8, 1)
        and facts["shape"] == (array.nbytes,)
        and facts["values"] in (array.tobytes(), array.tobytes("A"))
    )
