"""A document as a table: one row a cell, measured or not, the same columns always."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Entry = Mapping[str, Any]
Value = str | int | float | bool | None

AXES = ("phase", "clock", "environment", "machine", "producer", "consumer", "protocol", "device",
        "case", "bytes")  # fmt: skip
NUMBERS = ("real_time", "below_ns", "lo_ns", "hi_ns", "mad_ns", "cpu_time", "floor_ratio",
           "gb_per_s", "instructions", "unexplained_ns", "unexplained_lo_ns", "unexplained_hi_ns",
           "iterations")  # fmt: skip
EVIDENCE = ("address", "guard", "write", "slope")
TIMER = ("step_ns", "empty_ns", "scatter_ns")
WORDS = ("copied_by", "late_read", "reason", "exception", "signal", "code")
#: Kinds of columns: what `rows` gives where it is not text.
INTEGERS = ("bytes", "iterations", "workers", "rounds")
FLOATS = (*(name for name in NUMBERS if name not in INTEGERS), "first_ns",
          *(f"device_timer_{key}" for key in TIMER))  # fmt: skip
FLAGS = ("late_read",)


def _joined(key: str) -> Callable[[Entry], Value]:
    return lambda entry: "; ".join(map(str, entry.get(key, ())))


def _first_ns(entry: Entry) -> Value:
    # 0 in the document: a phase is replayed, and the device's clock sees no first call.
    return next((worker["first_ns"] or None for worker in entry.get("workers", ())), None)


def _rounds(entry: Entry) -> Value:
    workers = entry.get("workers")
    return None if workers is None else sum(len(worker["samples_ns"]) for worker in workers)


def _plain(key: str) -> Callable[[Entry], Value]:
    return lambda entry: entry.get(key)


def _timer(key: str) -> Callable[[Entry], Value]:
    return lambda entry: entry.get("device_timer", {}).get(key)


def _evidence(key: str) -> Callable[[Entry], Value]:
    return lambda entry: entry.get("evidence", {}).get(key)


def _seen(key: str) -> Callable[[Entry], Value]:
    return lambda entry: entry.get("seen", {}).get(key)


#: Every column in its order, and how it is got.
COLUMNS: dict[str, Callable[[Entry], Value]] = {
    "name": _plain("name"),
    **{axis: _plain(axis) for axis in AXES},
    "outcome": _plain("outcome"),
    "found": _plain("found"),
    **{number: _plain(number) for number in NUMBERS},
    "interval": _plain("interval"),
    "workers": lambda entry: len(entry["workers"]) if "workers" in entry else None,
    "rounds": _rounds,
    "first_ns": _first_ns,
    **{f"device_timer_{key}": _timer(key) for key in TIMER},
    "changed": _joined("changed"),
    **{f"evidence_{key}": _evidence(key) for key in EVIDENCE},
    "used": _seen("used"),
    "via": _seen("via"),
    **{word: _plain(word) for word in WORDS},
    "warnings": _joined("warnings"),
}


def rows(document: Mapping[str, Any]) -> Iterator[list[Value]]:
    """The cells' values in the order of COLUMNS; None where a cell has none."""
    readers = list(COLUMNS.values())
    for part in ("benchmarks", "not_measured"):
        for entry in document[part]:
            yield [read(entry) for read in readers]
