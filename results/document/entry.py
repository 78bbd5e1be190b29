"""The entries of a document: one for each cell, with a number or the reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlbench.document import codes, keys
from dlbench.document.record import part, parts

#: The keys of an exchange: all of a cell but phase and clock.
EXCHANGE = ("environment", "producer", "consumer", "protocol", "device", "case", "arrays",
            "bytes")  # fmt: skip
#: All of a cell but its size.
AXES = ("phase", "clock", *EXCHANGE[:-1])

#: Outcomes and codes whose reason concerns no library, and codes whose reason concerns the
#: producer; every other concerns the consumer.
NO_LIBRARY = ("not-run", "no-device", codes.NO_DEVICE_ARGUMENT)
OUT_OF_MEMORY = "out-of-memory"
OF_PRODUCER = (codes.CONVERTED, codes.NOT_EXPORTED)
#: Kinds of `waits` in which the consumer may read before the producer's work is done.
UNORDERED = ("none", "wrong-stream", "host-wrong")

Pair = tuple[str, str]  #: producer and consumer
Texts = Sequence[str]
Axis = str | int  #: the value of an axis: bytes are a number


class StreamTrial(keys.StreamTrial):
    """An exchange with one stream argument."""

    __slots__ = ()

    @property
    def is_of_consumer(self) -> bool:
        """Does the consumer pass this argument by itself?"""
        return self.requested_by == "consumer"


class Sync(StreamTrial, keys.Ordering):
    """Synchronization with one stream argument."""

    __slots__ = ()

    @property
    def blocked(self) -> dict[str, float | None]:
        """Share of a known delay for which the export and the import held the host."""
        return {"export": self.export_blocked, "import": self.import_blocked}

    @property
    def is_unordered(self) -> bool:
        """Was old content read where the text demands new content?"""
        return self.expected == "order" and self.waits in UNORDERED

    @property
    def is_against_text(self) -> bool:
        """Does the exchange do what the text forbids?"""
        if self.expected == "no-wait":
            return self.waits in ("host", "stream", "wrong-stream", "host-wrong")
        return self.is_unordered or (self.expected == "refusal" and bool(self.waits))


class Capture(StreamTrial, keys.Capture):
    """An exchange during a graph capture, with one stream argument."""

    __slots__ = ()


def _numbers(found: Mapping[str, Any]) -> dict[str, int]:
    return {kind: number for kind, number in found.items() if kind != "phases"}


class ApiCalls(keys.ApiCalls):
    """Calls of the CUDA driver in one exchange, by kind, and the same by phase."""

    __slots__ = ()

    @property
    def by_kind(self) -> dict[str, int]:
        return _numbers(self._json)


class Entry(keys.Entry):
    """One cell. A phase shares the verdict of its exchange."""

    __slots__ = ()
    sync = parts(Sync)
    capture = parts(Capture)
    code = keys.NotMeasured.code  #: of a cell with a number empty
    data = keys.NotMeasured.data

    @property
    def pair(self) -> Pair:
        return self.producer, self.consumer

    @property
    def is_exchange(self) -> bool:
        """Is the cell a whole exchange, not a phase of one?"""
        return self.phase == "exchange"

    @property
    def observed_outcome(self) -> str:
        """The observed outcome, also of a cell without a number."""
        return self.outcome

    def warns_of(self, code: str) -> bool:
        """Does the cell have the warning of this code?"""
        return any(warning.code == code for warning in self.warnings)

    @property
    def source_device(self) -> str:
        """The producer's device. `device` also names the consumer's if the two differ."""
        return self.device.partition("+")[0]

    @property
    def copying_library(self) -> str:
        """The library that copied; empty where it is not known."""
        return {"producer": self.producer, "consumer": self.consumer}.get(self.copied_by, "")

    def axis(self, name: str) -> Axis:
        """The value of the axis of that name; an empty text where the cell does not have it."""
        value: Axis = getattr(self, name)
        return value

    def axes(self, names: Sequence[str]) -> tuple[Axis, ...]:
        """The values of several axes."""
        return tuple([getattr(self, name) for name in names])


class Measured(Entry, keys.Measured):
    """A cell with a number."""

    __slots__ = ()
    median_ns = keys.Measured.real_time
    api_calls = part(ApiCalls)

    @property
    def half_width(self) -> float:
        """The distance from the median to the interval's farther end, in ns; 0 if unknown."""
        if not self.has("hi_ns"):
            return 0.0
        return max(self.hi_ns - self.median_ns, self.median_ns - self.lo_ns, 0.0)

    @property
    def unexplained(self) -> float:
        """`unexplained_ns`, which a cell with `phases` has."""
        return self.unexplained_ns or 0.0


class NotMeasured(Entry, keys.NotMeasured):
    """A cell without a number, and why."""

    __slots__ = ()

    @property
    def observed_outcome(self) -> str:
        return self.found or self.outcome

    @property
    def cause(self) -> tuple[str, ...]:
        """Equal for cells with the same reason, whatever its text: outcome, code and data, the
        exception or signal, and the library concerned."""
        library = self.consumer
        is_of_device = self.code == OUT_OF_MEMORY and not (self.exception or self.signal)
        if is_of_device or self.outcome in NO_LIBRARY or self.code in NO_LIBRARY:
            library = ""
        elif self.code in OF_PRODUCER:
            library = self.producer
        # `proxy` is the library's message, and `via` is no cause.
        named = [item for item in sorted(self.data.items()) if item[0] not in ("proxy", "via")]
        data = [word for item in named for word in item]
        about = self.data.get("library", library)
        return self.outcome, self.code, self.exception, self.signal, about, *data

    @property
    def is_below(self) -> bool:
        """Is `below_ns`, an upper bound, the only result of timing on a device?"""
        return self.below_ns > 0

    @property
    def is_untimed(self) -> bool:
        """Was the cell tried but not timed, because its outcome is that of the plain array?"""
        return self.code == codes.UNTIMED
