"""The buffer protocol: consumers."""

from __future__ import annotations

from typing import Any

from dlbench import _check
from dlbench.check.imports import require_elements
from dlbench.check.known_producer import LAYOUTS, Array, content
from dlbench.check.reading import Facts, on_error
from dlbench.check.result_reader import is_like
from dlbench.check.rule import PEP3118, consumer_rule
from dlbench.check.situation import IMPORTED
from dlbench.check.subject import Subject, collect
from dlbench.check.verdict import Broken, NotApplicable, Unclear, assume, expect


class Source(_check.Buffered):
    """The known producer of buffers: counts the open buffers."""

    def __init__(self, array: Array, **changes: Any) -> None:
        self.array = array
        self.changes = changes
        self.given = self.released = 0
        self.word = "line"

    def _buffer(self, flags: int) -> tuple[object, int, dict[str, Any]]:
        inner = (self.array, flags, self.changes)
        self.given += 1
        return inner

    def _released(self) -> None:
        self.released += 1


def imported(subject: Subject, source: Source) -> Facts:
    """The result of importing a buffer. Its elements are the source's, perhaps as bytes."""
    subject.entry("buffer")
    with on_error(NotApplicable, "refused: "):
        result = subject.import_(source, "buffer")
    assume(result is not source, "it returned what it was given")
    return {**subject.read_facts(result, source.array), "result": result}


@consumer_rule(
    "import-buffer.values",
    PEP3118,
    struct="memoryview",
    refusal="Exception",
    arrays=IMPORTED,
)
def import_values(subject: Subject, word: str) -> str:
    """the result has the buffer's elements

    result = {values}
    if result.dtype == np.uint8:  # bytes without a dtype
        result = result.view(source.dtype).reshape(source.shape)
    assert result.dtype == source.dtype and np.array_equal(result, source), result
    """
    array = LAYOUTS[word]()
    source = Source(array)
    source.word = word
    observed = imported(subject, source)
    if observed["shape"] != array.shape and is_like(observed, array.ravel()):
        raise Unclear(f"its shape is {observed['shape']}, as that of numpy.frombuffer is")
    require_elements(subject, observed["result"], observed, array)
    return f"{len(observed['values'])} bytes"


@consumer_rule("import-buffer.held", PEP3118, struct="bytearray", refusal="Exception")
def import_held(subject: Subject) -> str:
    """a buffer is held while its memory is used, and released once

    # A bytearray that exports no buffer can grow.
    del array; gc.collect()
    given = {values}; source[:4] = bytes(4); source[3] = 0xbf
    if given.view(np.uint8)[3] == 0xbf:
        del given
        with contextlib.suppress(BufferError):
            source.append(0)
            raise AssertionError('it is not held')
    del result; gc.collect()
    source.append(0)
    """
    array = content()
    source = Source(array)
    observed = imported(subject, source)
    shares = observed["address"] == array.ctypes.data
    # The reader has released its own; what is left is the consumer's.
    collect()
    if shares and source.given == source.released:
        raise Broken("it was released while its memory is used")
    observed.clear()
    collect()
    if source.given != source.released:
        raise Broken(f"of {source.given} buffers {source.released} were released")
    return "held" if shares else "copied"


@consumer_rule(
    "import-buffer.read-only", PEP3118, struct="memoryview", source="readonly", refusal="Exception"
)
def import_read_only(subject: Subject) -> str:
    """the result of a read-only buffer is read-only, or a copy

    given = {values}
    assert not (np.shares_memory(given, source) and given.flags.writeable)
    """
    array = content()
    array.flags.writeable = False
    observed = imported(subject, Source(array))
    if observed["address"] != array.ctypes.data:
        return "a copy"
    if observed["readonly"] is None:
        raise NotApplicable("the result has no read-only flag")
    expect(observed["readonly"], "it may be written to")
    return "read-only"
