"""github-action-benchmark's `customSmallerIsBetter`."""

from __future__ import annotations

from dlbench import values
from dlbench.document import Document, Measured
from dlbench.text.escaping import json_text


def export(document: Document) -> str:
    """A list of `{name, unit, value, range, extra}`.

    The reader expects one symmetric range: the longer half of the interval.
    """
    made = [_item(entry, document) for entry in document.measured]
    return json_text(made, indent=1) + "\n"


def _item(entry: Measured, document: Document) -> dict[str, object]:
    versions = document.origin(entry)[1].libraries
    value = entry.median_ns
    half = max(entry.hi_ns - value, value - entry.lo_ns, 0.0)
    sides = dict.fromkeys(entry.pair)
    lines = [entry.outcome, f"range: {values.interval([entry])}"]
    lines += [f"{name} {versions[name]}" for name in sides if name in versions]
    lines += [f"warning: {warning.text}" for warning in entry.warnings]
    return {
        "name": entry.name,
        "unit": "ns",
        "value": value,
        "range": f"\u00b1 {half:.6g}" if half < 1e6 else f"\u00b1 {half:.0f}",
        "extra": "\n".join(lines),
    }
