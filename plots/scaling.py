"""Scaling: time by array size, one panel for each consumer, one line for each producer.

The time of an exchange that shares memory is constant; that of one that copies grows like a copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from dlbench import values
from dlbench.document import Document, Measured
from dlbench.document.facts import native_first

from . import choosing, library_styles, scaling_panel
from .scaling_key import keys_of
from .scaling_panel import Limits, Panel
from .sheet import sheet


def figure(document: Document) -> Figure:
    """The figure: the case f32 on the clock `ready`, or on `call` for a pair without `ready`."""
    chosen, subtitle = _chosen(document)
    panels = _panels(document, chosen)
    producers = native_first(name for p in panels for name in p.entries)
    styles = library_styles.of_all(producers)
    keys, notes = keys_of(panels, styles), _notes(document, panels)
    made = sheet("Time by array size: shared memory or a copy", subtitle, len(panels), keys, notes)
    limits = Limits.of(panels)
    for panel, place in zip(panels, made.places, strict=True):
        scaling_panel.draw(place.axes, panel, styles, limits, named=place.first)
        place.hide_inner_labels()
    return made.figure


def _chosen(document: Document) -> tuple[list[Measured], str]:
    """The measured entries of the figure, and the axes that they share."""
    entries = [entry for entry in choosing.measured(document) if entry.clock in ("call", "ready")]
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
    own = {name: rate for name, rate in gb_per_s.items() if name.split(" ")[0] == device}
    return {name.removeprefix(device).strip() or "memcpy": rate for name, rate in own.items()}


def _one_clock(entries: list[Measured]) -> list[Measured]:
    return choosing.where(entries, clock="ready") or choosing.where(entries, clock="call")


def _notes(document: Document, panels: list[Panel]) -> list[str]:
    if not panels:
        return choosing.provenance(document)
    drawn = [entry for panel in panels for own in panel.entries.values() for entry in own]
    notes = ["median of one exchange; dashed and hollow: copied",
             f"band: interval ({values.interval(drawn)})"]  # fmt: skip
    if any(panel.until_ready for panel in panels):
        notes.append("until ready: timed until the consumer's data is complete")
    return notes + choosing.provenance(document)
