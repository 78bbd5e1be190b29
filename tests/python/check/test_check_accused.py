"""Rules on libraries made for them, in this very process: what a library's call has no word for is
no fault of it, nor is a lawful refusal; and keywords are asked in combination."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dlbench import Call, X, _check
from dlbench.adapter import require
from dlbench.case import Case
from dlbench.check import running
from dlbench.check.known_producer import IS_COPIED, IS_READ_ONLY, KnownProducer
from dlbench.check.reading import values_of
from dlbench.check.rules import RULES
from dlbench.check.subject import Subject

Array = np.ndarray[Any, Any]
Made = Callable[[Case, str], Any]


def outcomes(
    *rules: str, make: Made | None = None, from_dlpack: Any = None, **more: Any
) -> list[str]:
    """Of a library that makes such arrays, or imports so."""
    producer: Any = SimpleNamespace(make=make) if make else None
    consumer: Any = SimpleNamespace(PROTOCOLS={"dlpack": from_dlpack}, **more)
    subject = Subject("mine", producer, consumer)
    return [running.conclusion(subject, RULES.by_name[rule])[0] for rule in rules]


# Bytes that have no dtype.

VALUES = (
    *("import.versioned", "import.legacy", "import.minor-version", "import.byte-offset"),
    *("import.misaligned", "import.scalar", "import.fortran", "import.ones", "import.view-keeps"),
)
DTYPES = ("import.dtypes", "import.unknown-code", "import.unknown-bits", "import.lanes")


def as_bytes(x: Any) -> memoryview:
    array = np.from_dlpack(x)
    return memoryview(array.ravel("K").view(np.uint8))


def as_wrong_bytes(x: Any) -> memoryview:
    return memoryview(as_bytes(x)[::-1].tobytes())


def test_bytes_are_compared_as_bytes_and_have_no_dtype() -> None:
    assert set(outcomes(*VALUES, from_dlpack=as_bytes)) == {"holds"}
    assert set(outcomes(*DTYPES, from_dlpack=as_bytes)) == {"not-applicable"}
    assert outcomes("import.versioned", from_dlpack=as_wrong_bytes) == ["broken"]


def test_what_is_wrong_at_once_is_not_wrong_later() -> None:
    def reversed_copy(x: Any) -> Array:
        return np.from_dlpack(x).copy()[::-1]

    later = ("import.deleter-not-early", "import.view-keeps", "import.null-context")
    assert outcomes("import.versioned", *later, from_dlpack=reversed_copy) == [
        "broken",
        *["holds"] * len(later),
    ]


def test_a_buffer_of_bytes_is_one_whatever_the_dtype() -> None:
    rules = ("buffer.values", "buffer.format", "buffer.fields")

    def raw(case: Case, device: str) -> Any:
        return bytearray(case.numpy())

    def liar(case: Case, device: str) -> Any:
        return memoryview(case.numpy()).cast("B") if case.dtype == "float32" else case.numpy()

    assert outcomes(*rules, make=raw) == ["holds", "not-applicable", "holds"]
    assert outcomes(*rules[:2], make=liar) == ["broken", "broken"]


class Packed:
    """NumPy reads its elements of four bits as bytes."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.zeros(4, np.uint8)


class ExportedPacked(Packed):
    def __dlpack__(self, **words: Any) -> Any:
        return self.x.__dlpack__(**words)

    def __dlpack_device__(self) -> Any:
        return self.x.__dlpack_device__()


def test_a_dtype_is_kept_if_the_result_exports_it() -> None:
    assert outcomes("import.sub-byte", from_dlpack=ExportedPacked) == ["holds"]
    assert outcomes("import.sub-byte", from_dlpack=Packed) == ["broken"]


def as_numpy(x: Any) -> Array:
    return np.asarray(x)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (as_numpy, ["holds", "holds", "holds"]),
        (lambda x: bytearray(as_numpy(x)), ["holds", "holds", "holds"]),
        (lambda x: as_numpy(x).view("i4"), ["broken", "broken", "broken"]),
        (lambda x: as_numpy(x)[None], ["broken", "broken", "broken"]),
        # By a buffer, numpy.frombuffer returns a line.
        (lambda x: as_numpy(x).ravel(), ["unclear", "broken", "broken"]),
    ],
    ids=["numpy", "bytes", "dtype", "shape", "line"],
)
def test_a_result_with_a_dtype_has_that_of_the_source_and_its_shape(
    function: Callable[[Any], Any], expected: list[str]
) -> None:
    kinds = {"buffer": "buffer", "interface": "array_interface", "struct": "array_struct"}
    consumer: Any = SimpleNamespace(PROTOCOLS=dict.fromkeys(kinds.values(), function))
    subject = Subject("mine", None, consumer)
    rules = [RULES.by_name[f"import-{kind}.values"] for kind in kinds]
    assert [running.conclusion(subject, rule)[0] for rule in rules] == expected


