"""Comparisons made up for tests, in the shape of `dlbench compare`."""

from __future__ import annotations

import itertools
from typing import Any

import samples

AXES = ("phase", "clock", "producer", "consumer", "protocol", "device", "case", "bytes",
        "environment")  # fmt: skip


def cell(
    name: str, base: dict[str, Any] | None, head: dict[str, Any] | None, threshold: float
) -> dict[str, Any]:
    """One cell; a change beyond the threshold is one, whatever the intervals."""
    some = head or base or {}
    made = {"name": name, **{axis: some[axis] for axis in AXES}}
    made |= {"machine": some["machine"]} if some.get("machine") else {}
    made["presence"] = "both" if base and head else "gained" if head else "lost"
    for side, entry in (("base", base), ("head", head)):
        made[side] = entry.get("real_time") if entry else None
        made[f"{side}_outcome"] = entry["outcome"] if entry else None
        made[f"{side}_workers"] = 1 if entry else 0
    made |= dict.fromkeys(("ratio", "lo", "hi", "p", "spread", "minimum_detectable_change"))
    made |= dict.fromkeys(("verdict", "inconclusive", "outcome_change"))
    if made["base"] and made["head"]:
        ratio = made["head"] / made["base"]
        slow, fast = ratio > 1 + threshold, ratio < 1 / (1 + threshold)
        made |= {"ratio": ratio, "lo": ratio * 0.98, "hi": ratio * 1.02, "p": 0.5}
        made |= {
            "verdict": "SLOW" if slow else "FAST" if fast else "SAME",
            "minimum_detectable_change": 0.06,
        }
    worse = base and head and (base["outcome"], head["outcome"]) == ("zero-copy", "copy")
    details = [f"{made['base_outcome']} -> {made['head_outcome']}"] if worse else []
    return made | {"outcome_change": "worse" if worse else None, "details": details}


def of(base: dict[str, Any], head: dict[str, Any], threshold: float = 0.05) -> dict[str, Any]:
    """Base against head, cell by cell."""
    sides = [{e["name"]: e for e in d["benchmarks"] + d["not_measured"]} for d in (base, head)]
    names = sorted({*sides[0], *sides[1]})
    cells = [cell(name, sides[0].get(name), sides[1].get(name), threshold) for name in names]
    verdicts = ("FAST", "SLOW", "SAME", "AMBIG", "INCONCLUSIVE")
    counts = {
        v: sum(c["verdict"] == v for c in cells if v in ("FAST", "SLOW") or not c["outcome_change"])
        for v in verdicts
    }
    counts |= {p: sum(c["presence"] == p for c in cells) for p in ("gained", "lost")}
    side = {"environment": "", "date": "2026-01-01", "libraries": {}, "python": "3.11.7"}
    return {
        "dlbench_comparison": 1,
        "version": "0.1.0",
        "metric": "time",
        "threshold": threshold,
        "false_alarms": 0.01,
        "base": {"runs": ["base"], **side},
        "head": {"runs": ["head"], **side},
        "counts": counts
        | {w: sum(c["outcome_change"] == w for c in cells) for w in ("worse", "better", "other")},
        "minimum_detectable_change": {"least": 0.03, "median": 0.06, "most": 0.2},
        "inconclusive": {
            "cells": 0,
            "of": len(cells),
            "replicas": None,
            "unknown": 0,
            "undecidable": 0,
        },
        "left_out": {"base": 0, "head": 0},
        "warnings": [],
        "cells": cells,
    }


def alike_but_for_two_axes(head_times: float = 1.0) -> dict[str, Any]:
    """One pair with a long name in two environments on two machines, each phase a cell."""
    places = itertools.product(
        ("exchange", "query", "export", "import", "release"), ("default", "old"), ("box", "gpu")
    )
    sides: tuple[list[Any], list[Any]] = ([], [])
    for phase, environment, machine in places:
        axes = {"phase": phase, "environment": environment, "machine": machine}
        for ns, side in zip((100.0, 100.0 * head_times), sides, strict=True):
            entry = samples.measured("array_api_strict", "a_long_library", ns, **axes)
            side.append(entry | {"name": f"{entry['name']}/machine:{machine}"})
    base, head = (samples.document(*side) for side in sides)
    return of(base, head)


def of_instructions(ratio: float) -> dict[str, Any]:
    """A cell whose count differs: without noise the ratio is its own interval, and all beyond the
    threshold could have been seen."""
    entries = (samples.measured("numpy", "torch", round(1234 * times)) for times in (1.0, ratio))
    made = of(*map(samples.document, entries), threshold=0.01)
    for one in made["cells"]:
        one |= {"lo": one["ratio"], "hi": one["ratio"], "minimum_detectable_change": 0.01}
    minimum_detectable_change = dict.fromkeys(("least", "median", "most"), 0.01)
    return made | {"metric": "instructions", "minimum_detectable_change": minimum_detectable_change}
