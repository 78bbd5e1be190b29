"""Times of real workers of one exchange, in the order in which they ran."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parents[1] / "core/stats/recorded_workers.cpp"


def records() -> list[np.ndarray]:
    text = RECORDED.read_text(encoding="utf-8")
    found = re.findall(r"kSeries\d\{(.*?)\};", text, re.DOTALL)
    return [np.array(re.findall(r"[\d.]+", series), float) for series in found]