# Functions that no text speaks of.

KEYWORDS = ("import.keywords", "import.missing-method", "import.passes-error")


def refuse(x: Any) -> Any:
    try:
        return np.from_dlpack(x)
    except Exception as error:
        raise TypeError(str(error)) from None


def test_only_the_array_apis_function_is_held_to_its_text() -> None:
    assert set(outcomes(*KEYWORDS, from_dlpack=refuse)) == {"not-applicable"}
    refuse.__name__ = "from_dlpack"
    try:
        assert set(outcomes(*KEYWORDS, from_dlpack=refuse)) == {"broken"}
        # Then the function is dlbench's own.
        own = outcomes(*KEYWORDS, from_dlpack=refuse, EXTENSION="_mine")
        assert set(own) == {"not-applicable"}
    finally:
        refuse.__name__ = "refuse"


def test_a_keyword_that_an_adapter_passes_is_replaced() -> None:
    assert outcomes("import.keywords", from_dlpack=Call(np.from_dlpack, X, device="cpu")) == [
        "holds"
    ]


class Dropped:
    """Its memory is written again when it goes, though an export is alive."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack__(self, **words: Any) -> Any:
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __del__(self) -> None:
        if self.array.size:
            ctypes.memset(self.array.ctypes.data, 77, self.array.itemsize)


def test_memory_that_goes_with_the_array_is_the_fault_of_one_rule() -> None:
    lifetime = ("export.keeps-memory", "export.twice", "export.renamed-capsule")
    found = outcomes(*lifetime, make=lambda case, device: Dropped(case.numpy()))
    assert found == ["broken", "not-applicable", "not-applicable"]


class Base:
    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Subclass(Base):
    """Has the table of its base."""


@pytest.mark.parametrize(("kind", "outcome"), [(Base, "holds"), (SimpleNamespace, "broken")])
def test_a_table_makes_arrays_of_the_base_of_a_subclass(
    monkeypatch: pytest.MonkeyPatch, kind: type, outcome: str
) -> None:
    def import_(tensor: Any) -> Any:
        facts = tensor.facts
        raw = _check.gather(facts["data"] + facts["byte_offset"], facts["shape"], None, 4)
        tensor.release()
        made = kind.__new__(kind)
        made.array = np.frombuffer(raw, np.float32)
        return made

    table = _check.make_api({"import": import_})
    monkeypatch.setattr(Base, "__dlpack_c_exchange_api__", table, raising=False)

    def make(case: Case, device: str) -> Subclass:
        return Subclass(case.numpy())

    def values(array: Any) -> Array:
        return array.array  # type: ignore[no-any-return]

    assert outcomes("c-api.import", make=make, values=values) == [outcome]


# Arrays that are not what was asked for.


def test_an_array_of_another_dtype_than_requested_is_not_blamed_for_it() -> None:
    def narrowed(case: Case, device: str) -> Any:
        array = case.numpy()
        return array.astype(np.int32) if array.dtype == np.int64 else array

    assert outcomes("export.dtypes", make=narrowed) == ["holds"]


class Column:
    """Two dimensions and no shape; its memory is given as an object with a buffer."""

    def __init__(self, array: Array) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        data = self.array.tobytes()
        return {"version": 3, "shape": (self.array.size, 1), "typestr": "<f4", "data": data}


def test_an_interface_may_give_an_object_with_a_buffer() -> None:
    def column(add: float) -> Made:
        def make(case: Case, device: str) -> Column:
            is_line = (case.dims, case.dtype, case.special) == ("1d", "float32", "")
            require(is_line, "a column is one line")
            return Column(case.numpy() + np.float32(add))

        return make

    assert outcomes("interface.values", make=column(0)) == ["holds"]
    assert outcomes("interface.values", make=column(1)) == ["broken"]


# Refusals.


class Exporter(KnownProducer):
    def __init__(self, array: Array, **describes: Any) -> None:
        super().__init__(SimpleNamespace(handed=""), array, **describes)  # type: ignore[arg-type]
        self.shape = array.shape


def test_a_library_that_exports_nothing_by_buffer_error_breaks_nothing_of_it() -> None:
    group = [name for name, rule in RULES.by_name.items()
             if rule.group == "export" and not rule.at_exit]  # fmt: skip

    def made(error: Exception) -> Made:
        return lambda case, device: Exporter(case.numpy(), raises=error)

    assert "broken" not in outcomes(*group, make=made(BufferError("none")))
    assert outcomes("export.capsule", make=made(RuntimeError("none"))) == ["broken"]


RECOMMENDED = (
    *("export.version-none", "export.version-older", "export.version-current"),
    *("export.version-newer", "export.device-host", "import.unknown-device", "import.retries"),
    "import.legacy",
)


def test_what_the_texts_recommend_is_a_should() -> None:
    assert {RULES.by_name[name].level for name in RECOMMENDED} == {"should"}


# Combinations.


class Careless(Exporter):
    """Obeys its keywords where a version is given, and ignores them where none is."""

    def __dlpack__(self, **keywords: Any) -> Any:
        versioned = keywords.get("max_version") is not None
        if keywords.pop("dl_device", None) not in (None, (1, 0)) and versioned:
            raise BufferError("no such device")
        if not versioned:
            keywords.pop("copy", None)
        return super().__dlpack__(**keywords)


class Careful(Exporter):
    error: type[Exception] = BufferError

    def __dlpack__(self, **keywords: Any) -> Any:
        if keywords.pop("dl_device", None) not in (None, (1, 0)):
            raise self.error("no such device")
        return super().__dlpack__(**keywords)


class Other(Careful):
    error = ValueError


COMBINED = (
    "export.copy-true-unversioned",
    "export.device-unknown-unversioned",
    "export.copy-false-device",
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Careful, ["holds", "holds", "holds"]),
        (Careless, ["broken", "broken", "broken"]),
        (Other, ["holds", "broken", "broken"]),
    ],
)
def test_keywords_are_obeyed_without_a_version_too(
    kind: type[Exporter], expected: list[str]
) -> None:
    assert outcomes(*COMBINED, make=lambda case, _: kind(case.numpy())) == expected
    # Each keyword alone, with a version, is obeyed in any case.
    if kind is Careless:
        alone = ("export.copy-true", "export.device-unknown")
        assert outcomes(*alone, make=lambda case, _: kind(case.numpy())) == ["holds", "holds"]


class Exclusive(Exporter):
    """Is exported once at a time."""

    view: Callable[[], object] = staticmethod(lambda: None)

    def __dlpack__(self, **words: Any) -> Any:
        if self.view() is not None:
            raise BufferError("it is exported already")
        shown = self.array.view(type("View", (np.ndarray,), {}))
        self.view = weakref.ref(shown)
        return shown.__dlpack__(**words)


def test_an_array_may_be_exported_once_at_a_time() -> None:
    made = outcomes("export.device-host", make=lambda case, _: Exclusive(case.numpy()))
    assert made == ["holds"]


class Caching:
    """Its exports with `copied` for `copy` return the same copy each time, flagged or not; with
    None also plain ones."""

    def __init__(self, array: Array, copied: object, flags: int) -> None:
        self.own, self.copied = Exporter(array), copied
        self.cached = Exporter(array.copy(order="K"), flags=flags)
        self.shape = array.shape

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **keywords: Any) -> Any:
        is_cached = keywords.get("copy") is self.copied
        return (self.cached if is_cached else self.own).__dlpack__(**keywords)


@pytest.mark.parametrize(
    ("copied", "flags", "named", "expected"),
    [
        ("none", 0, False, ["holds", "holds"]),
        (False, 0, False, ["broken", "unclear"]),
        (False, 0, True, ["broken", "holds"]),
        (None, 0, False, ["broken", "unclear"]),
        (None, 0, True, ["holds", "broken"]),
        (None, IS_COPIED, False, ["holds", "holds"]),
    ],
)
def test_which_of_two_memories_is_the_own_is_not_guessed(
    copied: object, flags: int, named: bool, expected: list[str]
) -> None:
    more = {"address": lambda array: array.own.first} if named else {}
    rules = ("export.copy-false", "export.copied-flag")
    made = outcomes(*rules, make=lambda case, _: Caching(case.numpy(), copied, flags), **more)
    assert made == expected


class Lines(_check.Buffered):
    """Made as lines and grids alone; its own transposition is not contiguous. `flags` are those
    that NumPy is asked with, and what is changed then."""

    def __init__(self, array: Array, requested: Callable[[int], Any]) -> None:
        self.array, self.requested, self.shape = array, requested, array.shape

    @property
    def T(self) -> Lines:  # noqa: N802
        return Lines(self.array.T, self.requested)

    def _buffer(self, flags: int) -> tuple[object, int, dict[str, Any]]:
        return self.array, self.requested(flags), {}

    def _released(self) -> None:
        pass


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        (lambda flags: flags, ["holds", "holds"]),
        # Each request is answered with strides: none is refused.
        (lambda flags: 0x18, ["broken", "holds"]),
        (lambda flags: 0x11C, ["broken", "broken"]),
        (lambda flags: 0 if flags == 0x8 else flags, ["holds", "broken"]),
    ],
)
def test_requests_of_a_buffer_are_obeyed(
    requested: Callable[[int], int], expected: list[str]
) -> None:
    def make(case: Case, device: str) -> Any:
        require(case.layout == "c", "mine are contiguous")
        return Lines(case.numpy(), requested)

    assert outcomes("buffer.contiguous", "buffer.fields", make=make) == expected


# Fields at their unusual values, and orders of release.


def forget_without_context(x: Any) -> Array:
    """Keeps what has no context for ever."""
    capsule = x.__dlpack__(max_version=(1, 0))
    if not _check.read(capsule)["context"]:
        KEPT.append(_check.import_capsule(capsule))
        return np.asarray(KEPT[-1].facts["shape"])
    return np.from_dlpack(x)


KEPT: list[Any] = []


class Again:
    """A result whose export does not keep what it was made of."""

    def __init__(self, taken: Any) -> None:
        self.taken = taken

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **keywords: Any) -> Any:
        facts = self.taken.facts
        strides, data = facts["strides"], facts["data"] + facts["byte_offset"]
        memory = _check.Memory(b"")
        return _check.BorrowedTensor(
            memory, facts["shape"], strides, data=data, poison=False
        ).capsule()


def test_a_context_may_be_null_and_an_import_exported_again() -> None:
    rules = ("import.null-context", "import.exported-again")
    assert outcomes(*rules, from_dlpack=np.from_dlpack) == ["holds", "holds"]
    assert outcomes(rules[0], from_dlpack=forget_without_context) == ["broken"]

    def again(x: Any) -> Again:
        return Again(_check.import_capsule(x.__dlpack__(max_version=(1, 0))))

    assert outcomes(rules[1], from_dlpack=again) == ["broken"]


# A result is read as the matrix reads it, and a fault of the export is not the import's.


class Opaque:
    """A result that its adapter's functions read, and no protocol."""

    def __init__(self, array: Array) -> None:
        self.array = array


