"""What follows from the values of a cell alone: is it copied, refused, near the floor, lossy?

Code that decides imports these; `dlbench.values` formats them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from dlbench import _core
from dlbench.document.entry import Entry, Measured, NotMeasured

#: The steps of an exchange, in the order of time.
PHASES = tuple(phase for phase in _core.phases if phase != "exchange")
COPIED = ("copy", "device-copy")
#: Outcomes of pairs without a common protocol: a row or column with only these is left out.
DULL = ("no-protocol", "not-installed", "no-device")
#: Values of `changed` that lose no data.
DESCRIPTION = ("dtype", "shape", "layout", "type", "read-only")
#: The protocols that are shown first: the usual exchange, the general conversion, and the C
#: interface.
FIRST_PROTOCOLS = ("dlpack", "convert", "dlpack_c")
#: Two runs with as many replicas find a change of 10 % in more than nine of ten cells, two of three
#: in less than half (docs/explanation/stored-runs.md).
ENOUGH_REPLICAS = 9
WIDE = 0.1  #: half an interval over its median above which a cell is marked
#: Shorter exchanges have no shares, because the cost of the proxy is not known well enough.
LEAST_FOR_SHARES_NS = 250.0
#: The library that the others are compared with.
NATIVE = "native"


def native_first(names: Iterable[str]) -> list[str]:
    """The names in alphabetical order after the library that they are compared with."""
    return sorted(set(names), key=lambda name: (name != NATIVE, name))


def is_near_floor(entry: Measured) -> bool:
    return 0 < entry.floor_ratio < _core.near_floor


def is_wide(entry: Measured) -> bool:
    """Is the interval wide enough to be marked?"""
    return entry.half_width > WIDE * entry.median_ns


def is_below(entry: Entry) -> TypeGuard[NotMeasured]:
    """Is only an upper bound, `below_ns`, known?"""
    return isinstance(entry, NotMeasured) and entry.is_below


def is_untimed(entry: Entry) -> TypeGuard[NotMeasured]:
    """Was the cell not timed because its outcome is that of the plain array?"""
    return isinstance(entry, NotMeasured) and entry.is_untimed


def is_refused(entry: Entry) -> TypeGuard[NotMeasured]:
    """Was a pair with a common protocol tried, without a time or a bound on it?"""
    tried = isinstance(entry, NotMeasured) and entry.outcome not in DULL
    return tried and not (is_untimed(entry) or is_below(entry))


def lost(entry: Entry) -> list[str]:
    """The lost or converted parts of the array: "unit", "mask", "precision"."""
    return [word for word in entry.changed if word not in DESCRIPTION]


def largest_copy(copied: Iterable[Measured]) -> Measured | None:
    """The copy of a pair's largest size, where the call is the smallest part of the time."""
    timed = [entry for entry in copied if entry.gb_per_s]
    return max(timed, key=lambda entry: entry.bytes, default=None)


def fastest_rate(copied: Iterable[Measured]) -> float:
    """The GB/s of that copy; 0 without one."""
    largest = largest_copy(copied)
    return largest.gb_per_s if largest else 0.0


def import_order(entry: Entry) -> list[str]:
    """The pair's libraries in the order of their import; by name where it is unknown."""
    names = sorted({entry.producer, entry.consumer})
    return list(entry.imports) if sorted(entry.imports) == names else names
