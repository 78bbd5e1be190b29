"""Runs of several dates and versions, made up for the tests of the site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import samples

WORKERS = 6
#: What a worker's lowest round lies above the lowest of all.
SPREAD = [1 + 0.001 * i for i in range(WORKERS)]


def timed(
    producer: str, consumer: str, ns: float, lowest: float = 0.0, **given: Any
) -> dict[str, Any]:
    """A cell that six workers measured within 1 %; their lowest rounds are the median."""
    samples_ns = [[(lowest or ns) * share] for share in SPREAD]
    workers = [{"median_ns": ns, "first_ns": 0.0, "samples_ns": of} for of in samples_ns]
    return samples.measured(producer, consumer, ns, workers=workers, **given)


def run(
    month: int, *entries: dict[str, Any], host: str = "host", **versions: str
) -> dict[str, Any]:
    """A run on the first day of a month of 2026."""
    made = samples.document(*entries)
    made["context"] |= {"date": f"2026-{month:02}-01T00:00:00+00:00", "host_name": host}
    environment = made["context"]["dlbench"]["environments"]["default"]
    environment["libraries"] = {"numpy": "2.4.6", "torch": "2.13.0"} | versions
    return made


def pair(month: int, copies: bool, torch: str, ns: float = 900.0, **given: Any) -> dict[str, Any]:
    """numpy and torch, which copies or not."""
    copied: dict[str, Any] = {"outcome": "copy", "copied_by": "consumer", "gb_per_s": 2.0}
    plain = timed("numpy", "torch", ns, instructions=5000.0, **(copied if copies else {}))
    others = [timed("numpy", "numpy", 110.0, instructions=2300.0),
              timed("torch", "numpy", 1700.0, instructions=9000.0),
              samples.missing("torch", "torch", "refused", "needs <grad>",
                              exception="BufferError")]  # fmt: skip
    return run(month, plain, *others, torch=torch, **given)


def over_versions(slow_from: int, count: int = 8, is_counted: bool = True) -> dict[str, Any]:
    """One run of several versions of NumPy, of which one changes the time, and the code."""
    made = run(6)
    environments = made["context"]["dlbench"]["environments"]
    facts = environments.pop("default")
    for minor in range(count):
        name = f"2.{minor}.0"
        environments[name] = {**facts, "libraries": {"numpy": name}}
        slow = minor >= slow_from
        entry = timed("native", "numpy", 130.0 if slow else 100.0, environment=name,
                      instructions=(2600.0 if slow else 2000.0) * is_counted)  # fmt: skip
        made["benchmarks"].append(entry)
    return made


def write(folder: Path, *documents: dict[str, Any]) -> list[str]:
    """The paths of their files."""
    paths = []
    for number, document in enumerate(documents):
        path = folder / f"run{number}" / "results.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(document))
        paths.append(str(path))
    return paths