def test_a_result_is_read_by_its_adapter() -> None:
    rules = ("import.versioned", "import.fortran", "import.copy-none", "import.deleter-not-early")
    read = {"values": lambda one: one.array, "address": lambda one: one.array.ctypes.data}
    assert set(outcomes(*rules, from_dlpack=lambda x: Opaque(np.from_dlpack(x)), **read)) == {
        "holds"
    }
    wrong = outcomes(*rules, from_dlpack=lambda x: Opaque(np.from_dlpack(x).copy()[::-1]), **read)
    assert wrong == ["broken", "broken", "unclear", "holds"]
    unread = outcomes(*rules, from_dlpack=lambda x: Opaque(np.from_dlpack(x)))
    assert set(unread) == {"not-applicable"}


FAULTS = {
    "lanes": lambda array, case: {"dtype": (2, 32, 0)},
    "offset": lambda array, case: {"byte_offset": 4} if case.layout == "fortran" else {},
    "flag": lambda array, case: {"flags": 0},
}
CHARGED = ("import.versioned", "import.fortran", "import.read-only")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        # Nothing shows that its arrays are read-only.
        ("lanes", ["unclear", "unclear", "not-applicable"]),
        ("offset", ["holds", "unclear", "holds"]),
        ("flag", ["holds", "holds", "not-applicable"]),
        ("", ["holds", "holds", "holds"]),
    ],
)
def test_a_fault_of_the_export_is_not_charged_to_the_import(
    fault: str, expected: list[str]
) -> None:
    """Its own arrays show the fault where nothing but its export reads a result."""

    def exporter(kind: type[Exporter], array: Array) -> Exporter:
        layout = "fortran" if array.ndim == 2 and not array.flags.c_contiguous else "line"
        case = SimpleNamespace(layout=layout)
        honest = {"flags": 0 if array.flags.writeable else IS_READ_ONLY}
        return kind(array, **(honest | FAULTS[fault](array, case) if fault else honest))

    def outcomes_of(kind: type[Exporter]) -> list[str]:
        return outcomes(
            *CHARGED,
            make=lambda case, _: exporter(kind, case.numpy()),
            from_dlpack=lambda x: exporter(kind, np.from_dlpack(x)),
        )

    class Readable(Exporter):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
            return self.array

    assert outcomes_of(Exporter) == expected
    readable = outcomes_of(Readable)
    assert readable[:2] == ["holds", "holds"]
    assert readable[2] != "broken"


