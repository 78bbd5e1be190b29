"""The unexplained share of real exchanges."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlbench import values
from dlbench.analysis.phases import has_shares
from dlbench.document import Entry, Measured, codes
from dlbench.selftest import runs
from dlbench.selftest.row import Row, Setting

#: Limits as shares of the exchange. Shorter exchanges have none, because the cost of a proxy is
#: known to OFF_NS only.
MEDIAN, MOST = 0.02, 0.05
OFF_NS = 20.0
#: Tolerated share of an exchange's instructions outside its phases.
SAME_WORK = 0.01
BLAMED = "Python blames a warning on the frame that called, and a replay has another"
#: Pairs whose phases are known to contain other work than the exchange: docs/explanation/phases.md.
KNOWN = {
    ("tvm_ffi", "tvm_ffi"): "its type is static: the proxy's method is found by another path",
}
WORDS = ("--phases", "all", "--sizes", "4KiB", "--protocols", "dlpack")


def trial(setting: Setting) -> list[Row]:
    """Two rows, over all pairs of the default matrix: the median unexplained share, and the
    exchanges without a known cause of it."""
    words = list(WORDS)
    if setting.short:
        words += ["--producers", "native,numpy", "--consumers", "native,numpy"]
    found = _exchanges(runs.run(setting.folder, "phases", words, setting.seed))
    if not found:
        return [Row("phases of exchanges", "no exchange has phases", False)]
    return [_median([entry for entry in found if has_shares(entry)]), _each(found, setting)]


def _median(long: Sequence[Measured]) -> Row:
    least = f"{values.LEAST_FOR_SHARES_NS:.0f} ns and more"
    description = f"unexplained by the phases of {len(long)} exchanges of {least}"
    if not long:
        return Row(description, "no exchange is that long", None)
    shares = [abs(entry.unexplained_ns) / entry.phases.exchange_ns for entry in long]
    median = statistics.median(shares)
    return Row(description, f"{median:.1%} in the median", median <= MEDIAN)


def _each(found: Sequence[Measured], setting: Setting) -> Row:
    off = [(entry, _accounts(entry, setting)) for entry in found if not _explained(entry)]
    open_ = sum(not account.is_known for _, account in off)
    description = f"each of {len(found)} exchanges, within {MOST:.0%} or {OFF_NS:.0f} ns"
    found_text = f"{len(found) - len(off)}; of the others {len(off) - open_} explained"
    return Row(
        description,
        found_text,
        open_ == 0,
        tuple(_describe(entry, account) for entry, account in off),
    )


def _explained(entry: Measured) -> bool:
    left = abs(entry.unexplained_ns)
    return bool(left <= MOST * entry.phases.exchange_ns or left <= OFF_NS)


def _exchanges(entries: Sequence[Entry]) -> list[Measured]:
    return [
        entry
        for entry in entries
        if isinstance(entry, Measured)
        and entry.is_exchange
        and entry.clock == "call"
        and entry.phases
    ]


@dataclass(frozen=True)
class Account:
    """The known cause of an exchange's unexplained time; `is_known`: does it explain the time?"""

    why: tuple[str, ...]
    is_known: bool


def _accounts(entry: Measured, setting: Setting) -> Account:
    texts = [warning.text for warning in runs.verdicts(entry)]
    reasons = [BLAMED] if entry.warns_of(codes.PYTHON_WARNING) else []
    reasons += [KNOWN[entry.pair]] if entry.pair in KNOWN else []
    again = _repeated(entry, setting)
    return Account((*texts, *reasons, *again.why), bool(reasons) or again.is_known)


def _describe(entry: Measured, account: Account) -> str:
    return f"{entry.producer} -> {entry.consumer}: {_left(entry)}: {'; '.join(account.why)}"


def _left(entry: Measured) -> str:
    left, whole = entry.unexplained_ns, entry.phases.exchange_ns
    return f"{left:.0f} of {whole:.0f} ns ({left / whole:.1%})"


def _repeated(entry: Measured, setting: Setting) -> Account:
    """Runs that pair alone. The cause is known if the unexplained time does not repeat, or the
    phases contain the same work."""
    words = [*WORDS, "--producers", entry.producer, "--consumers", entry.consumer]
    if shutil.which("valgrind") is not None:
        words += ["--count", "instructions"]
    name = f"phases-{entry.producer}-{entry.consumer}"
    entries = runs.run(setting.folder, name, words, setting.seed)
    again = _exchanges(entries)
    if not again:
        return Account(("not measured again",), False)
    again_account = Account((f"again {_left(again[0])}",), _explained(again[0]))
    counted = (each for each in entries if isinstance(each, Measured) and each.instructions)
    counts = {each.phase: each.instructions for each in counted}
    if "exchange" not in counts or len(counts) < 2:
        return again_account
    work = _by_instructions(counts)
    return Account((*again_account.why, *work.why), again_account.is_known or work.is_known)


def _by_instructions(counts: Mapping[str, float]) -> Account:
    whole = counts["exchange"]
    left = whole - sum(count for phase, count in counts.items() if phase != "exchange")
    unaccounted = f"{left:.0f} of its {whole:.0f} instructions are in no phase"
    if abs(left) > SAME_WORK * whole:
        return Account((unaccounted,), False)
    return Account(
        (f"{unaccounted}: the same work, at another speed where a phase runs alone",), True
    )
