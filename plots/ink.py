"""Dark and light ink, and the colors on which each is readable, for figures and the page."""

from __future__ import annotations

INK = "#1a1a1a"
PAPER = "#ffffff"
#: Ink on a color: black, because with a lighter ink some colors have a contrast below 4.5 to both
#: inks.
BLACK = "#000000"
#: Relative luminance (WCAG 2) of a color above which black has more contrast than white.
BLACK_ABOVE = 0.179
