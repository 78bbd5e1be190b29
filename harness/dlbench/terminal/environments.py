"""Environments side by side: the time of an exchange in each, with the ratio to the first."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dlbench import values
from dlbench.analysis import chance
from dlbench.analysis.ratio import Ratio, ratio
from dlbench.analysis.scaling import differing
from dlbench.document import EXCHANGE, Axis, Document, Measured
from dlbench.text.layout import columns, fold, shorten

MOST_ROWS = 12
AXES = EXCHANGE[1:]  #: all but the environment


Key = tuple[Axis, ...]


def shared(document: Document, protocols: Sequence[str]) -> dict[Key, dict[str, Measured]]:
    """The exchanges that were measured in more than one environment, at their smallest size."""
    found: dict[Key, dict[str, Measured]] = {}
    for entry in document.measured:
        if entry.is_exchange and entry.clock == "call" and entry.protocol in protocols:
            found.setdefault(entry.axes(AXES), {})[entry.environment] = entry
    several = {key: of for key, of in found.items() if len(of) > 1}
    smallest: dict[Key, int] = {}
    for key, of in several.items():
        size = next(iter(of.values())).bytes
        smallest[key[:-1]] = min(size, smallest.get(key[:-1], size))
    return {key: of for key, of in several.items() if key[-1] == smallest[key[:-1]]}


def table(document: Document, protocols: Sequence[str], width: int) -> list[Text]:
    """The exchanges that differ, the largest difference first; empty for a run of one
    environment."""
    # A document may have cells of an environment that it does not list.
    measured_in = (entry.environment for entry in document.measured)
    names = list(dict.fromkeys([*document.environments, *measured_in]))
    found = []
    for of in shared(document, protocols).values():
        first, *others = (of[name] for name in names if name in of)
        ratios = {other.environment: ratio(first, other) for other in others}
        found.append((of, ratios))
    if not found:
        return []
    times = chance.times_as_wide(sum(len(ratios) for _, ratios in found))
    listed = [
        row for row in found if any(r.differs(times) or not r.honest for r in row[1].values())
    ]
    listed.sort(key=lambda row: -max(abs(r.value - 1) for r in row[1].values()))
    unsure = not any(r.honest for row in found for r in row[1].values())
    number = sum(any(r.differs(times) for r in row[1].values()) for row in listed)
    summary = f"{number} of {len(found)} exchanges differ in time"
    summary += f", {len(listed) - number} not known" if len(listed) > number else ""
    if unsure:
        summary = "not decided: one process each; measure again with --replicas 3"
    lines = [Text(shorten(f"beside {names[0]}   {summary}", width), style="bold")]
    shown = [name for name in names if any(name in of for of, _ in listed)]
    named = differing(next(iter(of.values())) for of, _ in found)
    rows = [_row(*row, named, shown, times) for row in listed[:MOST_ROWS]]
    if not rows:
        return lines
    heads = ["from -> to", "protocol", *named, *shown[:1]]
    for name in shown[1:]:
        heads += [name, "times"]
    laid_out = columns([heads, *rows], right=range(2 + len(named), len(heads)))
    legend = [f"times: relative to {names[0]}, with its 95 % interval"]
    legend += (
        ["?: one process each, interval unknown"] if any("?" in row[-1] for row in rows) else []
    )
    lines += [Text(shorten(f" {line}", width)) for line in laid_out]
    return lines + [Text(line, style="dim") for line in fold(legend, width, gap="   ")]


def _row(
    of: dict[str, Measured],
    ratios: dict[str, Ratio],
    named: list[str],
    shown: list[str],
    times: float,
) -> list[str]:
    any_ = next(iter(of.values()))
    row = [f"{any_.producer} -> {any_.consumer}", any_.protocol]
    row += [str(any_.axis(axis)) for axis in named]
    for index, name in enumerate(shown):
        row.append(values.time(of[name]) if name in of else "")
        if index:
            row.append(ratios[name].text(times) if name in ratios else "")
    return row
