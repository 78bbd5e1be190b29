"""The library under check: its adapter's two files, and the functions that rules call."""

from __future__ import annotations

import dataclasses
import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dlbench import _check
from dlbench.adapter import Capsule, Unsupported
from dlbench.case import Case
from dlbench.check.reading import NEWEST, Facts, describe_error, on_error
from dlbench.check.result_reader import dtype_of, is_like, lies_on_host, readings
from dlbench.check.situation import DERIVED, case_of, word_of
from dlbench.check.verdict import Ended, NoArray, NotApplicable, Unclear, assume

if TYPE_CHECKING:
    from dlbench.document import Sync

PLAIN = Case("f32", "float32", 4096)
STEPS: dict[str, Callable[[Any], Any]] = {
    ".T": lambda array: array.T,
    "[::2]": lambda array: array[::2],
    "[::-1]": lambda array: array[::-1],
}


class Subject:
    """A library in one or both roles. Its functions raise NotApplicable without that role."""

    def __init__(
        self,
        name: str,
        producer: ModuleType | None,
        consumer: ModuleType | None,
        device: str = "cpu",
    ) -> None:
        self.name = name
        self.producer = producer
        self.consumer = consumer
        self.device = device
        self.handed = ""  #: the struct of the last export to a consumer
        self.source = ""  #: the array and the keywords that were tried last, see `situation`
        self.kept: list[Any] = []  #: until the process ends
        self.timeout_s = 60.0  #: the deadline of a rule, and of each worker that a rule starts
        self.trials: dict[str, list[Sync]] = {}  #: by protocol, see `export_order.rows`
        self.why_no_trials: dict[str, str] = {}
        self.keeps_dtype: bool | None = None  #: known once `require_dtypes` was called
        self.shows_read_only: bool | None = None  #: known once `require_read_only` was called

    # A producer's side.

    def case(self, **changes: Any) -> Case:
        """The plain case, 4 KiB of float32 in a line, with changes."""
        return dataclasses.replace(PLAIN, **changes)

    def make(self, case: Case = PLAIN) -> Any:
        """The library's array."""
        make = getattr(self.producer, "make", None)
        if make is None:
            raise NotApplicable("it has no adapter that makes arrays")
        special = getattr(self.producer, "SPECIAL", ())
        if case.special and case.special not in special:
            raise NotApplicable(f"it has no arrays with '{case.special}'")
        try:
            array = make(case, self.device)
            self.wait(array)
        except Unsupported as error:
            raise NotApplicable(str(error)) from None
        except Exception as error:
            end = NotApplicable if case.readonly else NoArray  # a library may have no such arrays
            raise end(f"no such array can be made: {describe_error(error)}") from None
        if array is None:
            raise NoArray("its adapter's `make` returned None")
        if self.device != "cpu" and lies_on_host(array):
            raise NotApplicable(f"its adapter makes arrays on the CPU, not on {self.device}")
        if case.readonly:
            self.require_read_only()
        own = dtype_of(array)
        if own not in ("", case.dtype):
            raise NotApplicable(f"the requested layout is {case.dtype} and made an array of {own}")
        return array

    def require_read_only(self) -> None:
        """Raises NotApplicable unless something shows that the library's plain array, made
        read-only, is read-only. A tensor over read-only memory is no read-only array where the
        library itself writes to it."""
        if self.shows_read_only is None:
            self.shows_read_only = True  # `make` comes here again
            plain = self.make(dataclasses.replace(PLAIN, readonly=True))
            flags = getattr(plain, "flags", None)
            shown: list[bool | None] = []
            with suppress(Exception, Ended):
                ways = readings(self.function, self.request_export, plain)
                shown += [facts["readonly"] for facts in ways]
            is_flagged = False in (getattr(flags, word, None) for word in ("writeable", "writable"))
            self.shows_read_only = is_flagged or True in shown
        assume(
            self.shows_read_only,
            "nothing shows that the array is read-only that its adapter made when asked for one",
        )

    def laid(self, case: Case) -> tuple[Any, Any]:
        """The library's array of that layout, and its content as NumPy's array.

        Where the adapter makes none, the library's own transposition or slice is used.
        """
        self.source = word_of(case)
        try:
            return self.make(case), case.expected()
        except NotApplicable as end:
            if case.layout not in DERIVED or case.storage == "view":
                raise
            why = end
        layout, times, step = DERIVED[case.layout]
        usual = case_of(layout)
        whole = dataclasses.replace(
            case, dims=usual.dims, layout=usual.layout, bytes=times * case.bytes
        )
        array = self.make(whole)
        expected = STEPS[step](whole.expected())
        try:
            array = STEPS[step](array)
            self.wait(array)
            shape = tuple(array.shape)
        except Exception:
            raise why from None
        if shape != expected.shape:
            raise why
        self.source = f"own-{self.source}"
        return array, expected

    def exporter_of(
        self, word: str, keywords: Iterable[str] = (), size: int = PLAIN.bytes
    ) -> tuple[Any, Any]:
        """An exporter in a situation, whose export accepts the keywords, and its content as NumPy's
        array."""
        self.exporter_with(*keywords)
        array, expected = self.laid(case_of(word, size))
        assume(hasattr(array, "__dlpack__"), "its arrays have no __dlpack__")
        self.require_shape(array, expected)
        return array, expected

    def require_shape(self, array: Any, expected: Any) -> None:
        """Raises NotApplicable if the library's array has another shape, as one without scalars."""
        own = getattr(array, "shape", expected.shape)
        if isinstance(own, tuple) and own != expected.shape:
            raise NotApplicable(f"its array of that kind has shape {own}")

    def extras(self, array: Any) -> tuple[str, ...]:
        """An array's attributes besides its values, from its adapter."""
        extras = self.function("extras")
        return tuple(extras(array) or ()) if extras is not None else ()

    def exporter(self, case: Case = PLAIN) -> Any:
        """An array with `__dlpack__`."""
        array = self.make(case)
        assume(hasattr(array, "__dlpack__"), "its arrays have no __dlpack__")
        return array

    def exporter_with(self, *keywords: str) -> Any:
        """An array whose export accepts the keywords."""
        array = self.exporter()
        for keyword in keywords:
            # An error of another type is about the value.
            with suppress(Exception), on_error(NotApplicable, f"it has no {keyword}: ", TypeError):
                array.__dlpack__(**{keyword: None})
        return array

    def request_export(self, array: Any, **keywords: Any) -> Any:
        """The newest struct's capsule; calls without `max_version` if that is not a keyword."""
        try:
            return array.__dlpack__(max_version=NEWEST, **keywords)
        except TypeError:
            return array.__dlpack__(**keywords)

    def export(self, array: Any, **keywords: Any) -> Facts:
        """The facts of a new export, which is dropped.

        NotApplicable where no facts can be read: another rule reports that.
        """
        facts: Facts = self.readable(lambda: _check.read(self.request_export(array, **keywords)))
        return facts

    def import_capsule(self, array: Any, **keywords: Any) -> _check.ImportedTensor:
        """The result of importing a new export as a consumer does."""
        imported_tensor: _check.ImportedTensor = self.readable(
            lambda: _check.import_capsule(self.request_export(array, **keywords))
        )
        return imported_tensor

    def readable(self, got: Callable[[], Any]) -> Any:
        with on_error(NotApplicable, "nothing was exported that could be read: "):
            return got()

    def publishes_api(self) -> tuple[Any, Any]:
        """An array, and the C exchange API that its type publishes."""
        array = self.make()
        for name in ("__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"):
            found = getattr(type(array), name, None)
            if found is not None:
                return array, found
        raise NotApplicable("its type publishes no C exchange API")

    def api(self, *functions: str) -> tuple[Any, _check.Api]:
        """An array, and the table, which has these functions. NotApplicable where another rule
        reports its fault."""
        array, published = self.publishes_api()
        with on_error(
            NotApplicable, "the table cannot be read: ", (TypeError, ValueError, AttributeError)
        ):
            api = _check.Api(published)
            newest = api.versions[0]
        assume(newest[0] == 1, f"the table is of version {newest}")
        for name in functions:
            assume(api.functions[name], f"{name} is NULL")
        return array, api

    # A consumer's side.

    def entry(self, protocol: str = "dlpack") -> Any:
        """Its adapter's entry for a protocol."""
        table = getattr(self.consumer, "PROTOCOLS", {})
        assume(protocol in table, f"it imports nothing by {protocol}")
        calls = getattr(self.consumer, "calls", None)
        if calls is None or self.device == "cpu":
            return table[protocol]
        return {**table, **calls(self.device, self.device)}[protocol]

    @property
    def imports_capsules(self) -> bool:
        """Is its import a function of a capsule?"""
        return isinstance(self.entry(), Capsule)

    @property
    def has_own_wrapper(self) -> bool:
        """Is its import a function of an extension of dlbench's?"""
        module = getattr(self.entry(), "__module__", None) or ""
        return hasattr(self.consumer, "EXTENSION") or module.startswith("dlbench._")

    def import_(self, x: Any, protocol: str = "dlpack", /, **keywords: Any) -> Any:
        """The consumer's public call on a producer's object."""
        result = self.entry(protocol)(x, **keywords)
        self.wait(result)
        return result

    def function(self, name: str) -> Any:
        """A function that either file may define, or None. The consumer's file takes precedence."""
        found = (getattr(module, name, None) for module in (self.consumer, self.producer))
        return next((function for function in found if function is not None), None)

    def wait(self, array: Any) -> None:
        """Waits until a lazy or asynchronous array is computed."""
        ready = self.function("ready")
        if ready is not None:
            ready(array)

    def read_facts(self, result: Any, like: Any = None) -> Facts:
        """The result's facts, see `result_reader`. If its ways of reading differ, those of the
        first way that reads `like`, an array of NumPy's, otherwise those of the first way."""
        found = list(self.readings(result))
        facts = next((one for one in found if like is not None and is_like(one, like)), found[0])
        alike = [one for one in found if one["values"] == facts["values"]]
        for key in ("address", "readonly"):
            facts[key] = next((one[key] for one in alike if one[key] is not None), None)
        return facts

    def readings(self, result: Any) -> Iterator[Facts]:
        return readings(self.function, self.request_export, result)

    def misreads(self, like: Any) -> bool:
        """Is the library's own array of that layout read with other elements, too? Then a result
        with other elements is no fault of the import."""
        before = self.source
        try:
            array, expected = self.laid(case_like(like))
            return not is_like(self.read_facts(array, expected), expected)
        except NotApplicable:
            return False
        except Unclear:
            return True
        finally:
            self.source = before


def case_like(array: Any) -> Case:
    """The case with an array's dtype and, as far as it has a word for it, layout."""
    steps = [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]
    dims = "empty" if array.size == 0 else f"{min(array.ndim, 2)}d"
    layout = "c"
    if array.size == 0 or array.ndim == 0 or array.flags.c_contiguous:
        pass
    elif any(step < 0 for step in steps):
        layout = "reversed"
    elif any(step == 0 for step in steps):
        layout = "broadcast"
    else:
        layout = "fortran" if array.flags.f_contiguous else "strided"
    return Case("f32", array.dtype.name, array.nbytes, dims, layout)


def in_thread(work: Callable[[], Any]) -> Any:
    """Calls `work` in a new thread; returns its result or raises its exception."""
    answer: list[Any] = []

    def run() -> None:
        try:
            answer.append((True, work()))
        except BaseException as error:
            answer.append((False, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    good, value = answer[0]
    if not good:
        raise value
    return value


def collect() -> None:
    """Collects garbage until no cycle is left."""
    for _ in range(3):
        gc.collect()
