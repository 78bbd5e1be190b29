"""The report: one self-contained HTML file for one run or several."""

from __future__ import annotations

from .page import write
from .parts import require
from .run import Packed, pack

__all__ = ["Packed", "pack", "require", "write"]
