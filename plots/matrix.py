"""The matrix: the time of one exchange; rows are producers, columns are consumers, one panel for
each device.

In a merged document each machine has its own panels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from dlbench import values
from dlbench.document import Document, Entry, Measured
from dlbench.document.facts import DULL, native_first

from . import cells, choosing
from .drawing import GREY, MARGIN, SMALL, page, shortened, text_width
from .matrix_key import ROW, color_bar, draw_legend, legend_items, legend_lines

LABEL = 9.5  # points
LONGEST_LABEL = 1.9  # inches, as all measures here
HEADING, TITLE = 0.56, 0.20  # the figure's and a panel's
GAP = 0.3  # between two panels
BAR = 0.95  # the color bar with its labels
CORNER = "from \u2193   to \u2192"
MOST_MACHINES = 12  # in one figure; each machine also has its own figure
TILTED = 40  # degrees, for consumers' names that are wider than their column


@dataclass(frozen=True)
class Panel:
    """The matrix of one device."""

    title: str
    rows: list[str]
    columns: list[str]
    entries: dict[tuple[str, str], Entry]
    versions: dict[str, str]

    def label_room(self) -> float:
        widest = max((text_width(row, LABEL, "bold") for row in self.rows), default=0.0)
        return max(min(widest, LONGEST_LABEL), text_width(CORNER, SMALL)) + 0.15

    def tilted(self) -> bool:
        return any(text_width(c, LABEL, "bold") > cells.WIDTH - 0.08 for c in self.columns)

    def head(self) -> float:
        if not self.tilted():
            return 0.30
        longest = max(text_width(c, LABEL, "bold") for c in self.columns)
        return 0.70 * min(longest, LONGEST_LABEL) + 0.22

    def height(self) -> float:
        return TITLE + self.head() + cells.HEIGHT * len(self.rows)

    def overhang(self) -> float:
        """The width of tilted names beyond the last column, in inches."""
        if not self.tilted():
            return 0.0
        count = len(self.columns)
        ends = [
            (j + 0.42 - count) * cells.WIDTH
            + 0.77 * min(text_width(c, LABEL, "bold"), LONGEST_LABEL) + 0.1
            for j, c in enumerate(self.columns)
        ]  # fmt: skip
        return max(0.0, *ends)


def figure(document: Document) -> Figure:
    """The figure: times on the clock `call`, at the smallest size of the case f32. Panels of
    several machines have the same color scale."""
    panels = [panel for machine, part in document.shares()[:MOST_MACHINES]
              for place in choosing.places(part.exchanges)
              if (panel := _panel(part, machine, *place))]  # fmt: skip
    shown = [entry for panel in panels for entry in panel.entries.values()]
    times = [entry.median_ns for entry in shown if isinstance(entry, Measured)]
    norm = LogNorm(min(times), max(max(times), 10 * min(times))) if times else LogNorm(1, 10)

    legend = legend_items(shown)
    label_room = max((panel.label_room() for panel in panels), default=1.0)
    columns = max((len(panel.columns) for panel in panels), default=0)
    overhang = max((panel.overhang() for panel in panels), default=0.0)
    width = max(2 * MARGIN + label_room + columns * cells.WIDTH + max(overhang, BAR), 6.0)
    key = ROW * legend_lines(legend, width - 2 * MARGIN)
    body = sum(panel.height() for panel in panels) + GAP * max(len(panels) - 1, 0)
    made = page("Cost of an array exchange", "", width, (HEADING, max(body, 1.0), 0.22 + key),
                _notes(document, panels, shown))  # fmt: skip
    canvas, top = made.canvas, made.top
    left = MARGIN + label_room
    if not times:
        canvas.text(width - MARGIN, top + HEADING - 0.32, "nothing was measured", fontsize=LABEL,
                    color=GREY, ha="right", va="center")  # fmt: skip
    if len(set(times)) > 1:
        first = panels[0]
        length = min(cells.HEIGHT * len(first.rows), 3.2)
        x = left + cells.WIDTH * columns + 0.2
        color_bar(made.figure, norm, (x, top - TITLE - first.head() - length, 0.13, length))
    for panel in panels:
        _draw_panel(canvas, panel, left, top, norm)
        top -= panel.height() + GAP
    draw_legend(canvas, legend, MARGIN, made.bottom - 0.22, width - 2 * MARGIN)
    return made.figure


def _panel(document: Document, machine: str, environment: str, device: str) -> Panel | None:
    entries = choosing.where(document.exchanges, environment=environment, device=device,
                             clock="call")  # fmt: skip
    entries, protocol, case = choosing.plain(entries)
    if not entries:
        return None
    measured = [entry.bytes for entry in entries if isinstance(entry, Measured)]
    size = min(measured or [entry.bytes for entry in entries])
    entries = choosing.where(entries, bytes=size)
    telling = [entry for entry in entries if entry.outcome not in DULL]
    if not telling:
        return None
    place = device if environment == "default" else f"{device}, {environment}"
    place = f"{machine} \u00b7 {place}" if machine else place
    return Panel(
        f"{place} \u00b7 {protocol} \u00b7 {case} \u00b7 {values.size(size)}",
        native_first(e.producer for e in telling),
        native_first(e.consumer for e in telling),
        {entry.pair: entry for entry in entries},
        document.versions(environment),
    )


def _draw_panel(canvas: Axes, panel: Panel, left: float, top: float, norm: LogNorm) -> None:
    canvas.text(MARGIN, top - 0.02, panel.title, fontsize=10, color=GREY, va="center")
    first = top - TITLE - panel.head()
    canvas.text(left - 0.12, first + 0.14, CORNER, fontsize=SMALL, color=GREY,
                ha="right", va="center")  # fmt: skip
    for j, column in enumerate(panel.columns):
        text = shortened(column, LABEL, LONGEST_LABEL)
        if panel.tilted():
            canvas.text(left + (j + 0.42) * cells.WIDTH, first + 0.07, text, fontsize=LABEL,
                        weight="bold", rotation=TILTED, rotation_mode="anchor")  # fmt: skip
        else:
            canvas.text(left + (j + 0.5) * cells.WIDTH, first + 0.14, text, fontsize=LABEL,
                        weight="bold", ha="center", va="center")  # fmt: skip
    for i, row in enumerate(panel.rows):
        bottom = first - (i + 1) * cells.HEIGHT
        version = panel.versions.get(row, "")
        middle = bottom + cells.HEIGHT / 2
        canvas.text(left - 0.12, middle + (0.075 if version else 0.0),
                    shortened(row, LABEL, LONGEST_LABEL - 0.1), fontsize=LABEL, weight="bold",
                    ha="right", va="center")  # fmt: skip
        canvas.text(left - 0.12, middle - 0.105, shortened(version, SMALL, LONGEST_LABEL),
                    fontsize=SMALL, color=GREY, ha="right", va="center")  # fmt: skip
        for j, column in enumerate(panel.columns):
            x = left + j * cells.WIDTH
            cells.draw(canvas, panel.entries.get((row, column)), x, bottom, norm)
    for i, row in enumerate(panel.rows):
        if row in panel.columns:
            corner = (left + panel.columns.index(row) * cells.WIDTH, first - (i + 1) * cells.HEIGHT)
            canvas.add_patch(cells.outline(corner))


def _notes(document: Document, panels: list[Panel], shown: list[Entry]) -> list[str]:
    notes = ["median host time until the consumer's call returns and its result is released"]
    timed = (entry for entry in shown if isinstance(entry, Measured))
    if widths := values.widths(timed):
        notes.append(values.with_signs(f"interval {widths}"))
    words = Counter(entry.outcome for entry in shown if not isinstance(entry, Measured))
    if words:
        counts = ", ".join(f"{count} {word}" for word, count in sorted(words.items()))
        notes.append(f"without a number: {counts}")
    present = {name for panel in panels for name in (*panel.rows, *panel.columns)}
    absent = {name for entry in document.exchanges for name in entry.pair}
    if absent - present:
        notes.append(f"not shown: {', '.join(sorted(absent - present))}")
    if more := len(document.machines[MOST_MACHINES:]):
        notes.append(f"{more} more machines are not shown")
    return notes + choosing.provenance(document)
