"""Change: the ratio head/base with its interval, one row for each cell."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dlbench import values
from dlbench.analysis import compared
from dlbench.document import ComparedCell, Comparison
from dlbench.document.comparison import OPEN

from .drawing import PALE, SMALL, text_width
from .forest import Forest, forest
from .ink import INK, PAPER

MOST_ROWS = 60
#: Color and marker of each result; the markers help color-blind readers.
STYLES = {
    "worse": ("#b2182b", "X"),
    "other": ("#cc79a7", "P"),
    "better": ("#009e73", "P"),
    "SLOW": ("#d55e00", ">"),
    "FAST": ("#009e73", "<"),
    "AMBIG": ("#6f6f6f", "D"),
    "INCONCLUSIVE": ("#b07c00", "s"),
    "SAME": ("#0072b2", "o"),
}
UNFILLED = ("SAME", "", *OPEN)


def figure(comparison: Comparison, machine: str = "") -> Figure:
    """The figure, with changed cells first and the largest change on top. `machine`: the head's
    processor."""
    cells = [cell for cell in comparison.cells if cell.ratio is not None]
    cells.sort(key=lambda cell: cell.rank)
    shown = cells[:MOST_ROWS]
    within = values.percent(comparison.threshold)
    metric = comparison.metric
    timed = comparison.is_timed
    notes = ["bar: 95 % interval of the ratio" if timed else "counts have no interval",
             f"band: SAME if the change is surely below {within}"]  # fmt: skip
    notes += [f"{len(cells) - len(shown)} more are not shown"] if len(cells) > len(shown) else []
    notes += [f"dlbench {comparison.version}", *([machine] if machine else [])]
    notes += [*_workers(shown), *_sides(comparison)]
    labels = ["  ".join(compared.named(cell)).replace("->", "\u2192") for cell in shown]
    words = [_word(cell) for cell in shown]
    nothing = "no cell was measured on both sides"
    title = "What changed" if timed else f"What changed, in {metric}"
    made = forest(title, comparison.counted(), labels, words, notes, nothing)
    if made.axes is not None:
        _draw(made.axes, shown, comparison.threshold)
        _draw_key(made, {cell.result for cell in shown})
        made.name_axis(f"{metric}, head / base")
    return made.figure


def _ratio(cell: ComparedCell) -> float:
    """The row of a cell that was measured on both sides."""
    assert cell.ratio is not None
    return cell.ratio


def _word(cell: ComparedCell) -> str:
    changed = cell.outcome_change and f"{cell.base_outcome} \u2192 {cell.head_outcome}"
    change = compared.change(_ratio(cell), cell.share)
    return f"{change}  {changed}" if changed else change


def _workers(cells: list[ComparedCell]) -> list[str]:
    """ "n: 2..3 processes for each cell and side"."""
    counts = [count for cell in cells for count in (cell.base_workers, cell.head_workers)]
    if not any(counts):
        return []
    number = values.extent(counts)
    return [f"n: {number} {'process' if number == '1' else 'processes'} for each cell and side"]


def _sides(comparison: Comparison) -> list[str]:
    """For each side a text such as "base: old/results.json, Python 3.11.7, 2026-11-23"."""
    texts = []
    for name, side in comparison.sides.items():
        facts = [*side.runs, side.environment, f"Python {side.python}" if side.python else ""]
        facts.append(side.date[:10])
        texts.append(f"{name}: {', '.join(fact for fact in facts if fact)}")
    return texts


def _draw(axes: Axes, cells: list[ComparedCell], threshold: float) -> None:
    ratios = [(cell, _ratio(cell)) for cell in cells]
    ends = [end for cell, ratio in ratios for end in (cell.lo or ratio, cell.hi or ratio, ratio)]
    most = max([1 + 2 * threshold, *ends, *(1 / end for end in ends if end > 0)]) ** 1.05
    axes.set(xscale="log", xlim=(1 / most, most))
    axes.axvspan(1 / (1 + threshold), 1 + threshold, color=PALE, alpha=0.6, linewidth=0)
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.xaxis.set_major_locator(FixedLocator(ticks(most)))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda ratio, _: f"{ratio:.3g}x".replace("e+0", "e"))
    )
    axes.xaxis.set_minor_locator(NullLocator())
    for row, (cell, ratio) in enumerate(ratios):
        color, marker = STYLES.get(cell.result, STYLES["SAME"])
        if cell.interval is not None:
            ends = [max(cell.interval[0], 1 / most), min(cell.interval[1], most)]
            axes.plot(ends, [row + 0.5] * 2, color=color, linewidth=1.6, solid_capstyle="butt")
        filled = cell.result not in UNFILLED
        axes.plot([ratio], [row + 0.5], marker=marker, markersize=5.5, color=color,
                  markerfacecolor=color if filled else PAPER, linestyle="none")  # fmt: skip


def ticks(most: float) -> list[float]:
    """Ratios for ticks, from 1 outward, with enough distance for their labels."""
    steps = (1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 30, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
    kept = [1.0]
    for step in steps:
        if step <= most and math.log(step / kept[-1]) >= math.log(most) / 4.5:
            kept.append(step)
    return sorted({*kept, *(1 / step for step in kept)})


def _draw_key(made: Forest, results: set[str]) -> None:
    x, y = made.key
    for result, (color, marker) in STYLES.items():
        if result not in results:
            continue
        made.canvas.plot([x + 0.1], [y], marker=marker, color=color, markersize=5.5,
                         markerfacecolor=color if result not in UNFILLED else PAPER,
                         linestyle="none")  # fmt: skip
        made.canvas.text(x + 0.25, y, result, fontsize=SMALL + 1, va="center")
        x += 0.25 + text_width(result, SMALL + 1) + 0.3
