"""Phases: the steps of one exchange, one bar for each exchange."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator

from dlbench import values
from dlbench.analysis.phases import has_shares
from dlbench.document import Document, Measured
from dlbench.document.facts import LEAST_FOR_SHARES_NS

from . import choosing
from .drawing import SMALL, text_width
from .forest import forest
from .ink import INK, PAPER

BAR = 0.62  # of a row
MOST_BARS = 60
WIDEST = 2.0  # shares; larger ones are cut off
HATCH = "////"

#: Okabe and Ito's colors, as in the other figures.
COLORS = {"query": "#e69f00", "export": "#d55e00", "import": "#0072b2", "release": "#56b4e9"}
UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Bar:
    """One exchange: its phases and the unexplained time, as shares of the exchange in the same
    rounds, and the exchange in its own rounds."""

    label: str
    parts: dict[str, float]
    unexplained: float
    whole: Measured

    def share(self, ns: float) -> float:
        """A time from the exchange's own rounds, divided by its time in the phases' rounds."""
        return ns / self.whole.phases.exchange_ns

    def end(self) -> float:
        explained = sum(max(part, 0.0) for part in self.parts.values())
        return max(explained, explained + self.unexplained, self.share(self.whole.median_ns))


def figure(document: Document) -> Figure:
    """The figure: the smallest size, one protocol, the case f32; the longest exchange first."""
    bars, subtitle, left_out = _bars(document)
    labels = [bar.label for bar in bars]
    times = [values.duration(bar.whole.phases.exchange_ns) for bar in bars]
    notes = _notes(document, bars, left_out) if bars else choosing.provenance(document)
    title = "Phases of one exchange"
    made = forest(title, subtitle, labels, times, notes, _nothing(document))
    if made.axes is not None:
        _draw(made.axes, bars)
        _draw_key(made.canvas, *made.key)
    return made.figure


def _nothing(document: Document) -> str:
    if _with_phases(document):
        least = values.duration(LEAST_FOR_SHARES_NS)
        return f"every exchange takes less than {least}: too short for shares"
    measured = choosing.has_numbers(document)
    return "no phases were measured: use --phases all" if measured else "nothing was measured"


def has_phases(document: Document) -> bool:
    """Is there anything to draw?"""
    return any(has_shares(entry) for entry in _with_phases(document))


def _with_phases(document: Document) -> list[Measured]:
    return [entry for entry in choosing.measured(document) if entry.phases]


def _bars(document: Document) -> tuple[list[Bar], str, list[str]]:
    """The bars, their common values, and the exchanges that are left out."""
    found = _with_phases(document)
    entries = [entry for entry in found if has_shares(entry)]
    if not entries:
        return [], "", []
    entries, protocol, case = choosing.plain(entries)
    size = min(entry.bytes for entry in entries)
    alike = choosing.where(found, protocol=protocol, case_=case, bytes=size)
    entries = [entry for entry in alike if has_shares(entry)]
    places = choosing.places(entries)
    bars = [_bar(entry, len(places) > 1) for entry in entries]
    bars.sort(key=lambda bar: (-bar.whole.phases.exchange_ns, bar.label))
    place = f"{protocol} \u00b7 {case} \u00b7 {values.size(size)}"
    subtitle = f"share of the host time by phase \u00b7 {place}"
    left_out = []
    if more := len(bars[MOST_BARS:]):
        left_out.append(f"{more} shorter exchanges are not shown")
    if short := len(alike) - len(entries):
        left_out.append(
            f"not shown, below {LEAST_FOR_SHARES_NS:.0f} ns, too short for shares: {short}"
        )
    return bars[:MOST_BARS], subtitle, left_out


def _bar(entry: Measured, with_place: bool) -> Bar:
    whole = entry.phases.exchange_ns
    parts = dict.fromkeys(COLORS, 0.0)
    for part in entry.phases.parts:
        parts[part.phase] += part.ns / whole
    label = f"{entry.producer} \u2192 {entry.consumer}"
    if with_place:
        label += f"  {entry.device} {entry.environment}"
    return Bar(label, parts, entry.unexplained / whole, entry)


def _draw(axes: Axes, bars: list[Bar]) -> None:
    """Draws shares, because times differ by a factor of a thousand."""
    end = min(max([1.1, *(1.03 * bar.end() for bar in bars)]), WIDEST)
    axes.set_xlim(0, end)
    for index, bar in enumerate(bars):
        _draw_bar(axes, bar, index + (1 - BAR) / 2)
    axes.xaxis.set_major_locator(FixedLocator([i / 4 for i in range(int(end * 4) + 1)]))
    axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")


def _draw_bar(axes: Axes, bar: Bar, top: float) -> None:
    x = 0.0
    for phase, color in COLORS.items():
        wide = max(bar.parts[phase], 0.0)
        axes.add_patch(Rectangle((x, top), wide, BAR, facecolor=color, edgecolor="none"))
        x += wide
    # A negative value extends back over the phases, whose sum is too long by it.
    low, high = sorted((x, x + bar.unexplained))
    axes.add_patch(Rectangle((low, top), high - low, BAR, facecolor="none", edgecolor=INK,
                             hatch=HATCH, linewidth=0.6, zorder=3))  # fmt: skip
    middle = top + BAR / 2
    low, high = bar.share(bar.whole.lo_ns), bar.share(bar.whole.hi_ns)
    axes.plot([low, high], [middle, middle], color=INK, linewidth=1.0,
              solid_capstyle="butt", zorder=5)  # fmt: skip
    axes.plot([bar.share(bar.whole.median_ns)], [middle], marker="D", markersize=3.4, color=PAPER,
              markeredgecolor=INK, markeredgewidth=0.9, linestyle="none", zorder=6)  # fmt: skip


def _draw_key(canvas: Axes, left: float, y: float) -> None:
    x = left
    for text in (*COLORS, UNEXPLAINED):
        hatched = text == UNEXPLAINED
        canvas.add_patch(Rectangle((x, y - 0.05), 0.24, 0.12, linewidth=0.6 if hatched else 0.0,
                                   facecolor=PAPER if hatched else COLORS[text],
                                   edgecolor=INK if hatched else "none",
                                   hatch=HATCH if hatched else None))  # fmt: skip
        canvas.text(x + 0.3, y + 0.01, text, fontsize=SMALL + 1, va="center")
        x += 0.3 + text_width(text, SMALL + 1) + 0.2
    canvas.plot([x, x + 0.24], [y + 0.01] * 2, color=INK, linewidth=1.0)
    canvas.plot([x + 0.12], [y + 0.01], marker="D", markersize=3.4, color=PAPER,
                markeredgecolor=INK, markeredgewidth=0.9, linestyle="none")  # fmt: skip
    canvas.text(x + 0.3, y + 0.01, "in its own rounds", fontsize=SMALL + 1, va="center")


def _notes(document: Document, bars: list[Bar], left_out: list[str]) -> list[str]:
    interval = values.interval(bar.whole for bar in bars)
    return [
        "100 % and the time at the right of a bar: the exchange in the rounds of its phases",
        "unexplained: that time minus the phases; a negative value is drawn over them",
        f"diamond: the exchange in its own rounds, with its interval ({interval})",
        *left_out,
        *choosing.provenance(document),
    ]
