"""Rules on producers and consumers made for them, in this process: which side a rule blames."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dlbench import _check
from dlbench.adapter import require
from dlbench.case import Case
from dlbench.check import runner, running
from dlbench.check.known_producer import IS_COPIED, IS_READ_ONLY, KnownProducer
from dlbench.check.rules import RULES
from dlbench.check.situation import PROTECTED, case_of, word_of
from dlbench.check.subject import Subject

Array = np.ndarray[Any, Any]


def concluded(rule: str, make: Callable[[Case, str], Any] | None, device: str = "cpu") -> Any:
    """The outcome, and what was seen, of a library that makes such arrays."""
    subject = Subject("mine", None, None, device)
    if make is not None:
        subject.producer = SimpleNamespace(make=make, SPECIAL=("swapped",))  # type: ignore[assignment]
    return running.conclusion(subject, RULES.by_name[rule])


class Exporter(KnownProducer):
    """An array that speaks DLPack; `describes` as in a BorrowedTensor."""

    def __init__(self, array: Array, **describes: Any) -> None:
        super().__init__(SimpleNamespace(handed=""), array, **describes)  # type: ignore[arg-type]
        self.shape = array.shape


@pytest.mark.parametrize("word", PROTECTED)
def test_a_word_of_a_situation_is_its_case(word: str) -> None:
    case = case_of(word)
    assert (word_of(case), case.readonly) == (word, True)


@pytest.mark.process
def test_trials_that_fail_are_made_once_and_each_worker_has_the_deadline_of_a_rule(
    tmp_path: Path,
) -> None:
    """The library imports in a process, but not in the worker of the trials."""
    (tmp_path / "producer.py").write_text(f"""
import sys

with open({str(tmp_path / "imports")!r}, "a") as log:
    log.write("import ")
if "dlbench.check" not in sys.modules:
    raise ImportError("not here")
