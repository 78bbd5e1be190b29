"""Libraries that failed to import after another library in earlier runs. Finding the pair among
twenty libraries takes twenty seconds of imports, so the result is cached for each pair of versions.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from itertools import permutations

from dlbench import _core
from dlbench.environments.environment import Environment
from dlbench.libraries import cache, discover

KIND = "order"


class ImportOrders:
    """The import orders of a run's libraries, by environment."""

    def __init__(
        self, libraries: Iterable[_core.Library], plan: _core.Plan, places: Iterable[Environment]
    ) -> None:
        used = discover.used_in(plan)
        by_name = {place.name: place for place in places}
        self._identities = {
            (one.environment, one.name): cache.identity(one, by_name[one.environment])
            for one in libraries
            if one.installed and (one.environment, one.name) in used
        }

    def known(self) -> list[_core.ImportOrder]:
        """The known orders, with the date of each in its reason."""
        found = []
        for library, before in permutations(self._identities, 2):
            if library[0] != before[0]:
                continue
            kept = cache.read(KIND, self._identities[library], self._identities[before])
            if kept is None or not {"outcome", "reason", "observed"} <= kept.keys():
                continue
            reason = f"{kept['reason']} (observed on {kept['observed']})"
            with contextlib.suppress(_core.UsageError):  # an outcome that does not exist
                order = _core.ImportOrder(*library, before[1], str(kept["outcome"]), reason)
                found.append(order)
        return found

    def keep(self, orders: Iterable[_core.ImportOrder]) -> None:
        """Stores the orders that a run found, and removes the reverse ones. A time-out is not
        stored, because a slow machine may cause it."""
        for one in orders:
            if one.outcome == "timed-out":
                continue
            answer = {"outcome": one.outcome, "reason": one.reason}
            answer["observed"] = time.strftime("%Y-%m-%d")
            library, before = (
                self._identities.get((one.environment, name)) for name in (one.library, one.before)
            )
            cache.forget(KIND, before, library)
            cache.write(answer, KIND, library, before)
