"""Dark and light ink, and the colors on which each is readable, for figures and the page."""

from __future__ import annotations

INK = "#1a1a1a"
PAPER = "#ffffff"
#: Dark ink on a color: black, because a lighter ink has a contrast below 4.5 on some colors, like
#: white.
BLACK = "#000000"
#: The relative luminance (WCAG 2) of a color above which black has more contrast than white.
BLACK_ABOVE = 0.179
