"""One exchange in several environments: its time in each beside the first, with the ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from dlbench import _core, chance, values
from dlbench import document as documents
from dlbench.layout import columns, shorten
from dlbench.values import Entry

MOST_ROWS = 12
AXES = documents.EXCHANGE[1:]  #: all but the environment


def shared(
    document: dict[str, Any], protocols: Sequence[str]
) -> dict[tuple[Any, ...], dict[str, Entry]]:
    """The exchanges that were measured in more than one environment, at their smallest size."""
    found: dict[tuple[Any, ...], dict[str, Entry]] = {}
    for entry in document.get("benchmarks", []):
        whole = entry["phase"] == "exchange" and entry["clock"] == "call"
        if whole and entry["protocol"] in protocols:
            key = tuple(entry[axis] for axis in AXES)
            found.setdefault(key, {})[entry["environment"]] = entry
    several = {key: of for key, of in found.items() if len(of) > 1}
    smallest: dict[tuple[Any, ...], int] = {}
    for key in several:
        smallest[key[:5]] = min(key[5], smallest.get(key[:5], key[5]))
    return {key: of for key, of in several.items() if key[5] == smallest[key[:5]]}


@dataclass(frozen=True)
class Ratio:
    """How many times as long an exchange takes as in the first environment, with a 95 % interval;
    not `honest` where nothing is known of what two processes differ by."""

    value: float
    low: float
    high: float
    honest: bool

    def differs(self, times: float) -> bool:
        """Also where the interval is so many times as wide?"""
        low, high = (self.value * (end / self.value) ** times for end in (self.low, self.high))
        return self.honest and (low > 1 or high < 1)

    def text(self, times: float) -> str:
        if not self.honest:
            return f"{self.value:.2f}?"
        if not self.differs(times):
            return "within noise"
        return f"{self.value:.2f} ({self.low:.2f}..{self.high:.2f})"


def ratio(document: dict[str, Any], first: Entry, other: Entry) -> Ratio:
    """The other's time over the first's."""
    told = documents.environments(document)
    widths = [
        told.get(entry["environment"], {}).get("anchor", {}).get("half_width")
        for entry in (first, other)
    ]
    known = [width for width in widths if width is not None]
    before, after = (
        [worker["samples_ns"] for worker in entry["workers"]] for entry in (first, other)
    )
    return Ratio(*_core.ratio_of_medians(before, after, max(known) if known else None))


def table(document: dict[str, Any], protocols: Sequence[str], width: int) -> list[Text]:
    """Those that differ, the furthest first; empty for a run of one environment."""
    names = list(documents.environments(document))
    found = []
    for key, of in shared(document, protocols).items():
        first, *others = (of[name] for name in names if name in of)
        ratios = {other["environment"]: ratio(document, first, other) for other in others}
        found.append((key, of, ratios))
    if not found:
        return []
    times = chance.times_as_wide(sum(len(ratios) for _, _, ratios in found))
    told = [row for row in found if any(r.differs(times) or not r.honest for r in row[2].values())]
    told.sort(key=lambda row: -max(abs(r.value - 1) for r in row[2].values()))
    unsure = not any(r.honest for row in found for r in row[2].values())
    differing = sum(any(r.differs(times) for r in row[2].values()) for row in told)
    said = f"{differing} of {len(found)} exchanges take another time"
    said += f", {len(told) - differing} not known" if len(told) > differing else ""
    if unsure:
        said = "one process each, so nothing is known of chance (--replicas 6)"
    lines = [Text(shorten(f"beside {names[0]}   {said}", width), style="bold")]
    shown = [name for name in names if any(name in of for _, of, _ in told)]
    named = documents.differing(dict(zip(AXES, key, strict=True)) for key, _, _ in found)
    rows = [_row(*row, named, shown, times) for row in told[:MOST_ROWS]]
    if not rows:
        return lines
    heads = ["from -> to", "protocol", *named, *shown[:1]]
    for name in shown[1:]:
        heads += [name, "times"]
    laid_out = columns([heads, *rows], right=range(2 + len(named), len(heads)))
    return lines + [Text(shorten(f" {line}", width)) for line in laid_out]


def _row(
    key: tuple[Any, ...],
    of: dict[str, Entry],
    ratios: dict[str, Ratio],
    named: list[str],
    shown: list[str],
    times: float,
) -> list[str]:
    row = [f"{key[0]} -> {key[1]}", key[2], *(key[AXES.index(axis)] for axis in named)]
    for index, name in enumerate(shown):
        row.append(values.duration(of[name]["real_time"]) if name in of else "")
        if index:
            row.append(ratios[name].text(times) if name in ratios else "")
    return row
