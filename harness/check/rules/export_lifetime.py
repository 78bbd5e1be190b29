"""The owner of the memory, its lifetime, and the threads that may call the deleter."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

from dlbench import _check
from dlbench.check import leaks
from dlbench.check.reading import address, read, values
from dlbench.check.rule import HEADER, SPEC, producer_rule
from dlbench.check.situation import COPY, NEW, STRUCTS
from dlbench.check.subject import Subject, collect
from dlbench.check.verdict import assume, expect

DELETER = f"{HEADER}, DLManagedTensorVersioned.deleter"


#: Each struct, and a copy: a deleter of its own in many libraries.
COPIES = (*STRUCTS, {**NEW, **COPY})
#: Bytes of the arrays of three rules. A planted fault shows only there.
KEPT_BYTES, TWICE_BYTES, RENAMED_BYTES = 1 << 20, 1 << 18, 1 << 19


def borrowed(subject: Subject, array: Any, **keywords: Any) -> _check.ImportedTensor:
    """The result of importing a new export as a consumer does."""
    taken: _check.ImportedTensor = subject.readable(
        lambda: _check.import_capsule(array.__dlpack__(**keywords))
    )
    return taken


def churn(size: int) -> list[bytearray]:
    """Memory of the same size, allocated and written, so that freed memory is used again."""
    return [bytearray(b"\xee" * size) for _ in range(16)]


def require_values(imported_tensor: _check.ImportedTensor, expected: bytes, when: str) -> None:
    """Raises Broken where the memory no longer holds its values."""
    expect(values(imported_tensor.facts) == expected, f"the values changed {when}")


def drop(array: list[Any], imported_tensor: _check.ImportedTensor, expected: bytes) -> None:
    """Drops the array in the list. NotApplicable where that alone changes the values."""
    array.clear()
    collect()
    used = churn(len(expected))
    changed = "the values changed when the array was dropped: see export.keeps-memory"
    assume(values(imported_tensor.facts) == expected, changed)
    del used


@producer_rule(
    "export.keeps-memory",
    SPEC,
    source="large",
    arrays=("line", "fortran", "strided", "readonly"),
    variants=COPIES,
)
def keeps_memory(subject: Subject, word: str, **keywords: Any) -> str:
    """exported memory stays valid after the array is deleted

    capsule = array.__dlpack__({call}); at = first_element(tensor_of(capsule))
    expected = ctypes.string_at(at, source.nbytes)
    del array, source; gc.collect()
    other = [bytearray(b'\\xee' * len(expected)) for _ in range(64)]
    assert ctypes.string_at(at, len(expected)) == expected, 'its values changed'
    """
    array, expected = subject.exporter_of(word, keywords, KEPT_BYTES)
    imported_tensor = borrowed(subject, array, **keywords)
    del array
    collect()
    used = churn(KEPT_BYTES)
    require_values(imported_tensor, expected.tobytes(), "when the array was dropped")
    del used
    imported_tensor.release()
    return "its values stay"


@producer_rule(
    "export.twice", SPEC, source="large", arrays=("line", "strided", "readonly"), variants=STRUCTS
)
def twice(subject: Subject, word: str, **keywords: Any) -> str:
    """several exports of one array are deleted independently

    several = [array.__dlpack__({call}) for _ in range(3)]
    at = first_element(tensor_of(several[2]))
    expected = ctypes.string_at(at, source.nbytes)
    del array, source, several[:2]; gc.collect()
    other = [bytearray(b'\\xee' * len(expected)) for _ in range(64)]
    assert ctypes.string_at(at, len(expected)) == expected, 'its values changed'
    """
    array, content = subject.exporter_of(word, keywords, TWICE_BYTES)
    borrowed_tensors = [borrowed(subject, array, **keywords) for _ in range(3)]
    shared = len({address(taken.facts) for taken in borrowed_tensors}) == 1
    expected = content.tobytes()
    last = borrowed_tensors[2]
    kept = [array]
    del array
    drop(kept, last, expected)
    borrowed_tensors[1].release()
    used = churn(TWICE_BYTES)
    require_values(last, expected, "when the second of three was deleted")
    borrowed_tensors[0].release()
    collect()
    used += churn(TWICE_BYTES)
    require_values(last, expected, "when the first of three was deleted")
    last.release()
    return "one memory" if shared else "a copy each"


@producer_rule(
    "export.renamed-capsule", SPEC, risky=True, source="large", arrays=("line",), variants=STRUCTS
)
def renamed_capsule(subject: Subject, word: str, **keywords: Any) -> str:
    """a renamed capsule does not delete its tensor

    capsule = array.__dlpack__({call}); at = first_element(tensor_of(capsule))
    expected = ctypes.string_at(at, source.nbytes)
    consumed(capsule); del capsule, array, source; gc.collect()
    other = [bytearray(b'\\xee' * len(expected)) for _ in range(64)]
    assert ctypes.string_at(at, len(expected)) == expected, 'its values changed'
    """
    array, expected = subject.exporter_of(word, keywords, RENAMED_BYTES)
    capsule = subject.readable(partial(array.__dlpack__, **keywords))
    imported_tensor = subject.readable(partial(_check.import_capsule, capsule))
    kept = [array]
    del array
    drop(kept, imported_tensor, expected.tobytes())
    del capsule
    collect()
    used = churn(RENAMED_BYTES)
    require_values(imported_tensor, expected.tobytes(), "when the capsule went")
    del used
    imported_tensor.release()
    collect()
    return "the borrowed tensor outlived its capsule"


def released(subject: Subject, how: str, word: str, **keywords: Any) -> str:
    """Releases once, and checks that the process survives."""
    array, _ = subject.exporter_of(word, keywords)
    imported_tensor = borrowed(subject, array, **keywords)
    assume(imported_tensor.facts["deleter"], "the deleter is NULL")
    imported_tensor.release(how)
    gc.collect()
    return "it may be"


@producer_rule("export.deleter-without-gil", SPEC, risky=True, variants=COPIES)
def deleter_without_gil(subject: Subject, word: str, **keywords: Any) -> str:
    """the deleter may be called without the GIL

    struct, deleter = consumed(array.__dlpack__({call}))
    # ctypes releases the GIL during a CFUNCTYPE call.
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(struct)
    """
    return released(subject, "without-gil", word, **keywords)


@producer_rule("export.deleter-thread", SPEC, risky=True, variants=COPIES)
def deleter_thread(subject: Subject, word: str, **keywords: Any) -> str:
    """the deleter may be called in another thread, which holds the GIL

    struct, deleter = consumed(array.__dlpack__({call}))
    import threading
    release = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(deleter)
    thread = threading.Thread(target=release, args=(struct,))
    thread.start(); thread.join()
    """
    return released(subject, "thread", word, **keywords)


@producer_rule(
    "export.deleter-at-exit",
    f"{SPEC}, only in the example of a deleter: so a crash is unclear",
    level="should",
    risky=True,
    at_exit=True,
    verdict="unclear",
    variants=COPIES,
)
def deleter_at_exit(subject: Subject, word: str, **keywords: Any) -> str:
    """the deleter may be called after the interpreter has shut down

    struct, deleter = map(ctypes.c_void_p, consumed(array.__dlpack__({call})))
    # exit() of the C library runs this after the interpreter's end.
    ctypes.CDLL(None).__cxa_atexit(deleter, struct, None)
    """
    released(subject, "at-exit", word, **keywords)
    return "the process ended well"


@producer_rule("export.leak-unconsumed", SPEC, variants=COPIES)
def leak_unconsumed(subject: Subject, word: str, **keywords: Any) -> str:
    """a capsule that is not consumed deletes its tensor

    left(lambda: array.__dlpack__({call}), array)
    """
    array, _ = subject.exporter_of(word, keywords)
    subject.readable(lambda: read(array.__dlpack__(**keywords)))
    return leaks.require_none(lambda: array.__dlpack__(**keywords), array)


@producer_rule("export.leak-consumed", DELETER, variants=COPIES)
def leak_consumed(subject: Subject, word: str, **keywords: Any) -> str:
    """a tensor leaves no memory allocated after its deleter was called

    left(lambda: np.from_dlpack(array), array)
    """
    array, _ = subject.exporter_of(word, keywords)
    borrowed(subject, array, **keywords).release()
    return leaks.require_none(
        lambda: _check.import_capsule(array.__dlpack__(**keywords)).release(), array
    )
