"""The report: one self-contained HTML file for one run or several."""

from __future__ import annotations

from .page import write
from .run import Packed, pack

__all__ = ["Packed", "pack", "write"]
