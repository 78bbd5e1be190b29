"""Formats the numbers and words of a results document for people."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

from dlbench import _core
from dlbench.document import CodedWarning, Measured, NotMeasured
from dlbench.document.facts import COPIED, WIDE, is_near_floor, is_wide, lost
from dlbench.text.layout import count

number = _core.format_number  #: (1.4812, 0.2) -> "1.5"; the half-width may be left out
duration = _core.format_duration  #: (1733.0, 200.0) -> "1.7 us", in ns
percent = _core.format_share  #: 0.031 -> "3.1 %"
size = _core.format_bytes  #: 4096 -> "4 KiB", 1000 -> "1000 B"
TWO_DIGITS = Context(prec=2, rounding=ROUND_HALF_UP)
#: The meaning of marks.
LOSES_TEXT = "drops or converts a property"
NEAR_FLOOR_TEXT = f"less than {_core.near_floor:g}x the overhead floor"
WIDE_TEXT = f"interval wider than +-{WIDE * 100:.0f} %"
#: The meaning of a cell's key `interval`.
INTERVALS = {
    "within": "95 %, within one process",
    "processes": "95 %, between processes",
    "range": "range of too few for 95 %",
    "": "unknown kind of interval",
}
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{9,}\b")
SHORT_WORDS = {"no-protocol": "-", "out-of-memory": "no-memory", "not-installed": "absent"}


def ratio(entry: Measured, other: Measured) -> str:
    """The ratio of two times, rounded to the digits that their intervals support: "1.48", "40"."""
    value = entry.median_ns / other.median_ns
    shares = (each.half_width / each.median_ns for each in (entry, other))
    return number(value, value * sum(shares))


def time(entry: Measured) -> str:
    """The median of a cell with the digits that its interval supports: "41 ns"."""
    return duration(entry.median_ns, entry.half_width)


def interval_ends(entry: Measured) -> str:
    """ "35 .. 47 ns": rounded as the median is, which therefore lies between them."""
    low, high = (duration(end, entry.half_width) for end in (entry.lo_ns, entry.hi_ns))
    bare, _, unit = low.partition(" ")
    return f"{bare if high.endswith(' ' + unit) else low} .. {high}"


def widths(entries: Iterable[Measured]) -> str:
    """Half-widths of the intervals over their medians, the median one and the widest: "+-1.2 %,
    worst 14 %"; empty where no interval is known."""
    shares = [entry.half_width / entry.median_ns for entry in entries if entry.half_width]
    if not shares:
        return ""
    if len(shares) == 1:
        return spread(shares[0])
    return f"{spread(statistics.median(shares))}, worst {percent(max(shares))}"


def duration_range(low_ns: float, high_ns: float) -> str:
    """ "44.0..87.6 ns", "999 ns..1.01 us"."""
    bare, _, unit = duration(low_ns).partition(" ")
    high = duration(high_ns)
    return f"{bare}..{high}" if high.endswith(f" {unit}") else f"{bare} {unit}..{high}"


def with_signs(text: str) -> str:
    """The text for a figure or a page, where a plus-minus sign can be drawn."""
    return text.replace("+-", "\u00b1")


def spread(half_width: float) -> str:
    """ "+-3.1 %", "over +-1000 %"."""
    text = percent(half_width)
    return text.replace("over ", "over +-") if text.startswith("over ") else f"+-{text}"


def interval(entries: Iterable[Measured]) -> str:
    """The kind of interval of these cells: "95 %, within one process"."""
    kinds = dict.fromkeys(entry.interval for entry in entries)
    return " or ".join(INTERVALS.get(kind, INTERVALS[""]) for kind in kinds)


def rate(gb_per_s: float) -> str:
    """Without the unit, a half rounded up as on the page: "2.2", "16", "0.013"."""
    if gb_per_s < 10:
        return f"{TWO_DIGITS.create_decimal(gb_per_s).normalize():f}"
    return f"{Decimal(gb_per_s).quantize(Decimal(1), ROUND_HALF_UP)}"


def extent(numbers: Iterable[float], text: Callable[[float], str] = str, to: str = "..") -> str:
    """ "12", "12..24": the smallest and the largest number."""
    ordered = sorted(numbers)
    return to.join(dict.fromkeys(map(text, (ordered[0], ordered[-1]))))


def floors(gb_per_s: Mapping[str, float], device: str, size: int) -> str:
    """The reference rates after a copy's rate: " (memcpy 16, fresh pages 0.5)" for copies of this
    size; between a device and the host " (memcpy pinned 25, pageable 9.1)"."""
    names = [(f"warm {size}", "memcpy"), (f"fresh {size}", "fresh pages")]
    if device != "cpu":
        names = [(f"{device} {size}", "memcpy"), (f"{device} pinned {size}", "memcpy pinned")]
        names += [(f"{device} pageable {size}", "memcpy pageable")]
    known = [f"{name} {rate(gb_per_s[key])}" for key, name in names if key in gb_per_s]
    return f" ({', '.join(known)})" if known else ""


def instructions(entry: Measured) -> str:
    """ "2,312"; empty where they were not counted."""
    return f"{entry.instructions:,.0f}" if entry.instructions else ""


def below(entry: NotMeasured) -> str:
    """ "< 31.2 ns": the text for a time with an upper bound only."""
    return f"< {duration(entry.below_ns)}"


def marks(entry: Measured) -> tuple[str, str]:
    """The marks before and after a number: "~" near the floor; "*" copied, "?" not proven, then "!"
    if it drops or converts a property, and "^" if its interval is wide."""
    before = "~" if is_near_floor(entry) else ""
    after = "*" if entry.outcome in COPIED else "?" if entry.outcome == "unproven" else ""
    after += "!" if lost(entry) else ""
    return before, after + ("^" if is_wide(entry) else "")


def word(entry: NotMeasured) -> str:
    """The text of a cell without a number."""
    return below(entry) if entry.is_below else SHORT_WORDS.get(entry.outcome, entry.outcome)


def reason(entry: NotMeasured) -> str:
    """The reason, in one line, why a cell has no number, as the library reported it, without
    addresses of objects, which differ in each run."""
    lines = [line.strip() for line in entry.reason.splitlines() if line.strip()]
    text = lines[0] if lines else ""
    parts = [text] if text else []
    for word in (entry.exception, entry.signal):
        if word and word not in text:
            parts.insert(0, word)
    return ADDRESS.sub("0x...", ": ".join(parts)) or entry.outcome


def warning_meaning(warning: CodedWarning) -> str:
    """The warning's text; if that is only the code, the code's meaning."""
    is_bare = warning.text == warning.code.replace("-", " ")
    return _core.warnings.get(warning.code, warning.text) if is_bare else warning.text


def warning_text(warning: CodedWarning) -> str:
    """The warning's text; if that is only the code, followed by the code's meaning."""
    meaning = warning_meaning(warning)
    return meaning if meaning == warning.text else f"{warning.text}: {meaning}"


def shared_reason(entries: Sequence[NotMeasured]) -> str:
    """The first reason, and the number of others. Reasons that differ only in numbers count as
    one, unless they are of wrong results for equal arrays."""
    first = entries[0]
    kinds = {re.sub("[0-9][0-9a-fx., ]*", "", reason(entry)) for entry in entries}
    alike = {
        reason(entry)
        for entry in entries
        if entry.outcome == "wrong" and (entry.case, entry.bytes) == (first.case, first.bytes)
    }
    others = max(len(kinds), len(alike)) - 1
    text = reason(first)
    return f"{text} (and {count(others, 'other reason')})" if others else text
