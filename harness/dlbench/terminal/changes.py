"""A comparison as lines for a terminal; a line is never wider than requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from dlbench import values
from dlbench.analysis import compared
from dlbench.document import ComparedCell, Comparison
from dlbench.document.comparison import OPEN, RESULTS
from dlbench.text.layout import count, fitting, fold, listing, shorten, wrap

HEAD = ("from -> to", "protocol", "size", "base", "head", "change", "95 % interval", "verdict",
        "speed")  # fmt: skip
RIGHT = ("size", "base", "head", "change", "95 % interval")
#: Columns that are left out, in this order, until the table fits.
SPARE = ("head", "base", "95 % interval", "speed", "protocol")
STYLES = {"SLOW": "red", "worse": "red", "lost": "red", "FAST": "green", "better": "green",
          "gained": "green", "AMBIG": "yellow", "INCONCLUSIVE": "yellow",
          "other": "magenta"}  # fmt: skip
MOST_ROWS = 60


def lines(comparison: Comparison, width: int, *, everything: bool = False) -> list[Text]:
    """The sides, the rows (only of changed cells unless `everything`), and the summary."""
    shown = [Text(line) for line in _sides(comparison, width)]
    cells = [cell for cell in comparison.cells if everything or cell.is_changed]
    if not everything:
        absent = compared.absent_libraries(comparison)
        reported = {cell.name for found in absent.values() for cell in found}
        cells = [cell for cell in cells if cell.name not in reported]
        for (name, presence), found in absent.items():
            text = f"{presence}: {count(len(found), 'cell')} with {name}"
            shown.append(Text(shorten(text, width), style=STYLES[presence]))
    rows = _rows(cells, comparison.metric, width)
    shown += [Text(), *rows] if rows else []
    return [*shown, Text(), *_below(comparison, width, everything=everything)]


def _sides(comparison: Comparison, width: int) -> list[str]:
    made = []
    for name, side in comparison.sides.items():
        where = listing(side.runs, 1)
        what = f"{side.environment} of {where}" if side.environment else where
        made += fold([f"{name}  {what}", f"Python {side.python}", side.date], width)
    base, head = comparison.base.libraries, comparison.head.libraries
    moved = [
        f"{library} {base.get(library) or 'none'} -> {head.get(library) or 'none'}"
        for library in sorted({*base, *head})
        if base.get(library, "") != head.get(library, "")
    ]
    return [*made, *fold(moved, width)] if moved else made


def _rows(cells: Sequence[ComparedCell], metric: str, width: int) -> list[Text]:
    ordered = sorted(cells, key=lambda cell: cell.rank)[:MOST_ROWS]
    if not ordered:
        return []
    rows = [_row(cell, metric) for cell in ordered]
    heads = [head for head in HEAD if head != "speed" or any(row[head] for row in rows)]
    for axis, usual in compared.AXES.items():
        if any(cell.axis(axis) != usual for cell in ordered):
            heads.insert(2, axis)
    _, made = fitting(heads, rows, width, RIGHT, SPARE)
    shown = [Text(shorten(made[0], width), style="bold")]
    for cell, line in zip(ordered, made[1:], strict=True):
        shown.append(Text(shorten(line, width), style=STYLES.get(cell.result, "")))
        for detail in [*cell.details, *_explain_inconclusive(cell)]:
            shown.append(Text(shorten(f"    {detail}", width), style="dim"))
    if len(cells) > len(ordered):
        more = f"and {len(cells) - len(ordered)} more: --json lists all"
        shown.append(Text(shorten(more, width), style="dim"))
    return shown


def _explain_inconclusive(cell: ComparedCell) -> list[str]:
    """For an inconclusive cell: its minimum detectable change, the changes that its interval
    excludes, and the replicas that would decide it."""
    if cell.result != "INCONCLUSIVE":
        return []
    change, inconclusive = cell.minimum_detectable_change, cell.inconclusive
    text = f"detects {values.percent(change)}" if change is not None else "detects no change"
    if change is not None and cell.interval:
        low, high = cell.interval
        text += f", excludes changes above {values.percent(max(high, 1 / low) - 1)} (95 %)"
    if not inconclusive:
        return [text]
    needs = (
        f": about --replicas {inconclusive.replicas} would decide it"
        if inconclusive.replicas
        else ""
    )
    return [f"{text}; {inconclusive.code}{needs}"]


def _row(cell: ComparedCell, metric: str) -> dict[str, str]:
    row = {axis: cell.axis(axis) for axis in compared.AXES}
    row["from -> to"] = f"{cell.producer} -> {cell.consumer}"
    row["protocol"] = cell.protocol
    row["size"] = values.size(cell.bytes)
    row["base"] = compared.amount(cell.base, metric, cell.share) or cell.base_outcome or "-"
    row["head"] = compared.amount(cell.head, metric, cell.share) or cell.head_outcome or "-"
    row["change"] = compared.change(cell.ratio, cell.share) if cell.ratio is not None else ""
    row["95 % interval"] = compared.interval(cell) if metric == "time" else ""
    row["verdict"] = cell.result
    # The time of an exchange whose outcome changed has a verdict of its own.
    row["speed"] = cell.speed if cell.speed not in (cell.result, "SAME") else ""
    return row


def _below(comparison: Comparison, width: int, *, everything: bool) -> list[Text]:
    counts, see = comparison.counts, comparison.minimum_detectable_change
    reported = [
        (f"{counts[word]} {word}", STYLES.get(word, "")) for word in RESULTS if counts.get(word)
    ]
    summary = Text()
    for text, style in reported:
        summary.append("   " if summary else "")
        summary.append(text, style)
    shown = [summary] if reported else []
    if see and comparison.is_timed:
        least, middle, most = map(values.percent, (see.least, see.median, see.most))
        parts = [f"minimum detectable change: {middle}"]
        if least != most:
            parts = [f"{parts[0]} in the median cell", f"({least} to {most})"]
        shown += [Text(line) for line in fold(parts, width, gap=" ")]
    if comparison.aa:
        shown += [Text(line) for line in fold(_alarms(comparison.aa), width, gap=" ")]
    if (unsure := sum(counts.get(word, 0) for word in OPEN)) and not everything:
        text = f"{count(unsure, 'cell')} inconclusive or ambiguous: --all lists them"
        shown += [Text(line, style="yellow") for line in fold([text], width)]
    for warning in comparison.warnings:
        shown += [Text(line, style="yellow") for line in wrap(warning.text, width)]
    return shown


def _alarms(observed: Mapping[str, int]) -> list[str]:
    """The false alarms of equal sides."""
    cells, by_chance = observed["cells"], observed["cells"] / 20
    return [
        f"A/A: {count(observed['alarms'], 'false alarm')} in {count(cells, 'cell')};",
        f"{observed['outside_95']} outside their 95 % interval, {by_chance:.1f} expected by chance",
    ]
