"""Numbers and words of a results document, as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Entry = Mapping[str, Any]

COPIED = ("copy", "device-copy")
NEAR_FLOOR = 2.0  #: a median below this many floors is mostly the instrument's own time
#: What `changed` names though every value, and all that the array carried, is still there.
DESCRIPTION = ("dtype", "shape", "layout", "type")
#: What an interval is, by the key `interval` of its cell.
INTERVALS = {
    "within": "95 %, within one process",
    "processes": "95 %, between processes",
    "range": "range of too few for 95 %",
    "": "of unknown kind",
}
SHORT_WORDS = {"no-protocol": "-", "out-of-memory": "no-memory", "not-installed": "absent"}


def significant(value: float) -> str:
    """Three significant digits without an exponent, for 0 < value < 1000: "1.23", "45.6", "789"."""
    for digits, limit in ((2, 9.995), (1, 99.95)):
        if value < limit:
            return f"{value:.{digits}f}"
    return f"{value:.0f}"


def duration(nanoseconds: float) -> str:
    """ "112 ns", "1.73 us", "16.6 ms", "2.05 s"."""
    value, unit = nanoseconds, "ns"
    for larger in ("us", "ms", "s"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{significant(value) if value < 999.5 else format(value, '.0f')} {unit}"


def percent(share: float) -> str:
    """ "3.1 %"; two digits are enough for an error bar, and none where it says nothing."""
    value = share * 100
    if value > 1000:
        return "over 1000 %"
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.1f} %"


def interval(entries: Iterable[Entry]) -> str:
    """What `lo_ns` and `hi_ns` of these measured cells are: "95 %, within one process"."""
    kinds = dict.fromkeys(str(entry.get("interval", "")) for entry in entries)
    return " or ".join(INTERVALS.get(kind, INTERVALS[""]) for kind in kinds)


def rate(gb_per_s: float) -> str:
    """Without the unit: "2.2", "16", "0.013"."""
    return f"{gb_per_s:.2g}" if gb_per_s < 10 else f"{gb_per_s:.0f}"


def floors(gb_per_s: Mapping[str, float], device: str = "cpu") -> str:
    """What stands behind a copy's rate: " (memcpy 16, fresh pages 0.5)", or nothing; between a
    device and the host " (memcpy pinned 25, pageable 9.1)"."""
    names = [("warm", "memcpy"), ("fresh", "fresh pages")]
    if device != "cpu":
        names = [(device, "memcpy"), (f"{device} pinned", "memcpy pinned")]
        names += [(f"{device} pageable", "memcpy pageable")]
    known = [f"{name} {rate(gb_per_s[key])}" for key, name in names if key in gb_per_s]
    return f" ({', '.join(known)})" if known else ""


def size(count: int) -> str:
    """4096 -> "4 KiB", 1000 -> "1000 B"."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << power and count % (1 << power) == 0:
            return f"{count >> power} {unit}"
    return f"{count} B"


def import_order(entry: Entry) -> list[str]:
    """The pair's libraries as its worker imported them; by name where the entry does not tell."""
    names = sorted({entry["producer"], entry["consumer"]})
    imported = list(entry.get("imports", []))
    return imported if sorted(imported) == names else names


def instructions(entry: Entry) -> str:
    """ "2,312"; empty where they were not counted."""
    return f"{entry['instructions']:,.0f}" if entry.get("instructions") else ""


def is_measured(entry: Entry) -> bool:
    return "real_time" in entry


def is_below(entry: Entry) -> bool:
    """Was it timed on a device whose timer cannot tell its time from none? Then it is known to take
    less than `below_ns`."""
    return "below_ns" in entry


def below(entry: Entry) -> str:
    """ "< 31.2 ns": what stands in the place of a time that is below the timer's resolution."""
    return f"< {duration(entry['below_ns'])}"


def marks(entry: Entry) -> tuple[str, str]:
    """What stands before and after a number: "~" near the floor; "*" copied, "?" not proven."""
    before = "~" if 0 < entry.get("floor_ratio", NEAR_FLOOR) < NEAR_FLOOR else ""
    outcome = entry["outcome"]
    after = "*" if outcome in COPIED else "?" if outcome == "unproven" else ""
    return before, after


def lost(entry: Entry) -> list[str]:
    """What was dropped or converted of what the array held: "unit", "mask", "precision"."""
    return [word for word in entry.get("changed", ()) if word not in DESCRIPTION]


def word(entry: Entry) -> str:
    """What stands in a cell without a number."""
    if is_below(entry):
        return below(entry)
    outcome = str(entry["outcome"])
    return SHORT_WORDS.get(outcome, outcome)


def reason(entry: Entry) -> str:
    """Why a cell has no number, in one line and in the library's own words."""
    lines = [line.strip() for line in str(entry.get("reason", "")).splitlines() if line.strip()]
    text = lines[0] if lines else ""
    parts = [text] if text else []
    for word in (str(entry.get("exception", "")), str(entry.get("signal", ""))):
        if word and word not in text:
            parts.insert(0, word)
    return ": ".join(parts) or str(entry["outcome"])
