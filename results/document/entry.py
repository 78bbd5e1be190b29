"""The entries of a document: one for each cell, with a number or the reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dlbench.document import codes
from dlbench.document.record import Key, Record, part, parts

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

Pair = tuple[str, str]  #: producer and consumer
Texts = Sequence[str]
Axis = str | int  #: the value of an axis: bytes are a number


class CodedWarning(Record):
    """A condition under which a number or a verdict was obtained. Programs read
    `code` and `data`, people `text`."""

    __slots__ = ()
    code = Key("")  #: of `_core.warnings`, or of a comparison `_core.comparison_warnings`
    text = Key("")
    data = Key[Mapping[str, str]]({})


class Worker(Record):
    """One process that measured the cell. `outcome` and `iterations` where workers differ."""

    __slots__ = ()
    median_ns = Key(0.0)
    first_ns = Key(0.0)  #: 0: no first call was seen
    samples_ns = Key[Sequence[float]](())
    outcome = Key("")
    iterations = Key(0)


class PhasePart(Record):
    """One step of an exchange; `ns` may be below 0."""

    __slots__ = ()
    phase = Key("")
    what = Key("")
    ns = Key(0.0)
    failed_by = Key("")  #: "producer" or "proxy" if its attempt failed


class Phases(Record):
    """The steps of an exchange and their sum, measured in the same rounds."""

    __slots__ = ()
    via = Key("")
    exchange_ns = Key(0.0)
    parts = parts(PhasePart)


class Guard(Record):
    """The page accesses that the page guard observed."""

    __slots__ = ()
    pages = Key(0)
    read = Key(0)
    written = Key(0)
    late = Key(0)
    by = Key[Texts](())


class Observation(Record):
    """The observations of the consumer's call."""

    __slots__ = ()
    used = Key("")
    via = Key("direct")
    calls = Key[Texts](())
    struct = Key("")
    version = Key[Sequence[int]](())
    flags = Key[Texts](())
    guard = part(Guard)


class StreamTrial(Record):
    """An exchange with one stream argument."""

    __slots__ = ()
    stream = Key[None | int | str](None)
    requested_by = Key("consumer")
    reason = Key("")

    @property
    def is_of_consumer(self) -> bool:
        """Does the consumer pass this argument by itself?"""
        return self.requested_by == "consumer"


class Sync(StreamTrial):
    """Synchronization with one stream argument."""

    __slots__ = ()
    reads_on = Key("own")
    expected = Key("")
    waits = Key("")
    content = Key("")
    transfer_ns = Key[float | None](None)
    export_blocked = Key[float | None](None)
    import_blocked = Key[float | None](None)
    gap_ns = Key[float | None](None)
    code = Key("")  #: of `_core.sync_codes`; empty where there is no reason
    data = Key[Mapping[str, str]]({})

    @property
    def blocked(self) -> dict[str, float | None]:
        """Share of a known delay for which the export and the import held the host."""
        return {"export": self.export_blocked, "import": self.import_blocked}

    @property
    def is_unordered(self) -> bool:
        """Was old content read where the text demands new content?"""
        return self.expected == "order" and self.waits in ("none", "wrong-stream", "host-wrong")

    @property
    def is_against_text(self) -> bool:
        """Does the exchange do what the text forbids?"""
        if self.expected == "no-wait":
            return self.waits in ("host", "stream", "wrong-stream", "host-wrong")
        return self.is_unordered or (self.expected == "refusal" and bool(self.waits))


class Capture(StreamTrial):
    """An exchange during a graph capture, with one stream argument."""

    __slots__ = ()
    producer_stream = Key("same")
    result = Key("")
    nodes = Key[int | None](None)
    at = Key("")
    error = Key[int | None](None)


class DeviceTimer(Record):
    """The timer behind the clock `device`."""

    __slots__ = ()
    step_ns = Key(0.0)
    empty_ns = Key(0.0)
    scatter_ns = Key(0.0)


def _numbers(found: Mapping[str, Any]) -> dict[str, int]:
    return {kind: number for kind, number in found.items() if kind != "phases"}


class ApiCalls(Record):
    """Calls of the CUDA driver in one exchange, by kind, and the same by phase."""

    __slots__ = ()
    phases = Key[Mapping[str, Mapping[str, int]]]({})

    @property
    def by_kind(self) -> dict[str, int]:
        return _numbers(self._json)


class Cell(Record):
    """The axes of a cell, which name it."""

    __slots__ = ()
    name = Key("")
    phase = Key("exchange")
    clock = Key("call")
    producer = Key("")
    consumer = Key("")
    protocol = Key("")
    device = Key("cpu")
    case = Key("")
    bytes = Key(0)
    arrays = Key(1)  #: passed in one exchange; other than 1 only by `call`
    environment = Key("default")
    machine = Key("")  #: empty but in merged documents


class Entry(Cell):
    """One cell. A phase shares the verdict of its exchange."""

    __slots__ = ()
    outcome = Key("")
    code = Key("")  #: of `_core.codes`, or the outcome; of a cell with a number empty
    data = Key[Mapping[str, str]]({})  #: what the meaning of the code names
    imports = Key[Texts](())
    warnings = parts(CodedWarning)
    changed = Key[Texts](())
    writable = Key("")  #: of two arrays that share memory: "both", "source", "result", "neither"
    copied_by = Key("")  #: a role, empty where it is not known
    late_read = Key(False)
    evidence = Key[Mapping[str, str]]({})
    observed = part(Observation)
    sync = parts(Sync)
    late_free = Key("")
    capture = parts(Capture)
    device_timer = part(DeviceTimer)

    @property
    def pair(self) -> Pair:
        return self.producer, self.consumer

    @property
    def is_exchange(self) -> bool:
        """Is the cell a whole exchange, not a phase of one?"""
        return self.phase == "exchange"

    @property
    def found(self) -> str:
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


class Measured(Entry):
    """A cell with a number."""

    __slots__ = ()
    median_ns = Key(0.0, name="real_time")
    cpu_time = Key(0.0)
    iterations = Key(0)
    lo_ns = Key(0.0)
    hi_ns = Key(0.0)
    mad_ns = Key(0.0)
    #: Half-width of the prediction interval for one process; None if unknown for this length.
    between_half_width = Key[float | None](None)
    interval = Key("")  #: which interval `lo_ns` and `hi_ns` are; empty where it is not known
    floor_ratio = Key(0.0)  #: 0: no floor is known
    gb_per_s = Key(0.0)  #: 0: no copy
    instructions = Key(0.0)  #: 0: not counted
    phases = part(Phases)
    unexplained_ns = Key(0.0)
    unexplained_lo_ns = Key(0.0)
    unexplained_hi_ns = Key(0.0)
    api_calls = part(ApiCalls)
    workers = parts(Worker)

    @property
    def half_width(self) -> float:
        """The distance from the median to the interval's farther end, in ns; 0 if unknown."""
        if not self.has("hi_ns"):
            return 0.0
        return max(self.hi_ns - self.median_ns, self.median_ns - self.lo_ns, 0.0)


class NotMeasured(Entry):
    """A cell without a number, and why."""

    __slots__ = ()
    reason = Key("")
    exception = Key("")
    signal = Key("")
    stderr_tail = Key("")
    below_ns = Key(0.0)  #: of `below-resolution`: it takes less than this

    @property
    def found(self) -> str:
        return str(self._json.get("found", self.outcome))

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


def parse_entry(json: Mapping[str, Any]) -> Entry:
    """The entry of a JSON object that was checked."""
    return Measured(json) if "real_time" in json else NotMeasured(json)
