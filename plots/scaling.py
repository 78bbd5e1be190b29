"""Scaling: latency over bytes, one panel a consumer, one line a producer.

Who shares memory stays flat near the floor; who copies climbs along the slope of a copy.
"""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from dlbench import values

from . import choosing, lines, scaling_panel
from .choosing import Document, Entry
from .drawing import GREY, inches, wrapped
from .scaling_key import ROW, draw_keys, keys_of, rows_of
from .scaling_panel import HIGH, SMALL, WIDE, Limits, Panel

MARGIN, LEFT, GAP_X, GAP_Y = 0.25, 0.72, 0.2, 0.42  # inches, as all measures here
HEADING, BOTTOM, LINE = 1.0, 0.34, 0.17


def figure(document: Document) -> Figure:
    """The clock `ready` where a pair has it, else `call`; the case f32."""
    chosen, said = _chosen(document)
    panels = _panels(document, chosen)
    producers = choosing.in_order((name for p in panels for name in p.entries), choosing.YARDSTICK)
    looks = lines.looks(producers)
    across = _across(len(panels))
    down = math.ceil(len(panels) / across)
    width = max(LEFT + across * WIDE + (across - 1) * GAP_X + MARGIN, 6.0)
    key_rows = rows_of(keys_of(panels, looks), width - 2 * MARGIN)
    notes = wrapped(_notes(document, panels), SMALL, width - 2 * MARGIN)
    below = 0.12 + LINE * len(notes) + 0.08 + ROW * len(key_rows)
    body = max(down * HIGH + (down - 1) * GAP_Y, 1.0) + BOTTOM
    height = HEADING + body + below

    result = Figure(figsize=(width, height))
    canvas = inches(result)
    canvas.text(MARGIN, height - 0.32, "Who shares memory, who copies",
                fontsize=14, weight="bold", va="center")  # fmt: skip
    canvas.text(MARGIN, height - 0.58, said, fontsize=10, color=GREY, va="center")
    if not panels:
        canvas.text(width / 2, below + body / 2, "nothing was measured", fontsize=12, color=GREY,
                    ha="center", va="center")  # fmt: skip
    limits = Limits.of(panels)
    for index, panel in enumerate(panels):
        row, column = divmod(index, across)
        x = LEFT + column * (WIDE + GAP_X)
        y = height - HEADING - HIGH - row * (HIGH + GAP_Y)
        axes = result.add_axes((x / width, y / height, WIDE / width, HIGH / height))
        scaling_panel.draw(axes, panel, looks, limits, named=column == 0)
        axes.tick_params(labelleft=column == 0, labelbottom=index + across >= len(panels))
    draw_keys(canvas, key_rows, MARGIN, below - 0.08)
    for index, line in enumerate(notes):
        y = 0.12 + LINE * (len(notes) - 1 - index)
        canvas.text(MARGIN, y, line, fontsize=SMALL, color=GREY, va="bottom")
    return result


def _chosen(document: Document) -> tuple[list[Entry], str]:
    """The measured entries of the figure, and what they have in common."""
    entries = [entry for entry in choosing.exchanges(document)
               if values.is_measured(entry) and entry["clock"] in ("call", "ready")]  # fmt: skip
    if not entries:
        return [], ""
    protocol = choosing.usual(entries, "protocol", "dlpack")
    entries = choosing.where(entries, protocol=protocol)
    case = choosing.usual(entries, "case", "f32")
    said = f"time of one exchange over the array's size \u00b7 {protocol} \u00b7 {case}"
    return choosing.where(entries, case_=case), said


def _panels(document: Document, entries: list[Entry]) -> list[Panel]:
    panels = []
    for environment, device in choosing.places(entries):
        here = choosing.where(entries, environment=environment, device=device)
        facts = choosing.environment(document, environment)
        suffix = "" if device == "cpu" else f" on {device}"
        suffix += "" if environment == "default" else f" in {environment}"
        for consumer in choosing.in_order((e["consumer"] for e in here), choosing.YARDSTICK):
            own = choosing.where(here, consumer=consumer)
            producers = sorted({str(entry["producer"]) for entry in own})
            pairs = {name: _one_clock(choosing.where(own, producer=name)) for name in producers}
            panels.append(Panel(
                title=f"\u2192 {consumer}{suffix}",
                until_ready=any(pair[0]["clock"] == "ready" for pair in pairs.values()),
                entries=pairs,
                floor_ns=float(facts.get("floors_ns", {}).get("call", 0)),
                copy_floors=dict(facts.get("copy_floors_gb_per_s", {})),
            ))  # fmt: skip
    return panels


def _one_clock(entries: list[Entry]) -> list[Entry]:
    return choosing.where(entries, clock="ready") or choosing.where(entries, clock="call")


def _across(count: int) -> int:
    """Panels side by side: wider than high, at most five, few places left empty."""
    if count <= 3:
        return max(count, 1)
    square = math.ceil(math.sqrt(count))
    return min({min(square, 5), min(square + 1, 5)}, key=lambda across: (-count % across, across))


def _notes(document: Document, panels: list[Panel]) -> list[str]:
    if not panels:
        return choosing.provenance(document)
    notes = ["median of one exchange, from below: flat shares memory, a slope copies",
             "band: 95 % interval"]  # fmt: skip
    if any(panel.until_ready for panel in panels):
        notes.append("until ready: timed until the consumer's data is there")
    return notes + choosing.provenance(document)
