"""The kernel of consumers that launch one for `call`, in its several languages: its single thread
writes each call in a record, as the body in libdlbench_call.so does.

Kernels of one stream run one after another, so the record needs no lock.
"""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

from dlbench.adapter import call_library
from dlbench.call_record import BodyRecord

#: The first words of dlbench_call_record, of 64 bits: the number of calls, the sum over all
#: addresses and positions, the number of arrays, and the address of each.
CALLS, SUM, ARRAYS, LAST = range(4)


@functools.cache
def _record() -> Any:
    """Memory that the host and all devices share, from now on for the kernels' record."""
    from dlbench import _native_producer  # `check` has none in another Python

    empty = bytes(ctypes.sizeof(BodyRecord))
    memory = _native_producer.DeviceArray(empty, "cuda:0", memory="pinned")
    record = ctypes.c_void_p.in_dll(call_library(), "dlbench_call_launched")
    record.value = memory.address
    return memory


def record_address() -> int:
    """The address of the record of calls that kernels write."""
    return int(_record().address)


def statements(arrays: int, place: str, store: str = "r[{}] = {}", load: str = "r[{}]") -> str:
    """Statements that record a call in the words `r`: `place` is the address of an array `_`."""
    words = [re.sub(r"\b_\b", f"a{i}", place) for i in range(arrays)]
    terms = [load.format(SUM), *(f"{word} * {2 * i + 1}" for i, word in enumerate(words))]
    steps = [store.format(LAST + i, word) for i, word in enumerate(words)]
    steps += [store.format(SUM, " + ".join(terms)), store.format(ARRAYS, arrays)]
    return "; ".join([*steps, store.format(CALLS, f"{load.format(CALLS)} + 1")])


def ptx(arrays: int) -> str:
    """A kernel `dlbench_call` of so many addresses: text for the driver's compiler."""
    called, total, number = (f"[%r+{8 * place}]" for place in (CALLS, SUM, ARRAYS))
    parameters = ", ".join(f".param .u64 a{i}" for i in range(arrays))
    lines = [f"mov.u64 %r, {record_address()};", f"ld.u64 %sum, {total};"]
    for i in range(arrays):
        lines += [f"ld.param.u64 %a, [a{i}];", f"st.u64 [%r+{8 * (LAST + i)}], %a;"]
        lines += [f"mad.lo.u64 %sum, %a, {2 * i + 1}, %sum;"]
    lines += [f"st.u64 {total}, %sum;", f"mov.u64 %n, {arrays};", f"st.u64 {number}, %n;"]
    lines += [f"ld.u64 %n, {called};", "add.u64 %n, %n, 1;", f"st.u64 {called}, %n;", "ret;"]
    # Of the version and target of kernels/delay.ptx, which each driver compiles for its GPUs.
    head = (
        f".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry dlbench_call({parameters})"
    )
    return "\n".join([head, "{", ".reg .u64 %r, %sum, %a, %n;", *lines, "}"])
