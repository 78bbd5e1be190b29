"""The library under check: its adapter's two files, and the functions that rules call."""

from __future__ import annotations

import dataclasses
import gc
import threading
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

from dlbench import _check
from dlbench.adapter import Call, Capsule, Unsupported, X
from dlbench.case import Case
from dlbench.check.reading import CODES, NEWEST, Facts, address, describe_error, on_error, values
from dlbench.check.verdict import NotApplicable, assume

PLAIN = Case("f32", "float32", 4096)
#: For libraries that lay arrays out themselves: layout -> the layout that it is made from, how many
#: times larger that is, and the operation.
DERIVED: dict[str, tuple[str, int, str]] = {
    "fortran": ("grid", 1, ".T"),
    "strided": ("line", 2, "[::2]"),
    "reversed": ("line", 1, "[::-1]"),
}
#: The values of `Subject.source`: words of `check.script`.
LOOKED_AT = (
    *("line", "readonly", "grid", *DERIVED),
    *(f"own-{layout}" for layout in DERIVED),
    *(f"dtype-{name}" for name in CODES),
)
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
        self.source = ""  #: a word of `check.script`: what array was looked at last
        self.kept: list[Any] = []  #: until the process ends
        self.keeps_dtype: bool | None = None  #: known once `require_dtypes` was called

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
            raise NotApplicable(f"no such array can be made: {describe_error(error)}") from None
        own = dtype_of(array)
        if own not in ("", case.dtype):
            raise NotApplicable(f"the requested layout is {case.dtype} and made an array of {own}")
        return array

    def laid(self, case: Case) -> tuple[Any, Any]:
        """The library's array of that layout, and its content as NumPy's array.

        Where the adapter makes none, the library's own transposition or slice is used.
        """
        self.source = f"dtype-{case.dtype}" if case.dtype != PLAIN.dtype else ""
        if not self.source and case.layout in ("grid", *DERIVED):
            self.source = case.layout
        try:
            return self.make(case), case.expected()
        except NotApplicable as end:
            if case.layout not in DERIVED:
                raise
            why = end
        layout, times, step = DERIVED[case.layout]
        whole = dataclasses.replace(case, layout=layout, bytes=times * case.bytes)
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
        self.source = f"own-{case.layout}"
        return array, expected

    def extras(self, array: Any) -> tuple[str, ...]:
        """An array's attributes besides its values, from its adapter."""
        for module in (self.consumer, self.producer):
            extras = getattr(module, "extras", None)
            if extras is not None:
                return tuple(extras(array) or ())
        return ()

    def exporter(self, case: Case = PLAIN) -> Any:
        """An array with `__dlpack__`."""
        array = self.make(case)
        assume(hasattr(array, "__dlpack__"), "its arrays have no __dlpack__")
        return array

    def exporter_with(self, keyword: str) -> Any:
        """An array whose export accepts the keyword."""
        array = self.exporter()
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
        assume(api.versions[0][0] == 1, f"the table is of version {api.versions[0]}")
        for name in functions:
            assume(api.functions[name], f"{name} is NULL")
        return array, api

    # A consumer's side.

    def entry(self, protocol: str = "dlpack") -> Any:
        """Its adapter's entry for a protocol."""
        table = getattr(self.consumer, "PROTOCOLS", {})
        assume(protocol in table, f"it imports nothing by {protocol}")
        return table[protocol]

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
        entry = self.entry(protocol)
        if isinstance(entry, Capsule):
            result = entry.function(x.__dlpack__(), **keywords)
        elif isinstance(entry, Call):
            given = [x if one is X else one for one in entry.args]
            named = {key: x if one is X else one for key, one in entry.kwargs.items()}
            result = entry.function(*given, **named, **keywords)
        else:
            result = entry(x, **keywords)
        self.wait(result)
        return result

    def wait(self, array: Any) -> None:
        """Waits until a lazy or asynchronous array is computed."""
        for module in (self.consumer, self.producer):
            ready = getattr(module, "ready", None)
            if ready is not None:
                ready(array)
                return

    def read_facts(self, result: Any) -> Facts:
        """Address, dtype, shape, values and `readonly` (None: unknown) of its array."""
        for way in (self._by_dlpack, self._by_buffer, self._by_numpy):
            try:
                return way(result)
            except (Exception, NotApplicable) as error:
                last = describe_error(error)
        raise NotApplicable(f"its result cannot be read: {last}")

    def _by_dlpack(self, result: Any) -> Facts:
        capsule = self.request_export(result)
        facts = _check.read(capsule)
        flags = facts["flags"]
        readonly = bool(flags & 1) if facts["struct"] == "versioned" else None
        return {
            "address": address(facts),
            "dtype": facts["dtype"],
            "shape": facts["shape"],
            "values": values(facts),
            "readonly": readonly,
            "device": facts["device"],
        }

    def _by_buffer(self, result: Any) -> Facts:
        view = memoryview(result)
        observed = self._of_numpy(_as_numpy(view))
        return {**observed, "readonly": view.readonly}

    def _by_numpy(self, result: Any) -> Facts:
        return {**self._of_numpy(_as_numpy(result)), "address": None, "readonly": None}

    def _of_numpy(self, array: Any) -> Facts:
        code, bits = CODES[array.dtype.name]
        return {
            "address": array.ctypes.data,
            "dtype": (code, bits, 1),
            "shape": array.shape,
            "values": array.tobytes(),
            "readonly": not array.flags.writeable,
        }


def dtype_of(array: Any) -> str:
    """The dtype of an array; None if dlbench has no name for it."""
    try:
        dtype = getattr(array, "dtype", None)
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or dtype
        name = str(name).rpartition(".")[2]
    except Exception:
        return ""
    return name if name in CODES else ""


def is_bytes_of(observed: Facts, array: Any) -> bool:
    """Is it the memory of an array, byte by byte?"""
    lies = (array.tobytes(), array.tobytes("A"))
    shape = (array.nbytes,)
    return bool(
        observed["dtype"] == (1, 8, 1)
        and tuple(observed["shape"]) == shape
        and observed["values"] in lies
    )


def _as_numpy(thing: Any) -> Any:
    import numpy as np

    return np.asarray(thing)


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
