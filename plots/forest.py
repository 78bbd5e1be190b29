"""A figure of rows: a label on the left, an axis in the middle, a word on the right."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawing import GREY, MARGIN, PALE, SMALL, page, text_width

HEADING, BOTTOM = 0.86, 0.62  # inches, as all measures here
ROW, WIDE = 0.26, 5.2
LABEL = 8.5  # points


@dataclass(frozen=True)
class Forest:
    """The figure, its axes with rows at 0.5, 1.5, ... from above, and the place of the key."""

    figure: Figure
    canvas: Axes
    axes: Axes | None
    key: tuple[float, float]

    def name_axis(self, subtitle: str) -> None:
        """Below the axis, at the right end of the key's line."""
        x, y = self.key
        self.canvas.text(
            x + WIDE, y, subtitle, fontsize=SMALL + 1, color=GREY, ha="right", va="center"
        )


def forest(
    title: str, subtitle: str, labels: list[str], words: list[str], notes: list[str], nothing: str
) -> Forest:
    """A figure for rows with these labels; shows the text `nothing` if the list is empty."""
    # Labels are not cut, because two rows could then look equal.
    left = MARGIN + max([1.0, *(text_width(label, LABEL) for label in labels)]) + 0.12
    right = max([0.8, *(text_width(word, LABEL) for word in words)]) + 0.15
    body = max(ROW * len(labels), 0.6)
    made = page(title, subtitle, left + WIDE + right + MARGIN, (HEADING, body, BOTTOM), notes,
                "" if labels else nothing)  # fmt: skip
    figure, canvas, below = made.figure, made.canvas, made.bottom
    if not labels:
        return Forest(figure, canvas, None, (left, below - 0.42))
    axes = made.add_axes(left, below, WIDE, body)
    axes.set_ylim(body / ROW, 0)
    axes.yaxis.set_visible(False)
    axes.grid(axis="x", color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL + 0.5, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    for index, (label, word) in enumerate(zip(labels, words, strict=True)):
        y = below + body - ROW * (index + 0.5)
        canvas.text(left - 0.1, y, label, fontsize=LABEL, ha="right", va="center")
        canvas.text(left + WIDE + 0.1, y, word, fontsize=LABEL, va="center")
    return Forest(figure, canvas, axes, (left, below - 0.42))
