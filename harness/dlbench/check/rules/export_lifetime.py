"""The owner of the memory, its lifetime, and the threads that may call the deleter."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

from dlbench import _check
from dlbench.check import leaks
from dlbench.check.reading import address, values
from dlbench.check.rule import HEADER, SPEC, assume, expect, producer_rule
from dlbench.check.showing import LEFT
from dlbench.check.subject import Subject, collect

DELETER = f"{HEADER}, DLManagedTensorVersioned.deleter"


#: Where the memory lies, and that it is still as it was when much else was written.
WHERE = (
    "at = ctypes.c_void_p.from_address(tensor).value\n"
    "at += ctypes.c_uint64.from_address(tensor + 40).value\n"
    "expected = source.tobytes()\n"
)
STILL = (
    "other = [bytearray(b'\\xee' * len(expected)) for _ in range(64)]\n"
    "assert ctypes.string_at(at, len(expected)) == expected"
)


def churn(case: Any) -> list[bytearray]:
    """Memory of the same size, allocated and written, so that freed memory is used again."""
    return [bytearray(b"\xee" * case.bytes) for _ in range(64)]


def require_values(taken: _check.Taken, expected: bytes, when: str) -> None:
    """Raises Broken where the memory no longer holds its values."""
    expect(values(taken.facts) == expected, f"the values changed {when}")


@producer_rule(
    "export.keeps-memory",
    "what was exported stays as it is when the array has gone",
    SPEC,
    lines=f"{WHERE}del array, source; gc.collect()\n{STILL}",
)
def keeps_memory(subject: Subject) -> str:
    case = subject.case(bytes=1 << 20)
    array = subject.exporter(case)
    taken = subject.take(array)
    del array
    collect()
    used = churn(case)
    require_values(taken, case.expected().tobytes(), "when the array was dropped")
    del used
    taken.release()
    return "its values stay"


@producer_rule(
    "export.twice",
    "each of several exports of one array is deleted on its own",
    SPEC,
    lines=(
        f"several = [array.__dlpack__() for _ in range(3)]\n"
        "at, expected = address(several[2]), source.tobytes()\n"
        f"del array, source, several[:2]; gc.collect()\n{STILL}"
    ),
)
def twice(subject: Subject) -> str:
    case = subject.case(bytes=1 << 18)
    array = subject.exporter(case)
    borrowed_tensors = [subject.take(array) for _ in range(3)]
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


@producer_rule(
    "export.taken-capsule",
    "a capsule that was renamed does nothing when it goes",
    SPEC,
    risky=True,
    lines=(
        "set_name = ctypes.PyDLL(None).PyCapsule_SetName\n"
        "set_name.argtypes = (ctypes.py_object, ctypes.c_char_p)\n"
        "used = b'used_' + name\n"
        "set_name(capsule, used)\n"
        f"{WHERE}del capsule, array, source; gc.collect()\n{STILL}"
    ),
)
def taken_capsule(subject: Subject) -> str:
    case = subject.case(bytes=1 << 19)
    array = subject.exporter(case)
    capsule = subject.readable(partial(subject.ask, array))
    taken = subject.readable(partial(_check.take, capsule))
    del array, capsule
    collect()
    used = churn(case)
    require_values(taken, case.expected().tobytes(), "when the capsule went")
    del used
    taken.release()
    collect()
    return "the borrowed tensor outlived its capsule"


def released(subject: Subject, how: str) -> str:
    """One release, after which the process is still there."""
    taken = subject.take(subject.exporter())
    assume(taken.facts["deleter"], "the deleter is NULL")
    taken.release(how)
    gc.collect()
    return "it may be"


def _taken(function: str) -> str:
    """The capsule is consumed; its deleter is a function of that type of ctypes'."""
    return (
        f"deleter = ctypes.{function}(None, ctypes.c_void_p)(\n"
        "    ctypes.c_void_p.from_address(struct + deleter_at).value)\n"
        "set_name = ctypes.PyDLL(None).PyCapsule_SetName\n"
        "set_name.argtypes = (ctypes.py_object, ctypes.c_char_p)\n"
        "used = b'used_' + name\n"
        "set_name(capsule, used)\n"
    )


LETS_GO = "# ctypes lets go of the GIL for the time of a CFUNCTYPE call.\n"
WITHOUT_GIL = LETS_GO + _taken("CFUNCTYPE")


@producer_rule(
    "export.deleter-without-gil",
    "the deleter may be called without the GIL",
    SPEC,
    risky=True,
    lines=WITHOUT_GIL + "deleter(struct)",
)
def deleter_without_gil(subject: Subject) -> str:
    return released(subject, "without-gil")


@producer_rule(
    "export.deleter-thread",
    "the deleter may be called in another thread, which holds the GIL",
    SPEC,
    risky=True,
    # It keeps the GIL.
    lines=(
        _taken("PYFUNCTYPE")
        + "import threading\n"
        + "thread = threading.Thread(target=deleter, args=(struct,))\n"
        + "thread.start(); thread.join()"
    ),
)
def deleter_thread(subject: Subject) -> str:
    return released(subject, "thread")


@producer_rule(
    "export.deleter-at-exit",
    "the deleter may be called when the interpreter has gone",
    f"{SPEC}, the example of a deleter",
    level="should",
    risky=True,
    at_exit=True,
    lines=(
        WITHOUT_GIL
        + "# exit() of the C library runs this after the interpreter's end.\n"
        + "ctypes.CDLL(None).__cxa_atexit(deleter, ctypes.c_void_p(struct), None)"
    ),
)
def deleter_at_exit(subject: Subject) -> str:
    taken = subject.take(subject.exporter())
    assume(taken.facts["deleter"], "the deleter is NULL")
    taken.release("at-exit")
    return "the process ended well"


@producer_rule(
    "export.leak-unconsumed",
    "a capsule that is not consumed deletes its tensor",
    SPEC,
    lines=LEFT.format("array.__dlpack__()"),
)
def leak_unconsumed(subject: Subject) -> str:
    array = subject.exporter()
    subject.export(array)
    return leaks.require_none(lambda: subject.ask(array), array)


@producer_rule(
    "export.leak-consumed",
    "after its deleter a borrowed tensor leaves no memory allocated",
    DELETER,
    lines=LEFT.format("np.from_dlpack(array)"),
)
def leak_consumed(subject: Subject) -> str:
    array = subject.exporter()
    subject.export(array)
    return leaks.require_none(lambda: _check.take(subject.ask(array)).release(), array)