def test_a_wrong_import_is_broken_whatever_reads_it() -> None:
    def wrong(x: Any) -> Exporter:
        return Exporter(np.from_dlpack(x).copy(order="C") + np.float32(1))

    made = outcomes(*CHARGED[:2], make=lambda case, _: Exporter(case.numpy()), from_dlpack=wrong)
    assert made == ["broken", "broken"]


def consume(x: Any, *, rename: bool) -> Opaque:
    """Takes the tensor; the capsule's destructor does nothing then."""
    capsule = x.__dlpack__(max_version=(1, 0))
    taken = _check.import_capsule(capsule)
    if not rename:
        name = ctypes.PyDLL(None).PyCapsule_SetName
        name(ctypes.py_object(capsule), b"dltensor_versioned")
        ctypes.PyDLL(None).PyCapsule_SetDestructor(ctypes.py_object(capsule), None)
    return Opaque(taken)


@pytest.mark.parametrize(
    ("from_dlpack", "expected"),
    [
        (np.from_dlpack, "holds"),
        (lambda x: consume(x, rename=True), "holds"),
        (lambda x: consume(x, rename=False), "broken"),
        (lambda x: np.array(values_of(x.__dlpack__())), "not-applicable"),
    ],
)
def test_a_capsule_is_consumed_once(from_dlpack: Any, expected: str) -> None:
    assert outcomes("import.consumed-twice", from_dlpack=from_dlpack) == [expected]


