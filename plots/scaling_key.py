"""The legend below the scaling figure."""

from __future__ import annotations

from matplotlib.lines import Line2D

from dlbench import values
from dlbench.document.facts import COPIED

from . import lines
from .drawing import GREY
from .ink import PAPER
from .library_styles import Style
from .scaling_panel import COPY_FLOOR, FLOOR, SLOPE, Panel
from .sheet_key import Key, producer_keys


def keys_of(panels: list[Panel], styles: dict[str, Style]) -> list[Key]:
    """(line, text) for each kind of line in the picture; positions are set later."""
    keys = producer_keys(styles)
    entries = [entry for panel in panels for entry in panel.all_entries()]
    if any(e.outcome in COPIED for e in entries):
        line = Line2D([], [], color=GREY, linestyle=lines.DASHED, marker="o",
                      markersize=lines.MARK + 0.6, markerfacecolor=PAPER)  # fmt: skip
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
