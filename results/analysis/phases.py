"""The phases of exchanges: as columns of a table, and the breakdown of one exchange."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dlbench import values
from dlbench.document import EXCHANGE, Axis, Document, Entry, Measured
from dlbench.document.facts import LEAST_FOR_SHARES_NS, PHASES
from dlbench.document.keys import MeasuredPhasesPart

#: Columns beside the time of an exchange.
COLUMNS = ("exchange", *PHASES, "unexplained")
#: Columns that are left out, in this order, until the table fits.
SPARE = ("unexplained", "exchange")

#: The texts of COLUMNS, empty where there is no number.
Columns = dict[str, str]
Key = tuple[Axis, ...]


def key_of(exchange: Entry) -> Key:
    """The key that an exchange and its phases share."""
    return exchange.axes((*EXCHANGE, "machine"))


def columns(entries: Iterable[Entry]) -> dict[Key, Columns]:
    """The columns of each exchange with a measured phase."""
    found: dict[Key, Columns] = {}
    timed = [entry for entry in entries if isinstance(entry, Measured) and entry.clock == "call"]
    for entry in timed:
        if not entry.is_exchange:
            row = found.setdefault(key_of(entry), dict.fromkeys(COLUMNS, ""))
            row[entry.phase] = values.time(entry)
    for entry in timed:
        if entry.phases and key_of(entry) in found:
            row = found[key_of(entry)]
            row["exchange"] = values.duration(entry.phases.exchange_ns)
            row["unexplained"] = values.duration(entry.unexplained)
    return found


def legend(heads: Collection[str]) -> list[str]:
    """The meaning of the columns that are shown."""
    shown = [head for head in PHASES if head in heads]
    parts = [f"{', '.join(shown)}: phases, timed in their own rounds"] if shown else []
    parts += ["exchange: the whole exchange in the same rounds"] if "exchange" in heads else []
    return parts + (
        ["unexplained: that exchange less its phases"] if "unexplained" in heads else []
    )


def has_shares(exchange: Measured) -> bool:
    """Is the exchange long enough to report shares of it?"""
    return exchange.phases.exchange_ns >= LEAST_FOR_SHARES_NS


def lines(exchange: Measured) -> Iterator[tuple[str, str]]:
    """The phases of one exchange, one part a line, then the unexplained time."""
    phases = exchange.phases
    if not phases:
        return
    whole = values.duration(phases.exchange_ns)
    yield "phases", f"of {whole}, the exchange in the rounds of its phases, via {phases.via}"
    for part in phases.parts:
        yield part.phase, f"{values.duration(part.ns)}  {part.what}"
    found = exchange.unexplained_ns, exchange.unexplained_lo_ns, exchange.unexplained_hi_ns
    middle, *ends = (ns or 0.0 for ns in found)
    share = f", {100 * middle / phases.exchange_ns:.1f} %"
    half_width = max(abs(end - middle) for end in ends)
    amount, low, high = (values.duration(ns, half_width) for ns in (middle, *ends))
    amount += share if has_shares(exchange) else ""
    yield "unexplained", f"{amount} of {whole}  ({low} .. {high})"


def slowest(document: Document) -> tuple[Measured, MeasuredPhasesPart] | None:
    """The longest part of any exchange among those of the producer."""
    found = [
        (entry, part)
        for entry in document.measured
        for part in entry.phases.parts
        if part.phase in ("query", "export") and part.failed_by != "proxy"
    ]
    return max(found, key=lambda item: item[1].ns, default=None)
