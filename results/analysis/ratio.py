"""The ratio of two exchanges' times, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlbench import values
from dlbench.analysis.scaling import log_half_width
from dlbench.document import Measured


@dataclass(frozen=True)
class Ratio:
    """Ratio of an exchange's time to its time in the first environment, with a 95 % interval. Not
    `honest` if the spread between processes is unknown.
    """

    value: float
    low: float
    high: float
    honest: bool

    def differs(self, times: float) -> bool:
        """Does the ratio differ from 1, with an interval `times` as wide?"""
        low, high = (self.value * (end / self.value) ** times for end in (self.low, self.high))
        return self.honest and (low > 1 or high < 1)

    def text(self, times: float) -> str:
        if not self.honest:
            return f"{values.number(self.value)}?"
        if not self.differs(times):
            return "within noise"
        half_width = max(self.high - self.value, self.value - self.low)
        shown = [values.number(each, half_width) for each in (self.value, self.low, self.high)]
        return "{} ({}..{})".format(*shown)


def ratio(first: Measured, other: Measured) -> Ratio:
    """The time of `other` over that of `first`, with the intervals that both are printed with."""
    value = other.median_ns / first.median_ns
    half_width = math.hypot(log_half_width(first), log_half_width(other))
    if math.isinf(half_width):
        return Ratio(value, value, value, honest=False)
    factor = math.exp(half_width)
    return Ratio(value, value / factor, value * factor, honest=True)
