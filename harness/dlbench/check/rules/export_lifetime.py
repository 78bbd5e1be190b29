"""The owner of the memory, its lifetime, and the threads that may call the deleter."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

from dlbench import _check
from dlbench.check import leaks
from dlbench.check.reading import address, values
from dlbench.check.rule import HEADER, SPEC, producer_rule
from dlbench.check.subject import Subject, collect
from dlbench.check.verdict import assume, expect

DELETER = f"{HEADER}, DLManagedTensorVersioned.deleter"


def churn(case: Any) -> list[bytearray]:
    """Memory of the same size, allocated and written, so that freed memory is used again."""
    return [bytearray(b"\xee" * case.bytes) for _ in range(64)]


def require_values(imported_tensor: _check.ImportedTensor, expected: bytes, when: str) -> None:
    """Raises Broken where the memory no longer holds its values."""
    expect(values(imported_tensor.facts) == expected, f"the values changed {when}")


@producer_rule("export.keeps-memory", SPEC, source="large")
def keeps_memory(subject: Subject) -> str:
    """exported memory stays valid after the array is deleted

    at, expected = exported_address(capsule), source.tobytes()
    del array, source; gc.collect()
    require_still(at, expected)
    """
    case = subject.case(bytes=1 << 20)
    array = subject.exporter(case)
    imported_tensor = subject.import_capsule(array)
    del array
    collect()
    used = churn(case)
    require_values(imported_tensor, case.expected().tobytes(), "when the array was dropped")
    del used
    imported_tensor.release()
    return "its values stay"


@producer_rule("export.twice", SPEC, source="large")
def twice(subject: Subject) -> str:
    """several exports of one array are deleted independently

    several = [array.__dlpack__() for _ in range(3)]
    at, expected = address(several[2]), source.tobytes()
    del array, source, several[:2]; gc.collect()
    require_still(at, expected)
    """
    case = subject.case(bytes=1 << 18)
    array = subject.exporter(case)
    borrowed_tensors = [subject.import_capsule(array) for _ in range(3)]
    shared = len({address(borrowed.facts) for borrowed in borrowed_tensors}) == 1
    del array
    collect()
    expected = case.expected().tobytes()
    last = borrowed_tensors[2]
    borrowed_tensors[1].release()
    used = churn(case)
    require_values(last, expected, "when the second of three was deleted")
    borrowed_tensors[0].release()
    collect()
    used += churn(case)
    require_values(last, expected, "when the first of three was deleted")
    last.release()
    return "one memory" if shared else "a copy each"


@producer_rule("export.renamed-capsule", SPEC, risky=True, source="large")
def renamed_capsule(subject: Subject) -> str:
    """a renamed capsule does not delete its tensor

    at, expected = exported_address(capsule), source.tobytes()
    consumed(ctypes.CFUNCTYPE, capsule); del capsule, array, source; gc.collect()
    require_still(at, expected)
    """
    case = subject.case(bytes=1 << 19)
    array = subject.exporter(case)
    capsule = subject.readable(partial(subject.request_export, array))
    imported_tensor = subject.readable(partial(_check.import_capsule, capsule))
    del array, capsule
    collect()
    used = churn(case)
    require_values(imported_tensor, case.expected().tobytes(), "when the capsule went")
    del used
    imported_tensor.release()
    collect()
    return "the borrowed tensor outlived its capsule"


def released(subject: Subject, how: str) -> str:
    """Releases once, and checks that the process survives."""
    imported_tensor = subject.import_capsule(subject.exporter())
    assume(imported_tensor.facts["deleter"], "the deleter is NULL")
    imported_tensor.release(how)
    gc.collect()
    return "it may be"


@producer_rule("export.deleter-without-gil", SPEC, risky=True)
def deleter_without_gil(subject: Subject) -> str:
    """the deleter may be called without the GIL

    # ctypes releases the GIL during a CFUNCTYPE call.
    deleter = consumed(ctypes.CFUNCTYPE, capsule)
    deleter(struct)
    """
    return released(subject, "without-gil")


@producer_rule("export.deleter-thread", SPEC, risky=True)
def deleter_thread(subject: Subject) -> str:
    """the deleter may be called in another thread, which holds the GIL

    deleter = consumed(ctypes.PYFUNCTYPE, capsule)
    import threading
    thread = threading.Thread(target=deleter, args=(struct,))
    thread.start(); thread.join()
    """
    return released(subject, "thread")


@producer_rule(
    "export.deleter-at-exit",
    f"{SPEC}, the example of a deleter",
    level="should",
    risky=True,
    at_exit=True,
)
def deleter_at_exit(subject: Subject) -> str:
    """the deleter may be called after the interpreter has shut down

    # ctypes releases the GIL during a CFUNCTYPE call.
    deleter = consumed(ctypes.CFUNCTYPE, capsule)
    # exit() of the C library runs this after the interpreter's end.
    ctypes.CDLL(None).__cxa_atexit(deleter, ctypes.c_void_p(struct), None)
    """
    imported_tensor = subject.import_capsule(subject.exporter())
    assume(imported_tensor.facts["deleter"], "the deleter is NULL")
    imported_tensor.release("at-exit")
    return "the process ended well"


@producer_rule("export.leak-unconsumed", SPEC)
def leak_unconsumed(subject: Subject) -> str:
    """a capsule that is not consumed deletes its tensor

    left(lambda: array.__dlpack__(), array)
    """
    array = subject.exporter()
    subject.export(array)
    return leaks.require_none(lambda: subject.request_export(array), array)


@producer_rule("export.leak-consumed", DELETER)
def leak_consumed(subject: Subject) -> str:
    """a tensor leaves no memory allocated after its deleter was called

    left(lambda: np.from_dlpack(array), array)
    """
    array = subject.exporter()
    subject.export(array)
    return leaks.require_none(
        lambda: _check.import_capsule(subject.request_export(array)).release(), array
    )
