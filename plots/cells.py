"""One cell of the matrix: a color and a number, or a hatch and a word."""

from __future__ import annotations

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, to_rgb
from matplotlib.patches import Polygon, Rectangle

from dlbench import values
from dlbench.document import Entry, Measured, NotMeasured

from .drawing import PALE, fitting
from .ink import BLACK, BLACK_ABOVE, INK, PAPER

WIDTH, HEIGHT = 0.80, 0.44  # inches
VALUE = 9.0  # points
COLORS = colormaps["viridis_r"]
NO_NUMBER, HATCH = "#ececec", "////"
LINE, OUTLINE = 1.2, 1.5  # points
Color = tuple[float, float, float, float]


def outline(corner: tuple[float, float]) -> Rectangle:
    return Rectangle(corner, WIDTH, HEIGHT, fill=False, edgecolor=INK, linewidth=OUTLINE, zorder=5)


def flag(right: float, top: float, color: str) -> Polygon:
    """The mark for a copy: a folded corner."""
    side = 0.13
    corners = [(right, top), (right - side, top), (right, top - side)]
    return Polygon(corners, facecolor=color, edgecolor="none", zorder=4)


def _box(x: float, y: float, face: str | Color, edge: str, hatch: str | None = None) -> Rectangle:
    # The edge's color is the hatch's; the white lines between cells are drawn later.
    line = 0.0 if hatch else LINE
    return Rectangle((x, y), WIDTH, HEIGHT, facecolor=face, edgecolor=edge, hatch=hatch,
                     linewidth=line)  # fmt: skip


def draw(canvas: Axes, entry: Entry | None, x: float, y: float, norm: LogNorm) -> None:
    if entry is None:
        canvas.add_patch(_box(x, y, PAPER, NO_NUMBER))
    elif isinstance(entry, Measured):
        _draw_number(canvas, entry, x, y, COLORS(norm(entry.median_ns)))
    elif isinstance(entry, NotMeasured):
        _draw_word(canvas, values.word(entry), x, y)


def _draw_word(canvas: Axes, word: str, x: float, y: float) -> None:
    canvas.add_patch(_box(x, y, NO_NUMBER, PALE, HATCH))
    canvas.add_patch(_box(x, y, "none", PAPER))
    text = "\u2013" if word == "-" else word
    size = fitting(text, VALUE - 1, WIDTH - 0.14)
    canvas.text(x + WIDTH / 2, y + HEIGHT / 2, text, fontsize=size, color="#444444",
                ha="center", va="center",
                bbox={"facecolor": NO_NUMBER, "edgecolor": "none", "pad": 0.8})  # fmt: skip


def _draw_number(canvas: Axes, entry: Measured, x: float, y: float, color: Color) -> None:
    canvas.add_patch(_box(x, y, color, PAPER))
    ink = _ink_on(color)
    before, after = values.marks(entry)
    text = before + values.time(entry) + after.replace("*", "")  # a copy has a flag
    canvas.text(x + WIDTH / 2, y + HEIGHT / 2, text, color=ink, ha="center", va="center",
                fontsize=fitting(text, VALUE, WIDTH - 0.10),
                style="italic" if before else "normal",
                alpha=0.62 if before else 1.0)  # fmt: skip
    if "*" in after:
        canvas.add_patch(flag(x + WIDTH - 0.03, y + HEIGHT - 0.03, ink))


def _ink_on(color: Color) -> str:
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return BLACK if luminance > BLACK_ABOVE else PAPER
