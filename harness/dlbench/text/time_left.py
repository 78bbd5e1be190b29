"""The remaining time of a command, estimated from the number of units that are done.

The shown time grows by at most a fifth at once. If more is left, the text is "over" that time
instead of a number that jumps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

MOST_GROWTH = 1.2  #: from one shown text to the next
GROWTH_S = 10.0  #: that growth needs so long; a bar is repainted more often than that
ENOUGH_UNITS = 3  #: done before anything is estimated
ENOUGH_SHARE = 0.03  #: of all units, likewise
ENOUGH_S = 2.0
FEW_S = 2.0  #: seconds for which "over" is not printed


def rounded(seconds: float, most: float = math.inf) -> float:
    """Seconds rounded for display: to one second, above a minute to five, from five minutes on to a
    minute. At most `most`, if that is one or more."""
    step = 1 if seconds < 60 else 5 if seconds < 297.5 else 60
    shown = step * round(seconds / step)
    return max(step, shown if shown <= most else step * math.floor(most / step))


def text(seconds: float) -> str:
    """ "12 s", "6 min"."""
    return f"{seconds:.0f} s" if seconds < 300 else f"{seconds / 60:.0f} min"


class TimeLeft:
    """The time left of `total` units, as a text to show."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Starts the time."""
        self._now, self._begin = now, now()
        self._before: int | None = None
        self._shown, self._shown_at = math.inf, 0.0

    def update(self, done: int) -> None:
        """Ignores units of an earlier session, which took no time in this one."""
        if self._before is None:
            self._before = done

    def show(self, done: int, total: int) -> str:
        """ "40 s left", "over 40 s left"; empty if unknown. Call it only for a text that is shown,
        because the next text depends on it."""
        self.update(done)
        left = self._estimate(done, total)
        if left is None or left <= 0:
            return ""
        now = self._now()
        growth = MOST_GROWTH ** min((now - self._shown_at) / GROWTH_S, 1.0)
        most = self._shown * growth
        shown = rounded(min(left, most), most)
        if shown != self._shown:
            self._shown, self._shown_at = shown, now
        is_over = left > MOST_GROWTH * shown + FEW_S
        return f"{'over ' if is_over else ''}{text(shown)} left"

    def _estimate(self, done: int, total: int) -> float | None:
        used = self._now() - self._begin
        fresh = done - (self._before or 0)
        enough = max(ENOUGH_UNITS, ENOUGH_SHARE * (total - (self._before or 0)))
        if fresh < enough or used < ENOUGH_S:
            return None
        return used / fresh * (total - done)
