"""One cell in the words of the pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from dlbench import values
from dlbench.analysis import history
from dlbench.analysis.archive import Change, Point, Series
from dlbench.document import Entry, Measured, NotMeasured
from dlbench.document.facts import COPIED, DULL, lost
from dlbench.findings import FAULTS

#: What the pages say of an outcome, as a class of the style: no other fact has a color.
STATES = {
    "shared": "the consumer uses the producer's memory",
    "copied": "the bytes are copied",
    "unproven": "shared or copied: the instruments do not prove which",
    "refused": "the call raised, or one of the two cannot do it",
    "broken": "wrong values, a crash or a hang",
    "absent": "no protocol of this kind in common, one is not installed, or not measured",
}


def state(entry: Entry) -> str:
    """One of STATES."""
    found = entry.observed_outcome
    if found == "zero-copy":
        return "shared"
    if found in COPIED:
        return "copied"
    if found == "unproven":
        return "unproven"
    if entry.outcome in FAULTS or found in FAULTS:
        return "broken"
    return "absent" if entry.outcome in (*DULL, "not-run") else "refused"


def cost(entry: Entry) -> str:
    """The time of an exchange, or the word of its outcome."""
    if isinstance(entry, Measured):
        before, after = values.marks(entry)
        return before + values.time(entry) + after.strip("*?!")
    assert isinstance(entry, NotMeasured)
    return values.word(entry)


def lowest(entry: Entry) -> str:
    """The time by which steps are found: the median of the workers' lowest rounds."""
    found = history.lowest([entry])
    return values.duration(found, found / 100) if found else cost(entry)


def memory(entry: Entry) -> str:
    """Who copies, what is lost, or the short reason why there is no time: "copy by jax"."""
    if isinstance(entry, NotMeasured):
        why = entry.exception or entry.signal or entry.code
        return "" if why in (entry.outcome, values.word(entry)) else why
    found = state(entry)
    by = f" by {entry.copying_library}" if entry.copying_library else ""
    words = {"copied": f"copy{by}", "unproven": "not proven"}.get(found, found)
    return f"{words}, drops {' and '.join(lost(entry))}" if lost(entry) else words


def protocol(entry: Entry) -> str:
    """What was used: "dlpack, versioned 1.1, read-only"."""
    seen = entry.observed
    version = ".".join(map(str, seen.version))
    words = [seen.used, f"{seen.struct} {version}".strip(), *seen.flags]
    return ", ".join([*filter(None, words), *["via a proxy"] * (seen.via == "proxy")])


def evidence(entry: Entry) -> str:
    """What each instrument found: "same memory by address, write"."""
    words = {"yes": "same memory by ", "no": "other memory by "}
    found = {
        word: [name for name, proof in entry.evidence.items() if proof == word] for word in words
    }
    return "; ".join(words[word] + ", ".join(names) for word, names in found.items() if names)


def reason(entry: Entry) -> str:
    return values.reason(entry) if isinstance(entry, NotMeasured) else ""


def interval(entry: Entry) -> str:
    return values.interval_ends(entry) if isinstance(entry, Measured) else ""


def instructions(entry: Entry) -> str:
    return values.instructions(entry) if isinstance(entry, Measured) else ""


def size(entry: Entry) -> str:
    many = f" x {entry.arrays}" if entry.arrays != 1 else ""
    return values.size(entry.bytes) + many


def labels(points: Sequence[Point]) -> list[str]:
    """What differs between the points of a history: the versions of one library or both, or the
    dates."""
    differ = [len({point.versions[side] for point in points}) > 1 for side in (0, 1)]
    if differ[0] and all(point.versions[0] == point.versions[1] for point in points):
        differ[1] = False
    found = [
        " / ".join(v for v, does in zip(point.versions, differ, strict=True) if does)
        for point in points
    ]
    before = ["", *found]
    return [
        point.run.date if text == last else text
        for last, text, point in zip(before, found, points, strict=False)
    ]


def chart(series: Series) -> str:
    """The history of a cell for the script of the page: its points, and its steps."""
    points, names = series.points, labels(series.points)
    made = {
        "title": f"{series.newest.entry.protocol}, {size(series.newest.entry)}",
        "labels": names,
        "points": list(_times(points, names)),
        "steps": [[_place(change, points), change.kind] for change in series.changes],
    }
    return json.dumps(made)


def _place(change: Change, points: Sequence[Point]) -> int:
    """The first point of the versions after the change; of the same versions its own."""
    if change.libraries:
        return [point.versions for point in points].index(change.after.versions)
    return points.index(change.after)


def _times(points: Sequence[Point], names: Sequence[str]) -> Iterator[list[object]]:
    """The place, the time, its ends, a text and the run; the times may be missing."""
    for i, (point, name) in enumerate(zip(points, names, strict=True)):
        entry = point.entry
        rounds = history.times(entry)
        facts = [name, cost(entry), memory(entry), instructions(entry), point.run.date]
        facts[3] = f"{facts[3]} instructions" if facts[3] else ""
        text = ", ".join(filter(None, facts))
        if rounds:
            yield [i, history.lowest([entry]), min(rounds), max(rounds), text, point.run.name]
        else:
            yield [i, None, None, None, text, point.run.name]
