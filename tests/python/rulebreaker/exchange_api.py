"""The producer's C exchange API."""

from functools import partial

import numpy as np

from dlbench import _check, _native_producer
from dlbench.case import Case
from dlbench.check.reading import CPU
from dlbench.check.situation import LAZY
from rulebreaker.fault import breaks, enter

KEPT = []


def _export(array):
    if not hasattr(array, "case"):
        return array.borrowed()
    enter(array.case, {})
    if array.case.special not in ("", *LAZY):
        raise (TypeError if breaks("c-api.export-error") else BufferError)(array.case.special)
    words = {"legacy": False, "poison": False, "flags": 0}
    shape, strides = array.described(words, array.first, is_honest=True)
    if breaks("c-api.agrees"):
        memory = _check.Memory(array.memory)
        words["data"] += memory.address - array.memory.address
        return _check.BorrowedTensor(memory, shape, strides, **words)
    words["deleter"] = "leaks" if breaks("c-api.leak") else "honest"
    if breaks("c-api.export"):
        words["dtype"] = (3, *words["dtype"][1:])
    return _check.BorrowedTensor(array.memory, shape, strides, **words)


def _borrow(array):
    if not hasattr(array, "case"):
        return array.borrowed()
    enter(array.case, {})
    words = {"legacy": False, "poison": False, "flags": 0}
    shape, strides = array.described(words, array.first, is_honest=True)
    if breaks("c-api.borrow"):
        words["dtype"] = (3, *words["dtype"][1:])
    return _check.BorrowedTensor(array.memory, shape, strides, **words)


def _import(make, imported_tensor):
    facts = imported_tensor.facts
    made = make(Case("f32", "float32", 4 * facts["shape"][0]))
    raw = _check.gather(facts["data"] + facts["byte_offset"], facts["shape"], None, 4)
    made.view[:] = np.frombuffer(raw, np.float32)
    if breaks("c-api.import"):
        KEPT.append(imported_tensor)
    else:
        imported_tensor.release()
    return made


def _allocate(dtype, shape):
    if dtype[0] == 200:
        if breaks("c-api.allocate-error"):
            return None
        raise BufferError("no such dtype")
    if breaks("c-api.allocate"):
        shape = (*shape[:-1], shape[-1] + 1)
    room = _check.Memory(bytes(4 * int(np.prod(shape))))
    steps = tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    return _check.BorrowedTensor(room, shape, steps, dtype=dtype)


def _stream(device, number):
    if device == CPU[0]:
        return 7 if breaks("c-api.stream") else 0
    # 1 is the default stream of the simulated device.
    return 1 if breaks("c-api.work-stream") else _native_producer.stream(f"sim:{number}")


def publish(kind):
    """The table, on the type of array."""
    kind.__dlpack_c_exchange_api__ = _check.make_api(
        {
            "export": _export,
            "import": partial(_import, kind),
            "borrow": _borrow,
            "allocate": _allocate,
            "stream": _stream,
        },
        version=(0, 9) if breaks("c-api.version") else (1, 3),
        without="current_work_stream" if breaks("c-api.functions") else "",
        name="not_it" if breaks("c-api.capsule") else "dlpack_exchange_api",
    )
