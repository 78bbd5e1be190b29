"""Dark and light ink, and on which colors each stands out; for figures and the page alike."""

from __future__ import annotations

INK = "#1a1a1a"
PAPER = "#ffffff"
#: On a color: black, since with any lighter ink some colors have a contrast below 4.5 to both.
BLACK = "#000000"
#: Relative luminance of a color (WCAG 2) above which black stands out more than white.
BLACK_ABOVE = 0.179
