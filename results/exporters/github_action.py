"""github-action-benchmark's `customSmallerIsBetter`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def export(document: Mapping[str, Any]) -> str:
    """A list of `{name, unit, value, range, extra}`. The reader knows one symmetric range: it is
    the longer half of the interval."""
    versions = _versions(document)
    made = [_item(entry, versions) for entry in document["benchmarks"]]
    return json.dumps(made, indent=1, allow_nan=False) + "\n"


def _item(entry: Mapping[str, Any], versions: Mapping[str, str]) -> dict[str, Any]:
    value = entry["real_time"]
    half = max(entry["hi_ns"] - value, value - entry["lo_ns"], 0.0)
    sides = dict.fromkeys((entry["producer"], entry["consumer"]))
    told = [entry["outcome"]]
    told += [f"{name} {versions[name]}" for name in sides if name in versions]
    told += [f"warning: {warning}" for warning in entry["warnings"]]
    return {
        "name": entry["name"],
        "unit": "ns",
        "value": value,
        "range": f"\u00b1 {half:.6g}" if half < 1e6 else f"\u00b1 {half:.0f}",
        "extra": "\n".join(told),
    }


def _versions(document: Mapping[str, Any]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for environment in document["context"]["dlbench"]["environments"].values():
        versions = {**environment["libraries"], **versions}
    return versions
