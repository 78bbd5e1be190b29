"""Selects the cells for figures of single rounds: one protocol, one case, the smallest size."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from dlbench import values
from dlbench.document import Document, Measured

from . import choosing
from .drawing import PALE, shortened
from .scaling_panel import LABEL, SMALL, WIDE


@dataclass(frozen=True)
class Panel:
    """One consumer on one device, in one environment: its cells by producer."""

    title: str
    entries: dict[str, Measured]


def panels(document: Document) -> tuple[list[Panel], str]:
    """A panel for each consumer, and the axes that all cells share."""
    entries = choosing.where(choosing.measured(document), clock="call")
    if not entries:
        return [], ""
    entries, protocol, case = choosing.plain(entries)
    size = min(entry.bytes for entry in entries)
    found = []
    for title, _, _, own in choosing.by_consumer(choosing.where(entries, bytes=size)):
        by_producer = {entry.producer: entry for entry in own}
        found.append(Panel(title, dict(sorted(by_producer.items()))))
    return found, f"{protocol} \u00b7 {case} \u00b7 {values.size(size)}"


def rounds(entry: Measured) -> list[list[float]]:
    """The rounds of each worker in ns, in order; only values above 0."""
    return [[ns for ns in worker.samples_ns if ns > 0] for worker in entry.workers]


def prepare(axes: Axes, panel: Panel) -> None:
    """Draws title, grid and frame, as in the other sheets."""
    axes.set_title(shortened(panel.title, LABEL, WIDE), fontsize=LABEL, weight="bold", loc="left",
                   pad=4)  # fmt: skip
    axes.grid(color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL + 0.5, length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
