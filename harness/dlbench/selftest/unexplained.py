"""What the phases of real exchanges leave unexplained."""

from __future__ import annotations

import statistics

from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting
from dlbench.values import Entry, is_measured

#: Shares of the exchange. Shorter ones have none: what a relay costs is known to OFF_NS only.
MEDIAN, MOST = 0.02, 0.05
SHORT_NS, OFF_NS = 250.0, 20.0


def trial(setting: Setting) -> list[Row]:
    """One row: the share that is left over, over all couples of the default matrix."""
    words = ["--phases", "all", "--sizes", "4KiB", "--protocols", "dlpack"]
    if setting.short:
        words += ["--producers", "native,numpy", "--consumers", "native,numpy"]
    found = [
        entry
        for entry in runs.run(setting.folder, "phases", words, setting.seed)
        if is_measured(entry)
        and entry["phase"] == "exchange"
        and entry["clock"] == "call"
        and "unexplained_ns" in entry
    ]
    if not found:
        return [Row("phases of exchanges", "no exchange could be told apart", False)]
    long = [entry for entry in found if entry["real_time"] >= SHORT_NS]
    shares = [abs(entry["unexplained_ns"]) / entry["real_time"] for entry in long]
    off = [_told(entry) for entry in found if not _explained(entry)]
    median = statistics.median(shares) if shares else 0.0
    good = median <= MEDIAN and len(off) <= 0.1 * len(found)
    return [
        Row(
            f"unexplained by the phases of {len(found)} exchanges",
            f"{median:.1%} in the median of the {len(long)} of {SHORT_NS:.0f} ns and more; "
            f"{len(found) - len(off)} within {MOST:.0%} or {OFF_NS:.0f} ns",
            good,
            tuple(off),
        )
    ]


def _explained(entry: Entry) -> bool:
    left = abs(entry["unexplained_ns"])
    return bool(left <= MOST * entry["real_time"] or left <= OFF_NS)


def _told(entry: Entry) -> str:
    left, whole = entry["unexplained_ns"], entry["real_time"]
    why = "; ".join(runs.verdicts(entry)) or "no cause known"
    return (
        f"{entry['producer']} -> {entry['consumer']}: {left:.0f} of {whole:.0f} ns "
        f"({left / whole:.1%}): {why}"
    )
