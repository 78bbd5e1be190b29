"""One panel of the scaling figure: a consumer, its producers' lines, and the floors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dlbench import values
from dlbench.document import Measured
from dlbench.document.facts import COPIED

from .drawing import GREY, PALE, duration_tick, shortened
from .ink import PAPER
from .library_styles import Style

WIDE, HIGH = 2.55, 2.15  # inches
LABEL, SMALL = 9.5, 7.0  # points
MANY_DECADES = 1e3  # minimum ratio of the time axis, so that small differences do not appear large
FLOOR, COPY_FLOOR = (0, (1.0, 1.5)), (0, (6.0, 2.0, 1.0, 2.0))
SLOPE = "#9a9a9a"
LINE_WIDTH, MARK = 1.3, 3.6  # points
DASHED = (0, (3.0, 1.6))  # of a copy
LEAST = 0.1  # ns; an interval is cut off below it, because a logarithm has no zero


@dataclass(frozen=True)
class Panel:
    """One consumer on one device, in one environment."""

    title: str
    until_ready: bool
    entries: dict[str, list[Measured]]  # by producer
    floor_ns: float  # 0: not known
    copy_floors: dict[str, float]  # GB/s by name

    def all_entries(self) -> Iterator[Measured]:
        for pair in self.entries.values():
            yield from pair


@dataclass(frozen=True)
class Limits:
    """The limits of the axes, the same in all panels."""

    sizes: list[int]
    x: tuple[float, float]  # bytes
    y: tuple[float, float]  # ns

    @classmethod
    def of(cls, panels: list[Panel]) -> Limits:
        entries = [entry for panel in panels for entry in panel.all_entries()]
        if not entries:
            return cls([], (1, 10), (1, 10))
        sizes = sorted({entry.bytes for entry in entries})
        floors = [panel.floor_ns for panel in panels if panel.floor_ns > 0]
        low = min([entry.median_ns for entry in entries] + floors)
        high = max(max(entry.median_ns, entry.hi_ns) for entry in entries)
        least, most = max(sizes[0], 1), max(sizes[-1], 1)
        x_room = (most / least) ** 0.09 if most > least else 4.0
        y_room = max(1.7, (MANY_DECADES / (high / low)) ** 0.5)
        return cls(sizes, (least / x_room, most * x_room), (low / 1.7, high * y_room))


def draw(axes: Axes, panel: Panel, styles: dict[str, Style], limits: Limits, named: bool) -> None:
    """Draws the panel. `named`: writes the rates along the copy floors."""
    _prepare(axes, limits)
    title = shortened(panel.title, LABEL, WIDE - 0.6 * panel.until_ready)
    axes.set_title(title, fontsize=LABEL, weight="bold", loc="left", pad=4)
    if panel.until_ready:
        axes.set_title("until ready", fontsize=SMALL, color=GREY, loc="right", pad=4)
    if panel.floor_ns:
        axes.axhline(panel.floor_ns, color=GREY, linewidth=1.1, linestyle=FLOOR)
    for rate in panel.copy_floors.values():
        axes.plot(limits.x, [x / rate for x in limits.x], color=SLOPE, linewidth=0.9,
                  linestyle=COPY_FLOOR)  # fmt: skip
        if named:
            _name_slope(axes, rate, limits)
    for producer, entries in panel.entries.items():
        _draw_line(axes, entries, styles[producer])


def _draw_line(axes: Axes, entries: list[Measured], style: Style) -> None:
    """The entries of one exchange by bytes; dashed and hollow where the array was copied."""
    entries = sorted(entries, key=lambda entry: entry.bytes)
    sizes = [entry.bytes for entry in entries]
    times = [entry.median_ns for entry in entries]
    low = [max(entry.lo_ns, LEAST) for entry in entries]
    high = [entry.hi_ns for entry in entries]
    copied = [entry.outcome in COPIED for entry in entries]
    axes.fill_between(sizes, low, high, color=style.color, alpha=0.18, linewidth=0)
    if len(entries) == 1:
        axes.vlines(sizes, low, high, color=style.color, alpha=0.4, linewidth=2)
    for i in range(1, len(entries)):
        part = slice(i - 1, i + 1)
        axes.plot(sizes[part], times[part], color=style.color, linewidth=LINE_WIDTH,
                  linestyle=DASHED if copied[i] else "-", solid_capstyle="round")  # fmt: skip
    for size, time, is_copy in zip(sizes, times, copied, strict=True):
        axes.plot([size], [time], marker=style.marker, markersize=MARK, color=style.color,
                  markerfacecolor=PAPER if is_copy else style.color, markeredgewidth=0.9,
                  linestyle="none")  # fmt: skip


def _prepare(axes: Axes, limits: Limits) -> None:
    axes.set(xscale="log", yscale="log", xlim=limits.x, ylim=limits.y)
    axes.xaxis.set_major_locator(FixedLocator(_spread_out(limits.sizes, limits.x)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: values.size(round(size))))
    axes.yaxis.set_major_locator(FixedLocator(_decades(limits.y)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ns, _: duration_tick(ns)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL + 0.5, length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _name_slope(axes: Axes, rate: float, limits: Limits) -> None:
    """Writes the rate along the copy floor, at the panel's edge."""
    wide, high = math.log(limits.x[1] / limits.x[0]), math.log(limits.y[1] / limits.y[0])
    angle = math.degrees(math.atan2(HIGH / high, WIDE / wide))
    top = math.log(limits.y[1]) - 0.08 * high
    end = min(math.log(limits.x[1]) - 0.02 * wide, top + math.log(rate))
    if end <= math.log(limits.x[0]) + 0.3 * wide:
        return
    at = math.exp(end)
    axes.annotate(f"{values.rate(rate)} GB/s", (at, at / rate), (-1, 2),
                  textcoords="offset points", fontsize=SMALL - 1, color=GREY, ha="right",
                  va="bottom", rotation=angle, rotation_mode="anchor")  # fmt: skip


def _spread_out(sizes: list[int], limits: tuple[float, float]) -> list[int]:
    """As many sizes as fit with their labels, including the largest."""
    if not sizes:
        return []
    inch = math.log(limits[1] / limits[0]) / WIDE
    kept = [sizes[-1]]
    for size in reversed(sizes[:-1]):
        if math.log(kept[-1] / max(size, 1)) / inch >= 0.55:
            kept.append(size)
    return kept[::-1]


def _decades(limits: tuple[float, float]) -> list[float]:
    first, last = math.floor(math.log10(limits[0])), math.ceil(math.log10(limits[1]))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    ticks = [step * 10.0**e for e in range(first, last + 1) for step in steps]
    return [tick for tick in ticks if limits[0] <= tick <= limits[1]]
