"""Bencher Metric Format: latency with its interval, and the other numbers of a cell."""

from __future__ import annotations

from dlbench.document import Document, Measured
from dlbench.exporters import names
from dlbench.text.escaping import json_text

LONGEST_NAME = 1024  #: Bencher refuses longer names of benchmarks

#: Slug of Bencher's measure -> key of the entry. Bencher's unit of `latency` is the nanosecond.
MEASURES = {
    "gb-per-second": "gb_per_s",
    "instructions": "instructions",
    "unexplained": "unexplained_ns",
}
#: Keys of the ends of a measure's interval.
BOUNDS = {"unexplained": ("unexplained_lo_ns", "unexplained_hi_ns")}


def export(document: Document) -> str:
    """`{name: {measure: {value, lower_value, upper_value}}}`, without cells that have no number."""
    made = {_name(entry.name): _measures(entry) for entry in document.measured}
    return json_text(made, indent=1) + "\n"


def _measures(entry: Measured) -> dict[str, dict[str, float]]:
    latency = _metric(entry.median_ns, entry.lo_ns, entry.hi_ns)
    found = {"latency": latency}
    for measure, key in MEASURES.items():
        if entry.has(key):
            bounds = [getattr(entry, bound) for bound in BOUNDS.get(measure, ())]
            found[measure] = _metric(getattr(entry, key), *bounds)
    return found


def _metric(value: float, low: float | None = None, high: float | None = None) -> dict[str, float]:
    metric = {"value": value}
    if low is not None and high is not None:
        # Bencher refuses bounds that exclude the value, which an interval of few rounds may do.
        metric |= {"lower_value": min(low, value), "upper_value": max(high, value)}
    return metric


def _name(name: str) -> str:
    """The name; a long one is cut and made unique by its hash."""
    return name if len(name) <= LONGEST_NAME else names.hashed(name, name, LONGEST_NAME)
