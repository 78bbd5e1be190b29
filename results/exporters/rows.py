"""A document as a table: one row for each cell, measured or not, always with the same columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dlbench.analysis.calls import CALL
from dlbench.document import Document, Entry, Measured
from dlbench.document.record import Record
from dlbench.exporters import origin

Value = str | int | float | bool | None

AXES = ("phase", "clock", "environment", "machine", "producer", "consumer", "protocol", "device",
        "case", "bytes", "arrays")  # fmt: skip
NUMBERS = ("below_ns", "lo_ns", "hi_ns", "mad_ns", "cpu_time", "floor_ratio", "gb_per_s",
           "instructions", "unexplained_ns", "unexplained_lo_ns", "unexplained_hi_ns",
           "iterations")  # fmt: skip
EVIDENCE = ("address", "guard", "write", "slope")
TIMER = ("step_ns", "empty_ns", "scatter_ns")
WORDS = ("copied_by", "late_read", "reason", "exception", "signal", "code")
#: Kinds of columns: the type of each value of `rows` that is not text.
INTEGERS = ("bytes", "arrays", "iterations", "workers", "rounds")
FLOATS = ("real_time", *(name for name in NUMBERS if name not in INTEGERS), "between_half_width",
          "first_ns", *(f"device_timer_{key}" for key in TIMER))  # fmt: skip
FLAGS = ("late_read",)


def _first_ns(entry: Entry) -> Value:
    # 0 in the document for a phase, which is replayed, and for the clock `device`.
    workers = entry.workers if isinstance(entry, Measured) else []
    return next((worker.first_ns or None for worker in workers), None)


def _workers(entry: Entry) -> Value:
    return len(entry.workers) if isinstance(entry, Measured) else None


def _rounds(entry: Entry) -> Value:
    if not isinstance(entry, Measured):
        return None
    return sum(len(worker.samples_ns) for worker in entry.workers)


def _plain(key: str, name: str = "") -> Callable[[Record], Value]:
    def read(record: Record) -> Value:
        # A record of this kind may not have the key.
        value: Value = getattr(record, name or key, None) if record.has(key) else None
        return value

    return read


def _timer(key: str) -> Callable[[Entry], Value]:
    read = _plain(key)
    return lambda entry: read(entry.device_timer)


def _evidence(key: str) -> Callable[[Entry], Value]:
    return lambda entry: entry.evidence.get(key)


def _observed(key: str) -> Callable[[Entry], Value]:
    read = _plain(key)
    return lambda entry: read(entry.observed)


#: The columns of a cell's own values in order, each with the function that gets its value.
READERS: dict[str, Callable[[Entry], Value]] = {
    "name": _plain("name"),
    **{axis: _plain(axis) for axis in AXES},
    "arrays": lambda entry: entry.arrays if entry.protocol == CALL else None,
    "outcome": _plain("outcome"),
    "found": _plain("found"),
    "real_time": _plain("real_time", "median_ns"),
    **{number: _plain(number) for number in NUMBERS},
    "interval": _plain("interval"),
    "between_half_width": _plain("between_half_width"),
    "workers": _workers,
    "rounds": _rounds,
    "first_ns": _first_ns,
    **{f"device_timer_{key}": _timer(key) for key in TIMER},
    "changed": lambda entry: "; ".join(entry.changed),
    **{f"evidence_{key}": _evidence(key) for key in EVIDENCE},
    "used": _observed("used"),
    "via": _observed("via"),
    **{word: _plain(word) for word in WORDS},
    "warnings": lambda entry: "; ".join(warning.text for warning in entry.warnings),
}


COLUMNS = (*READERS, *origin.COLUMNS)


def rows(document: Document) -> Iterator[list[Value]]:
    """The cells' values in the order of COLUMNS; None if a cell has no such value."""
    readers, origins = list(READERS.values()), origin.Origins(document)
    for entry in document.entries:
        yield [*(read(entry) for read in readers), *origins.of(entry).values]
