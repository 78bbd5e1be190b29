"""What one exchange is made of: the phases as a table, and one exchange's bill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from dlbench import document as documents
from dlbench import values
from dlbench.layout import fitting, shorten
from dlbench.values import Entry

PHASES = ("query", "export", "import", "release")
#: Below so many ns the relay's own cost is not known well enough for a share to mean anything.
UNSURE_NS = 250.0
#: The exchange timed by itself, not in the rounds of its phases.
OWN = "own rounds"
#: Columns that go, in this order, where all do not fit.
SPARE = (OWN, "via", "share", "exchange")
#: How a part is told that is the relay's own answer: no library can make it cheaper.
REFUSED = "refused by the relay"
HEAD = ("from -> to", "exchange", *PHASES, "left", "share", "via", OWN)

Key = tuple[str, ...]


def key_of(entry: Entry) -> Key:
    """What the phases of one exchange have in common."""
    return tuple(str(entry[axis]) for axis in documents.EXCHANGE)


def phases_of(document: dict[str, Any]) -> dict[Key, dict[str, Entry]]:
    """The entries by exchange and phase, where a phase besides `exchange` was measured."""
    found: dict[Key, dict[str, Entry]] = {}
    for entry in document.get("benchmarks", []):
        if entry.get("clock", "call") == "call":
            found.setdefault(key_of(entry), {})[entry["phase"]] = entry
    return {key: of for key, of in found.items() if set(of) - {"exchange"}}


def table(document: dict[str, Any], width: int) -> list[Text]:
    """One line an exchange, its phases side by side; a block for each protocol, device, case and
    size. Empty where none were measured."""
    blocks: dict[Key, list[dict[str, str]]] = {}
    for of in phases_of(document).values():
        any_ = next(iter(of.values()))
        axes = [any_["device"], values.size(any_["bytes"]), any_["protocol"]]
        axes += [any_["case"]] if any_["case"] != "f32" else []
        axes += [f"in {any_['environment']}"] if any_["environment"] != "default" else []
        blocks.setdefault(tuple(axes), []).append(_row(of))
    lines: list[Text] = []
    for axes_, rows in blocks.items():
        title = "   ".join([*axes_, "one exchange by its phases"])
        lines += [Text()] if lines else []
        lines += [Text(shorten(title, width), style="bold"), *_block(rows, width)]
    return lines


def _block(rows: list[dict[str, str]], width: int) -> list[Text]:
    right = set(HEAD) - {"from -> to", "via"}
    _, lines = fitting(HEAD, rows, width - 1, right, SPARE)
    return [
        Text(shorten(f" {line}", width), style="" if i else "bold") for i, line in enumerate(lines)
    ]


def _row(of: dict[str, Entry]) -> dict[str, str]:
    any_ = next(iter(of.values()))
    row = dict.fromkeys(HEAD, "")
    row["from -> to"] = f"{any_['producer']} -> {any_['consumer']}"
    for phase, entry in of.items():
        row[OWN if phase == "exchange" else phase] = values.duration(entry["real_time"])
    exchange = of.get("exchange", {})
    if "unexplained_ns" in exchange:
        row["exchange"] = values.duration(whole_of(exchange))
        row["left"], row["share"] = unexplained(exchange)
        row["via"] = exchange["phases"]["via"]
    return row


def signed(nanoseconds: float) -> str:
    """ "-12.0 ns", "1.30 us"."""
    sign = "-" if nanoseconds < 0 else ""
    return sign + values.duration(abs(nanoseconds))


def whole_of(exchange: Entry) -> float:
    """What its phases are parts of, in ns: the exchange in their own rounds, not in its cell's."""
    return float(exchange["phases"]["exchange_ns"])


def has_shares(exchange: Entry) -> bool:
    """Is the exchange of these phases long enough for a share of it to mean anything?"""
    return whole_of(exchange) >= UNSURE_NS


def unexplained(exchange: Entry) -> tuple[str, str]:
    """In ns and as a share; no share of an exchange that is too short for one."""
    left, whole = exchange["unexplained_ns"], whole_of(exchange)
    share = f"{100 * left / whole:.1f} %" if has_shares(exchange) else ""
    return signed(left), share


def lines(exchange: Entry) -> Iterator[tuple[str, str]]:
    """The bill of one exchange: a part a line, then what is left over."""
    phases = exchange.get("phases")
    if phases is None:
        return
    whole = values.duration(whole_of(exchange))
    yield "phases", f"of {whole}, the exchange in the rounds of its phases"
    for part in phases["parts"]:
        yield part["phase"], f"{signed(part['ns'])}  {part['what']}"
    left, share = unexplained(exchange)
    interval = f"{signed(exchange['unexplained_lo_ns'])} .. {signed(exchange['unexplained_hi_ns'])}"
    said = f"{left}, {share}" if share else left
    yield "unexplained", f"{said} of {whole}  ({interval})"


def dearest(document: dict[str, Any]) -> tuple[Entry, dict[str, Any]] | None:
    """The part of an exchange that takes longest, of all that producers do."""
    found = [
        (entry, part)
        for entry in documents.entries(document)
        for part in entry.get("phases", {}).get("parts", [])
        if part["phase"] in ("query", "export") and not part["what"].endswith(REFUSED)
    ]
    return max(found, key=lambda item: item[1]["ns"], default=None)
