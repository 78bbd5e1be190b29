"""Instructions of an exchange's phases: its replay, counted."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dlbench.counting.profile import Function
from dlbench.document.facts import PHASES

#: The worker runs each part of a replay below a function of its own, in this order.
PARTS = (*PHASES, "proxy", "nothing")
_PART = re.compile(r"\bdlbench_part<(\d+)>")


def phases(entered: Mapping[Function, tuple[float, float]]) -> dict[str, float]:
    """Instructions of each phase in one exchange, from the calls of its parts and their inclusive
    cost.

    The cost of entering a part is subtracted, and the proxy's from the import, as with times.
    """
    calls = dict.fromkeys(PARTS, 0.0)
    costs = dict.fromkeys(PARTS, 0.0)
    for function, (times, cost) in entered.items():
        found = _PART.search(function.name)
        if found is not None:
            part = PARTS[int(found[1])]
            calls[part] += times
            costs[part] += cost
    each = costs["nothing"] / calls["nothing"] if calls["nothing"] else 0.0
    own = {part: costs[part] - calls[part] * each for part in PARTS}
    own["import"] -= own["proxy"]
    return {phase: own[phase] for phase in PHASES if calls[phase]}