class Marked(_check.Buffered):
    """An array whose buffer is read-only if it says so."""

    def __init__(self, array: Array, *, readonly: bool) -> None:
        self.array = array.view()
        self.array.flags.writeable = not readonly

    def _buffer(self, flags: int) -> tuple[object, int, dict[str, Any]]:
        return self.array, flags & ~1, {}

    def _released(self) -> None:
        pass


@pytest.mark.parametrize(
    ("obeys", "expected"),
    # It gives a writable buffer of read-only memory; and it was asked for none.
    [(True, "broken"), (False, "not-applicable")],
)
def test_an_adapter_that_ignores_read_only_is_not_the_librarys_fault(
    obeys: bool, expected: str
) -> None:
    def make(case: Case, device: str) -> Marked:
        return Marked(np.array(case.numpy()), readonly=obeys and case.readonly)

    assert outcomes("buffer.read-only", make=make) == [expected]


def test_a_refusal_by_another_error_reads_as_broken() -> None:
    rule = RULES.by_name["buffer.read-only"]
    producer: Any = SimpleNamespace(make=lambda case, device: case.numpy())
    outcome, observed = running.conclusion(Subject("mine", producer, None), rule)
    assert outcome == "broken"
    assert observed.startswith("refused: not by BufferError, but by ValueError: ")


@pytest.mark.parametrize("versioned", [True, False])
def test_the_legacy_struct_is_refused_from_some_producers(versioned: bool) -> None:
    """`versioned`: it refuses the legacy struct only where it asked for the other."""

    def from_dlpack(x: Any) -> Array:
        try:
            capsule = x.__dlpack__(max_version=(1, 0))
            if "versioned" not in repr(capsule):
                raise BufferError("no versioned struct")
        except TypeError:
            capsule = x.__dlpack__()
            if not versioned:
                raise BufferError("no versioned struct") from None
        return np.frombuffer(values_of(capsule), "f4").copy()

    consumer: Any = SimpleNamespace(PROTOCOLS={"dlpack": from_dlpack})
    rule = RULES.by_name["import.legacy"]
    outcome, observed = running.conclusion(Subject("mine", None, consumer), rule)
    assert outcome == "broken"
    assert observed.startswith("imported from" if versioned else "refused: ")


def test_what_is_refused_with_a_pointer_too_is_not_refused_for_null() -> None:
    rules = ("import.null-strides", "import.empty-null", "import.ones", "import.empty-strides")

    def line(x: Any) -> Array:
        if (array := np.from_dlpack(x)).ndim != 1 or not array.size:
            raise ValueError("lines alone")
        return array

    def no_null(x: Any) -> Array:
        facts = _check.read(x.__dlpack__(max_version=(1, 0)))
        if not facts["data"] or facts["strides"] in (None, (3, 1, 5), (0, 0)):
            raise ValueError("no NULL")
        return np.from_dlpack(x)

    assert set(outcomes(*rules, from_dlpack=line)) == {"not-applicable"}
    assert outcomes(*rules, from_dlpack=no_null) == ["broken", "broken", "unclear", "unclear"]
    assert set(outcomes(*rules, from_dlpack=np.from_dlpack)) == {"holds"}