make = address = None
""")
    library = runner.Library("mine", tmp_path / "producer.py", None, device="sim:0")
    rules = [rule for rule in RULES.by_name.values() if rule.name.startswith("export.order-")]
    results = runner.check(library, rules).results.values()
    assert {result.outcome for result in results} == {"not-applicable"}
    assert all("not here" in result.observed for result in results)
    assert (tmp_path / "imports").read_text().count("import") == 2
    assert all(rule.workers > 0 for rule in rules)


def test_a_library_without_arrays_is_not_reported_to_keep_a_rule() -> None:
    assert concluded("cuda.host", None)[0] == "not-applicable"
    assert concluded("cuda.host", lambda case, device: case.numpy()) == ("holds", "it has none")


def test_refused_dtypes_are_not_counted_as_exported() -> None:
    def refuses(*dtypes: str) -> Callable[[Case, str], Any]:
        def make(case: Case, device: str) -> Any:
            raises = BufferError("not that") if case.dtype in dtypes or not dtypes else None
            return Exporter(case.numpy(), raises=raises)

        return make

    outcome, observed = concluded("export.dtypes", refuses())
    assert outcome == "not-applicable"
    assert "BufferError: not that" in observed
    assert "(bool, int8, " in concluded("export.dtypes", refuses("none"))[1]
    outcome, observed = concluded("export.dtypes", refuses("bool"))
    assert outcome == "holds"
    assert "(int8, " in observed


class Versions(Exporter):
    """Knows DLPack 1.3; `given` is what it makes of max_version=(2, 0)."""

    given: str

    def __dlpack__(self, **keywords: Any) -> Any:
        is_newer = keywords.get("max_version") == (2, 0)
        if is_newer and self.given == "refusal":
            raise BufferError("too new")
        self.describes = {"legacy": True} if is_newer and self.given == "legacy" else {}
        return super().__dlpack__(**keywords)


@pytest.mark.parametrize(
    ("given", "outcome"), [("versioned", "holds"), ("legacy", "unclear"), ("refusal", "broken")]
)
def test_less_for_a_newer_consumer_than_for_an_older_one_is_seen(given: str, outcome: str) -> None:
    def make(case: Case, device: str) -> Any:
        array = Versions(case.numpy())
        array.given = given
        return array

    assert concluded("export.version-newer", make)[0] == outcome


@pytest.mark.parametrize("accepted", [1, 2, None])
def test_rocm_refuses_both_streams(accepted: int | None) -> None:
    class Streams(Exporter):
        def __dlpack__(self, **keywords: Any) -> Any:
            if keywords.get("stream") not in (None, accepted):
                raise ValueError("no such stream")
            return super().__dlpack__(**keywords)

    outcome, observed = concluded(
        "export.stream-rocm-one", lambda case, _: Streams(case.numpy(), device=(10, 0)), "rocm:0"
    )
    assert outcome == ("holds" if accepted is None else "broken")
    assert accepted is None or f"it is accepted (line: max_version=(1, 3), stream={accepted}" in (
        observed
    )


class Unflagged:
    """Memory that is read-only by one protocol, and exported by the other without a flag."""

    def __init__(self, case: Case, copies: bool) -> None:
        self.__array_interface__ = case.numpy().__array_interface__
        self.memory, self.copies = replace(case, readonly=False).numpy(), copies

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **keywords: Any) -> Any:
        return (self.memory.copy() if self.copies else self.memory).__dlpack__(**keywords)


@pytest.mark.parametrize(("copies", "outcome"), [(True, "holds"), (False, "broken")])
def test_a_copy_of_a_read_only_array_needs_no_flag_of_it(copies: bool, outcome: str) -> None:
    found, observed = concluded("export.read-only-flag", lambda case, _: Unflagged(case, copies))
    assert found == outcome, observed


class Tensor:
    """A tensor over read-only memory, in a library that writes to it. `flags` are those of its
    export, and `writeable` its own word."""

    def __init__(self, array: Array, flags: int, writeable: bool | None) -> None:
        self.exporter = Exporter(array, flags=flags)
        self.flags = SimpleNamespace(writeable=writeable)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.exporter.__dlpack__(**keywords)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.exporter.array.copy()


@pytest.mark.parametrize(
    ("writeable", "flags", "outcome"),
    [
        (False, 0, "broken"),
        (False, IS_READ_ONLY, "holds"),
        (False, IS_COPIED, "holds"),
        # Without its own word, only the flag shows that there are read-only arrays.
        (None, 0, "not-applicable"),
        (None, IS_READ_ONLY, "holds"),
    ],
)
def test_what_is_shown_as_read_only_needs_the_flag(
    writeable: bool | None, flags: int, outcome: str
) -> None:
    answer = concluded(
        "export.read-only-flag", lambda case, _: Tensor(case.numpy(), flags, writeable)
    )
    assert answer[0] == outcome, answer


class Buffer(_check.Buffered):
    """An array with the buffer protocol; a request for contiguous memory returns `asked`."""

    def __init__(self, array: Array, requested: Array) -> None:
        self.array, self.requested = array, requested

    def _buffer(self, flags: int) -> tuple[object, int, dict[str, Any]]:
        strided = flags & 0x18 == 0x18 and flags & 0x38 != 0x38
        return (self.array if strided else self.requested), 0x11C, {}

    def _released(self) -> None:
        pass


def test_contiguous_memory_is_memory_in_one_piece() -> None:
    rule = "buffer.contiguous"
    packs = concluded(rule, lambda case, _: Buffer(case.numpy(), case.numpy().copy()))
    assert packs[0] == "holds"
    assert packs[1].startswith("a copy in one piece (strided, ")
    assert concluded(rule, lambda case, _: Buffer(case.numpy(), case.numpy()))[0] == "broken"
    # What asarray packed is contiguous, and no question.
    packed = concluded(rule, lambda case, _: np.ascontiguousarray(case.numpy()))
    assert packed[0] == "not-applicable"


def test_the_flag_of_contiguous_memory_is_that_of_its_strides() -> None:
    rule = "struct.flags"
    assert concluded(rule, lambda case, _: case.numpy())[0] == "holds"

    class Packed:
        def __init__(self, case: Case, flags: int) -> None:
            self.array = np.ascontiguousarray(case.numpy())
            self.flags = flags | (0 if case.readonly else 0x400)

        @property
        def __array_struct__(self) -> Any:
            array = self.array
            return _check.make_struct(
                2, "f", 4, self.flags, array.shape, array.strides, array.ctypes.data, self
            )

    assert concluded(rule, lambda case, _: Packed(case, 0x201))[0] == "holds"
    assert concluded(rule, lambda case, _: Packed(case, 0x200))[0] == "broken"


class Formatted(Buffer):
    """Its format is a word of our own."""

    format = ""

    def _buffer(self, flags: int) -> tuple[object, int, dict[str, Any]]:
        return self.array, flags, {"format": self.format}


@pytest.mark.parametrize(
    ("dtype", "format_", "outcome"),
    [
        *(("float32", word, "holds") for word in ("f", "<f")),
        *(("float32", word, "broken") for word in ("float32", "<f4", "i", ">f", "Zf")),
        *[("complex64", "Zf", "holds"), ("int64", "l", "holds"), ("int64", "L", "broken")],
        *[("bfloat16", "2x", "holds"), ("bfloat16", "bfloat16", "broken")],
        *[("complex64", "F", "holds"), ("complex64", "D", "broken"), ("float32", "1f", "holds")],
        *[("bfloat16", "H", "unclear"), ("bfloat16", "e", "broken"), ("float32", "<n", "broken")],
        *[("float8_e5m2", "s", "holds"), ("float8_e5m2", "B", "unclear")],
    ],
)
def test_a_format_is_in_the_words_of_struct(dtype: str, format_: str, outcome: str) -> None:
    def make(case: Case, device: str) -> Any:
        require(case.dtype == dtype, "another dtype")
        array = Formatted(case.bits(), case.bits())
        array.format = format_
        return array

    assert concluded("buffer.format", make)[0] == outcome


class Converted:
    """An honest array with `__array__`; a conversion that copies is deprecated. `refuses`: what it
    raises where a copy is needed and not allowed; `true`: how it stores True."""

    def __init__(self, array: Array, refuses: type[Exception] = ValueError, true: int = 1) -> None:
        self.array, self.refuses = array, refuses
        if array.dtype == bool and true != 1:
            self.array = np.where(array, true, 0).astype(np.uint8).view(bool)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        warnings.warn("an implicit conversion", DeprecationWarning, stacklevel=2)
        if copy is False:
            raise self.refuses("always a copy")
        return self.array.astype(self.array.dtype if dtype is None else dtype)


class Unconverted(Converted):
    """As one before NumPy 2."""

    def __array__(self, dtype: Any = None) -> Array:  # type: ignore[override]
        return self.array


@pytest.mark.parametrize("refuses", [ValueError, RuntimeError])
@pytest.mark.parametrize("true", [1, 255])
def test_an_array_that_always_copies_may_refuse_as_it_likes(
    refuses: type[Exception], true: int
) -> None:
    rules = [f"array.{word}" for word in ("values", "dtype", "keywords", "copy-true", "copy-false")]
    found = {
        rule: concluded(rule, lambda case, _: Converted(case.numpy(), refuses, true))
        for rule in rules
    }
    assert {rule: end for rule, end in found.items() if end[0] != "holds"} == {}
    old = concluded("array.keywords", lambda case, _: Unconverted(case.numpy()))
    assert old[0] == "broken"


class Fresh(Exporter):
    """Exports a copy each time; the first one is overwritten when it is released."""

    def __dlpack__(self, **keywords: Any) -> Any:
        array, first = self.array, not self.calls
        self.calls.append(keywords)
        copied = array.astype("=f4", order="C")
        memory = _check.Memory(copied)
        self.kept = [*getattr(self, "kept", ()), memory]
        strides = tuple(step // 4 for step in copied.strides)
        return _check.BorrowedTensor(memory, array.shape, strides, poison=first).capsule()


@pytest.mark.parametrize("rule", ["export.other-thread", "export.byte-order"])
def test_a_borrowed_tensor_is_held_while_it_is_read(rule: str) -> None:
    assert concluded(rule, lambda case, _: Fresh(case.numpy()))[0] == "holds"


class Exported(Buffer):
    """A copy for each request, overwritten when it is released."""

    def _buffer(self, flags: int) -> tuple[object, int, dict[str, Any]]:
        self.exported = self.array.copy()
        return self.exported, flags, {}

    def _released(self) -> None:
        self.exported[:] = -1


def test_a_buffer_is_held_while_it_is_read() -> None:
    assert (
        concluded("buffer.values", lambda case, _: Exported(case.numpy(), case.numpy()))[0]
        == "holds"
    )


def test_a_library_that_copies_a_slice_has_no_strides_to_export() -> None:
    """As JAX and Arrow do: what they export then says nothing of a stride."""

    def make(case: Case, device: str) -> Any:
        return Exporter(np.ascontiguousarray(case.numpy()))

    for rule in ("export.strided", "export.reversed", "export.broadcast", "export.fortran"):
        assert concluded(rule, make)[0] == "not-applicable", rule
    assert concluded("export.grid", make)[0] == "holds"
    assert concluded("export.strided", lambda case, device: Exporter(case.numpy()))[0] == "holds"
