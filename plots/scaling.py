"""Scaling: time by array size, one panel for each consumer, one line for each producer.

The time of an exchange that shares memory is constant; that of one that copies grows like a copy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dlbench import values
from dlbench.document import Document, Measured
from dlbench.document.facts import COPIED, native_first

from . import choosing, library_styles, scaling_panel
from .drawing import GREY, MARGIN, SMALL, page, text_width
from .ink import PAPER
from .library_styles import Style
from .scaling_panel import (
    COPY_FLOOR,
    DASHED,
    FLOOR,
    HIGH,
    LINE_WIDTH,
    MARK,
    SLOPE,
    WIDE,
    Limits,
    Panel,
)

LEFT, GAP_X, GAP_Y = 0.72, 0.2, 0.42  # inches, as all measures here
HEADING, BOTTOM, ROW = 1.0, 0.34, 0.22
MOST_LINES = 1000
#: A line of the legend and its text; the line's position is set later.
Key = tuple[Line2D, str]


def figure(document: Document) -> Figure:
    """The figure: the case f32 on the clock `ready`, or on `call` for a pair without `ready`."""
    chosen, subtitle = _chosen(document)
    panels, left_out = choosing.first_panels(
        _panels(document, chosen), lambda panel: len(panel.entries), MOST_LINES
    )
    styles = library_styles.of_all(native_first(name for p in panels for name in p.entries))
    across = _across(len(panels))
    down = math.ceil(len(panels) / across)
    width = max(LEFT + across * WIDE + (across - 1) * GAP_X + MARGIN, 6.0)
    keys = _rows_of(_keys(panels, styles), width - 2 * MARGIN)
    body = max(down * HIGH + (down - 1) * GAP_Y, 1.0) + BOTTOM
    made = page("Time by array size: shared memory or a copy", subtitle, width,
                (HEADING, body, 0.08 + ROW * len(keys)), _notes(document, panels, left_out),
                "" if panels else "nothing was measured")  # fmt: skip
    _draw_keys(made.canvas, keys, made.bottom - 0.08)
    limits = Limits.of(panels)
    for index, panel in enumerate(panels):
        row, column = divmod(index, across)
        x, y = LEFT + column * (WIDE + GAP_X), made.top - HIGH - row * (HIGH + GAP_Y)
        axes = made.add_axes(x, y, WIDE, HIGH)
        scaling_panel.draw(axes, panel, styles, limits, named=column == 0)
        # The panels share their axes, and only the outer ones are labeled.
        axes.tick_params(labelleft=column == 0, labelbottom=index + across >= len(panels))
    return made.figure


def _across(count: int) -> int:
    """The number of panels in a row, at most five, chosen so that few places are empty."""
    if count <= 3:
        return max(count, 1)
    square = math.ceil(math.sqrt(count))
    return min({min(square, 5), min(square + 1, 5)}, key=lambda across: (-count % across, across))


def _chosen(document: Document) -> tuple[list[Measured], str]:
    """The measured entries of the figure, and the axes that they share."""
    entries = [entry for entry in choosing.transfers(document) if entry.clock in ("call", "ready")]
    if not entries:
        return [], ""
    chosen, protocol, case = choosing.plain(entries)
    return chosen, f"time of one exchange by array size \u00b7 {protocol} \u00b7 {case}"


def _panels(document: Document, entries: list[Measured]) -> list[Panel]:
    panels = []
    for title, environment, device, own in choosing.by_consumer(entries):
        facts = document.environment(environment)
        producers = sorted({entry.producer for entry in own})
        pairs = {name: _one_clock(choosing.where(own, producer=name)) for name in producers}
        panels.append(Panel(
            title=title,
            until_ready=any(pair[0].clock == "ready" for pair in pairs.values()),
            entries=pairs,
            floor_ns=float(facts.floors_ns.get("call", 0)),
            copy_floors=_floors_of(device, facts.copy_floors_gb_per_s),
        ))  # fmt: skip
    return panels


def _floors_of(device: str, gb_per_s: Mapping[str, float]) -> dict[str, float]:
    """The copy floors of the host's memory, or of this device or pair of devices."""
    if device == "cpu":
        return {name: rate for name, rate in gb_per_s.items() if name in ("warm", "fresh")}
    kinds = {device: "memcpy", f"{device} pinned": "pinned", f"{device} pageable": "pageable"}
    return {kinds[name]: rate for name, rate in gb_per_s.items() if name in kinds}


def _one_clock(entries: list[Measured]) -> list[Measured]:
    return choosing.where(entries, clock="ready") or choosing.where(entries, clock="call")


def _notes(document: Document, panels: list[Panel], left_out: list[str]) -> list[str]:
    if not panels:
        return choosing.provenance(document)
    drawn = [entry for panel in panels for own in panel.entries.values() for entry in own]
    notes = ["median of one exchange; dashed and hollow: copied",
             f"band: interval ({values.interval(drawn)})"]  # fmt: skip
    if any(panel.until_ready for panel in panels):
        notes.append("until ready: timed until the consumer's data is complete")
    return notes + left_out + choosing.provenance(document)


def _keys(panels: list[Panel], styles: dict[str, Style]) -> list[Key]:
    """(line, text) for each kind of line in the picture; positions are set later."""
    keys = [(Line2D([], [], color=look.color, marker=look.marker, markersize=MARK + 0.6,
                    linewidth=LINE_WIDTH), name) for name, look in styles.items()]  # fmt: skip
    entries = [entry for panel in panels for entry in panel.all_entries()]
    if any(e.outcome in COPIED for e in entries):
        line = Line2D([], [], color=GREY, linestyle=DASHED, marker="o",
                      markersize=MARK + 0.6, markerfacecolor=PAPER)  # fmt: skip
        keys.append((line, "copied"))
    if any(panel.floor_ns for panel in panels):
        keys.append((Line2D([], [], color=GREY, linestyle=FLOOR), "floor: an empty call"))
    slopes: dict[str, list[float]] = {}
    for panel in panels:
        for name, rate in panel.copy_floors.items():
            slopes.setdefault(name, []).append(rate)
    if slopes:  # environments differ a little
        line = Line2D([], [], color=SLOPE, linewidth=0.9, linestyle=COPY_FLOOR)
        rate_texts = (
            f"{name} {values.extent(rates, values.rate)} GB/s" for name, rates in slopes.items()
        )
        keys.append((line, f"a plain copy: {', '.join(rate_texts)}"))
    return keys


def _rows_of(keys: list[Key], room: float) -> list[list[tuple[Key, float]]]:
    """Keys with their offsets, folded into rows."""
    rows: list[list[tuple[Key, float]]] = []
    x = room
    for key in keys:
        wide = 0.42 + text_width(key[1], SMALL + 1) + 0.22
        if x + wide > room:
            rows.append([])
            x = 0.0
        rows[-1].append((key, x))
        x += wide
    return rows


def _draw_keys(canvas: Axes, rows: list[list[tuple[Key, float]]], top: float) -> None:
    for index, row in enumerate(rows):
        y = top - ROW * (index + 0.5)
        for (line, text), offset in row:
            x = MARGIN + offset
            line.set_data([x, x + 0.17, x + 0.34], [y, y, y])
            line.set_markevery([1])
            canvas.add_line(line)
            canvas.text(x + 0.42, y, text, fontsize=SMALL + 1, va="center")
