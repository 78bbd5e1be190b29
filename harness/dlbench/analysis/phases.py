"""What one exchange is made of: the phases as a table, and one exchange's breakdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from dlbench import values
from dlbench.document import EXCHANGE, Axis, Document, Measured
from dlbench.document.entry import PhasePart
from dlbench.text.layout import fitting, fold, shorten

#: The exchange timed by itself, not in the rounds of its phases.
OWN = "own rounds"
#: Columns that go, in this order, where all do not fit.
SPARE = (OWN, "via", "share", "exchange")
HEAD = ("from -> to", "exchange", *values.PHASES, "left", "share", "via", OWN)
#: What a column holds, where its heading does not say it.
LEGEND = {
    "exchange": "exchange: the one that the phases belong to",
    "left": "left: exchange less its phases",
    OWN: f"{OWN}: the exchange timed without its phases",
}

Key = tuple[Axis, ...]


def phases_of(document: Document) -> dict[Key, dict[str, Measured]]:
    """The entries by exchange and phase, where a phase besides `exchange` was measured."""
    found: dict[Key, dict[str, Measured]] = {}
    for entry in document.measured:
        if entry.clock == "call":
            found.setdefault(entry.axes(EXCHANGE), {})[entry.phase] = entry
    return {key: of for key, of in found.items() if set(of) - {"exchange"}}


def table(document: Document, width: int) -> list[Text]:
    """One line an exchange, its phases side by side; a block for each protocol, device, case and
    size. Empty where none were measured."""
    blocks: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for of in phases_of(document).values():
        any_ = next(iter(of.values()))
        axes = [any_.device, values.size(any_.bytes), any_.protocol]
        axes += [any_.case] if any_.case != "f32" else []
        axes += [f"in {any_.environment}"] if any_.environment != "default" else []
        blocks.setdefault(tuple(axes), []).append(_row(of))
    lines: list[Text] = []
    shown: set[str] = set()
    for axes_, rows in blocks.items():
        title = "   ".join([*axes_, "one exchange by its phases"])
        lines += [Text()] if lines else []
        heads, block = _block(rows, width)
        shown.update(heads)
        lines += [Text(shorten(title, width), style="bold"), *block]
    legend = [text for head, text in LEGEND.items() if head in shown]
    return lines + [Text(line, style="dim") for line in fold(legend, width, gap="   ")]


def _block(rows: list[dict[str, str]], width: int) -> tuple[list[str], list[Text]]:
    """The columns that are shown, and the lines."""
    right = set(HEAD) - {"from -> to", "via"}
    shown, lines = fitting(HEAD, rows, width - 1, right, SPARE)
    return shown, [
        Text(shorten(f" {line}", width), style="" if i else "bold") for i, line in enumerate(lines)
    ]


def _row(of: dict[str, Measured]) -> dict[str, str]:
    any_ = next(iter(of.values()))
    row = dict.fromkeys(HEAD, "")
    row["from -> to"] = f"{any_.producer} -> {any_.consumer}"
    for phase, entry in of.items():
        row[OWN if phase == "exchange" else phase] = values.time(entry)
    exchange = of.get("exchange")
    if exchange is not None and exchange.phases:
        row["exchange"] = values.duration(exchange.phases.exchange_ns)
        row["left"], row["share"] = unexplained(exchange)
        row["via"] = exchange.phases.via
    return row


def signed(nanoseconds: float) -> str:
    """ "-12.0 ns", "1.30 us"."""
    sign = "-" if nanoseconds < 0 else ""
    return sign + values.duration(abs(nanoseconds))


def has_shares(exchange: Measured) -> bool:
    """Is the exchange of these phases long enough for a share of it to mean anything?"""
    return exchange.phases.exchange_ns >= values.LEAST_FOR_SHARES_NS


def unexplained(exchange: Measured) -> tuple[str, str]:
    """In ns and as a share; no share of an exchange that is too short for one."""
    left = exchange.unexplained_ns
    share = f"{100 * left / exchange.phases.exchange_ns:.1f} %" if has_shares(exchange) else ""
    return signed(left), share


def lines(exchange: Measured) -> Iterator[tuple[str, str]]:
    """The phases of one exchange: a part a line, then what is left over."""
    phases = exchange.phases
    if not phases:
        return
    whole = values.duration(phases.exchange_ns)
    yield "phases", f"of {whole}, the exchange in the rounds of its phases"
    for part in phases.parts:
        yield part.phase, f"{signed(part.ns)}  {part.what}"
    left, share = unexplained(exchange)
    interval = f"{signed(exchange.unexplained_lo_ns)} .. {signed(exchange.unexplained_hi_ns)}"
    said = f"{left}, {share}" if share else left
    yield "unexplained", f"{said} of {whole}  ({interval})"


def slowest(document: Document) -> tuple[Measured, PhasePart] | None:
    """The longest part of an exchange among the producer's."""
    found = [
        (entry, part)
        for entry in document.measured
        for part in entry.phases.parts
        if part.phase in ("query", "export") and part.failed_by != "proxy"
    ]
    return max(found, key=lambda item: item[1].ns, default=None)
