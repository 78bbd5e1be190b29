"""A step summary: counts first, then what stands out, the tables folded; under 1 MiB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dlbench import document as documents
from dlbench import escaping, grid, ladder, terminal, values
from dlbench.errors import first_line
from dlbench.layout import count

from .tables import table

#: GitHub drops a step's summary that is larger than this; the rest is room for other summaries.
MOST_BYTES = 1024 * 1024 - 64 * 1024
#: What a reader must see without unfolding anything.
ALARMING = ("wrong", "race", "crashed", "timed-out", "out-of-memory", "import-failed")
MOST_REASONS = 400
LAST_WORD = 1024  #: bytes kept for what was left out


def export(document: Mapping[str, Any], most_bytes: int = MOST_BYTES, above: str = "") -> str:
    """GitHub's Markdown, at most so many bytes: what does not fit is left out, and it says so.
    `above`: what stands between the counts and the rest."""
    plain = dict(document)
    text = _head(plain) + above
    left_out: list[str] = []
    room = most_bytes - len(text.encode()) - LAST_WORD
    for title, body in _sections(plain):
        block = f"\n<details><summary>{title}</summary>\n\n{body}\n</details>\n"
        size = len(block.encode())
        if size > room:
            left_out.append(title)
            continue
        text, room = text + block, room - size
    if left_out:
        text += f"\nLeft out for its size: {', '.join(left_out[:3])}"
        text += f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        text += "; results.json has all of it.\n"
    return text


def _head(document: dict[str, Any]) -> str:
    counted = documents.exchanges(documents.entries(document))
    counts = Counter(map(ladder.outcome, counted))
    measured = sum(map(values.is_measured, counted))
    lines = [f"### dlbench: {measured} of {len(counted)} exchanges measured", ""]
    lines += [table(["outcome", "exchanges"], [[w, str(n)] for w, n in counts.most_common()], [1])]
    lines += [line for name, part in documents.by_machine(document) for line in _origin(name, part)]
    # Also one that failed on a single clock: its number on another must not hide it.
    alarming = (e for e in documents.entries(document) if e["outcome"] in ALARMING)
    loud = documents.exchanges(alarming)
    if loud:
        lines += [table(["", "cell", "why"], (_why(entry) for entry in loud[:40]))]
        lines += [f"and {len(loud) - 40} more", ""] if len(loud) > 40 else []
    return "\n".join(lines)


def _origin(machine: str, document: dict[str, Any]) -> list[str]:
    """The machine, then each environment's libraries, each with an empty line behind it."""
    cpu = documents.about(document).get("machine", {}).get("cpu", "")
    names = documents.environments(document)
    lines = []
    for name in names:
        versions = documents.versions(document, name).items()
        told = ", ".join(f"{library} {version}" for library, version in versions)
        place = name if len(names) > 1 else ""
        lines.append(" \u00b7 ".join(part for part in (machine, cpu, place, told) if part))
    return [text for line in lines if line for text in (escaping.markdown(line), "")]


def _why(entry: values.Entry) -> list[str]:
    return [str(entry["outcome"]), _cell(entry), first_line(values.reason(entry))[:300]]


def _cell(entry: values.Entry) -> str:
    usual = {"device": "cpu", "case": "f32", "clock": "call", "environment": "default"}
    told = [f"{entry['producer']} -> {entry['consumer']}", str(entry["protocol"])]
    told += [str(entry[axis]) for axis, value in usual.items() if entry[axis] != value]
    told += [str(entry["machine"])] if "machine" in entry else []
    return " ".join([*told, values.size(entry["bytes"])])


def _sections(document: dict[str, Any]) -> Iterable[tuple[str, str]]:
    for name, part in documents.by_machine(document):
        for one in terminal.matrices(part):
            if one.rows():
                title = f"{name}   {one.title}" if name else one.title
                yield escaping.markdown(title), _matrix(one)
    missing = documents.exchanges(document["not_measured"])
    telling = [
        e
        for e in missing
        if e["outcome"] not in grid.DULL and not ladder.is_untimed(e) and not values.is_below(e)
    ]
    if telling:
        reasons = Counter(
            (e["outcome"], f"{e['producer']} -> {e['consumer']}", e["protocol"],
             first_line(values.reason(e))[:300])
            for e in telling
        )  # fmt: skip
        rows = [[*key, str(times)] for key, times in reasons.most_common(MOST_REASONS)]
        title = f"Without a number: {count(len(telling), 'exchange')}, and why"
        yield title, table(["", "from -> to", "protocol", "why", "exchanges"], rows, [4])
    measured = document["benchmarks"]
    for begin in range(0, len(measured), 2000):
        part = measured[begin : begin + 2000]
        last = begin + len(part)
        title = f"All cells, {begin + 1} to {last}" if len(measured) > 2000 else "All cells"
        yield title, _cells(part)


def _matrix(one: grid.Grid) -> str:
    columns = one.columns()
    shown = [[row, *(_shown(one.entries.get((row, col))) for col in columns)] for row in one.rows()]
    legend = grid.legend([one])
    made = table([grid.CORNER.replace("\\", "\\\\"), *map(escaping.markdown, columns)], shown,
                 range(1, len(columns) + 1))  # fmt: skip
    return made + (f"\n{escaping.markdown(legend)}\n" if legend else "")


def _shown(entry: values.Entry | None) -> str:
    cell = grid.Shown.of(entry)
    return cell.before + cell.text + cell.after


def _cells(entries: Sequence[values.Entry]) -> str:
    rows = (
        [str(e["phase"]), _cell(e), values.duration(e["real_time"]),
         f"{values.duration(max(e['lo_ns'], 0.01))} .. {values.duration(max(e['hi_ns'], 0.01))}",
         values.interval([e]), str(e["outcome"]), "; ".join(e["changed"]), "; ".join(e["warnings"])]
        for e in entries
    )  # fmt: skip
    head = ["phase", "cell", "time", "interval", "which is", "outcome", "changed", "warnings"]
    return table(head, rows, [2, 3])
