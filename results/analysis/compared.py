"""The name and the numbers of a compared cell as text, and the libraries that one side lacks."""

from __future__ import annotations

from dlbench import values
from dlbench.document import ComparedCell, Comparison

#: Axes that are shown only with an unusual value, and the usual value.
AXES = {"phase": "exchange", "clock": "call", "device": "cpu", "case": "f32",
        "arrays": "1", "environment": "default", "machine": ""}  # fmt: skip


def named(cell: ComparedCell) -> list[str]:
    """The words that identify a cell: "numpy -> torch", "dlpack", "4 KiB", and each axis with
    another value than its default."""
    unusual = [
        cell.axis(axis) for axis, usual in AXES.items() if cell.axis(axis) not in ("", usual)
    ]
    pair = f"{cell.producer} -> {cell.consumer}"
    return [pair, cell.protocol, values.size(cell.bytes), *unusual]


def change(ratio: float, share: float = 0.0) -> str:
    """ "+5.2 %", "-31 %", "x 2.4". `share` is the half-width of its interval over the ratio."""
    return _changed(ratio, ratio >= 2, ratio * share)


def interval(cell: ComparedCell) -> str:
    """ "-0.3..+4.1 %", "x 1.8..2.4": rounded as the change is, which lies between them."""
    if cell.interval is None or cell.ratio is None:
        return ""
    is_factor, half_width = cell.ratio >= 2, cell.ratio * cell.share
    low, high = (_changed(end, is_factor, half_width) for end in cell.interval)
    return f"{low}..{high.removeprefix('x ')}" if is_factor else f"{low.removesuffix(' %')}..{high}"


def _changed(ratio: float, is_factor: bool, half_width: float) -> str:
    if is_factor:
        return f"x {values.number(ratio, half_width)}"
    text = values.percent(ratio - 1)
    return f"+{text}" if text[0].isdigit() else text


def amount(value: float | None, metric: str, share: float = 0.0) -> str:
    """A time with a relative half-width of `share`, or a number of instructions."""
    if value is None:
        return ""
    return values.duration(value, value * share) if metric == "time" else f"{value:,.0f}"


def absent_libraries(comparison: Comparison) -> dict[tuple[str, str], list[ComparedCell]]:
    """The cells of each library that only one side has, by its name and "lost" or "gained"."""
    base, head = comparison.base.libraries, comparison.head.libraries
    absent = [(name, "lost") for name in base.keys() - head.keys()]
    absent += [(name, "gained") for name in head.keys() - base.keys()]
    found = {
        (name, presence): [
            cell
            for cell in comparison.cells
            if cell.presence == presence and name in (cell.producer, cell.consumer)
        ]
        for name, presence in sorted(absent)
    }
    return {key: cells for key, cells in found.items() if cells}
