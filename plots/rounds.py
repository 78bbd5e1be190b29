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
    protocol = choosing.usual(entries, "protocol", "dlpack")
    entries = choosing.where(entries, protocol=protocol)
    case = choosing.usual(entries, "case", "f32")
    entries = choosing.where(entries, case_=case)
    size = min(entry.bytes for entry in entries)
    entries = choosing.where(entries, bytes=size)
    found = []
    for environment, device in choosing.places(entries):
        here = choosing.where(entries, environment=environment, device=device)
        suffix = "" if device == "cpu" else f" on {device}"
        suffix += "" if environment == "default" else f" in {environment}"
        for consumer in choosing.in_order((e.consumer for e in here), choosing.YARDSTICK):
            own = {e.producer: e for e in choosing.where(here, consumer=consumer)}
            found.append(Panel(f"\u2192 {consumer}{suffix}", dict(sorted(own.items()))))
    return found, f"{protocol} \u00b7 {case} \u00b7 {values.size(size)}"


def rounds(entry: Measured) -> list[list[float]]:
    """ns by worker, in the order of time; only values above 0."""
    return [[ns for ns in worker.samples_ns if ns > 0] for worker in entry.workers]


def prepare(axes: Axes, panel: Panel) -> None:
    """Title, grid and frame, as in the other sheets."""
    axes.set_title(shortened(panel.title, LABEL, WIDE), fontsize=LABEL, weight="bold", loc="left",
                   pad=4)  # fmt: skip
    axes.grid(color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL + 0.5, length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
