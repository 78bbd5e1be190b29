"""What the phases of real exchanges leave unexplained."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Mapping, Sequence

from dlbench.phases import UNSURE_NS, has_shares, whole_of
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting
from dlbench.values import Entry, is_measured

#: Shares of the exchange. Shorter ones have none: what a relay costs is known to OFF_NS only.
MEDIAN, MOST = 0.02, 0.05
OFF_NS = 20.0
#: Share of an exchange's instructions that may lie in no phase where the phases hold its work.
SAME_WORK = 0.01
#: How the words of a library's own warning begin, behind its kind.
LIBRARY_WARNS = "Warning: "
BLAMED = "Python blames a warning on the frame that called, and a replay has another"
WORDS = ("--phases", "all", "--sizes", "4KiB", "--protocols", "dlpack")


def trial(setting: Setting) -> list[Row]:
    """One row: the share that is left over, over all couples of the default matrix."""
    words = list(WORDS)
    if setting.short:
        words += ["--producers", "native,numpy", "--consumers", "native,numpy"]
    found = _exchanges(runs.run(setting.folder, "phases", words, setting.seed))
    if not found:
        return [Row("phases of exchanges", "no exchange could be told apart", False)]
    long = [entry for entry in found if has_shares(entry)]
    shares = [abs(entry["unexplained_ns"]) / whole_of(entry) for entry in long]
    off = [_told(entry, setting) for entry in found if not _explained(entry)]
    median = statistics.median(shares) if shares else 0.0
    good = median <= MEDIAN and len(off) <= 0.1 * len(found)
    return [
        Row(
            f"unexplained by the phases of {len(found)} exchanges",
            f"{median:.1%} in the median of the {len(long)} of {UNSURE_NS:.0f} ns and more; "
            f"{len(found) - len(off)} within {MOST:.0%} or {OFF_NS:.0f} ns",
            good,
            tuple(off),
        )
    ]


def _explained(entry: Entry) -> bool:
    left = abs(entry["unexplained_ns"])
    return bool(left <= MOST * whole_of(entry) or left <= OFF_NS)


def _exchanges(entries: Sequence[Entry]) -> list[Entry]:
    return [
        entry
        for entry in entries
        if is_measured(entry)
        and entry["phase"] == "exchange"
        and entry["clock"] == "call"
        and "unexplained_ns" in entry
    ]


def _told(entry: Entry, setting: Setting) -> str:
    said = runs.verdicts(entry)
    blamed = [BLAMED] if any(LIBRARY_WARNS in text for text in said) else []
    why = "; ".join([*said, *blamed, *_looked_again(entry, setting)])
    return f"{entry['producer']} -> {entry['consumer']}: {_left(entry)}: {why}"


def _left(entry: Entry) -> str:
    left, whole = entry["unexplained_ns"], whole_of(entry)
    return f"{left:.0f} of {whole:.0f} ns ({left / whole:.1%})"


def _looked_again(entry: Entry, setting: Setting) -> list[str]:
    """What a run of that couple alone tells: whether it is so again, and of what kind it is."""
    words = [*WORDS, "--producers", entry["producer"], "--consumers", entry["consumer"]]
    if shutil.which("valgrind") is not None:
        words += ["--count", "instructions"]
    name = f"phases-{entry['producer']}-{entry['consumer']}"
    entries = runs.run(setting.folder, name, words, setting.seed)
    again = _exchanges(entries)
    if not again:
        return ["not measured again"]
    told = [f"again {_left(again[0])}"]
    counts = {each["phase"]: each["instructions"] for each in entries if "instructions" in each}
    if "exchange" in counts and len(counts) > 1:
        told.append(_by_instructions(counts))
    return told


def _by_instructions(counts: Mapping[str, float]) -> str:
    whole = counts["exchange"]
    left = whole - sum(count for phase, count in counts.items() if phase != "exchange")
    told = f"{left:.0f} of its {whole:.0f} instructions are in no phase"
    same = abs(left) <= SAME_WORK * whole
    return f"{told}: the same work, at another speed where a phase runs alone" if same else told
