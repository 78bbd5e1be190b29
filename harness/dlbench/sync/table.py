"""Who waits, as lines for a terminal: a table, one cell's facts, and what there is to say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from dlbench import document as documents
from dlbench import values
from dlbench.environments.environment import DEFAULT
from dlbench.layout import fitting, shorten
from dlbench.phases import signed
from dlbench.values import Entry

HEAD = ("from -> to", "protocol", "device", "in", "stream", "waits", "saw", "hand-over",
        "export held", "import held", "gap", "why not")  # fmt: skip
RIGHT = ("hand-over", "export held", "import held", "gap")
#: Columns that go, in this order, where all do not fit: none by which rows are told apart.
SPARE = ("gap", "why not", "saw", "import held", "export held", "hand-over")
UNORDERED = ("nobody", "wrong-queue", "host-wrong")

Handover = dict[str, Any]


def of(document: dict[str, Any]) -> list[tuple[Entry, Handover]]:
    """Each exchange that was looked at, with each stream argument."""
    return [(entry, one) for entry in documents.entries(document) for one in entry.get("sync", ())]


def table(document: dict[str, Any], width: int) -> list[Text]:
    """One line an exchange and stream argument; empty where nobody looked."""
    found = of(document)
    if not found:
        return []
    rows = [_row(entry, one) for entry, one in found]
    alike = [head for head in ("protocol", "device") if len({row[head] for row in rows}) == 1]
    _, lines = fitting(HEAD, rows, width - 1, RIGHT, [*alike, *SPARE])
    shown = [Text(shorten("who waits while the producer's queue is busy", width), style="bold")]
    shown.append(Text(shorten(f" {lines[0]}", width), style="bold"))
    for (_, one), line in zip(found, lines[1:], strict=True):
        shown.append(Text(shorten(f" {line}", width), style=_style(one)))
    return shown


def _style(one: Handover) -> str:
    if one["owed"] and one.get("waits") in UNORDERED:
        return "red"
    return "" if one["asked_by"] == "consumer" else "dim"


def _row(entry: Entry, one: Handover) -> dict[str, str]:
    row = dict.fromkeys(HEAD, "")
    row["from -> to"] = f"{entry['producer']} -> {entry['consumer']}"
    row["protocol"], row["device"] = entry["protocol"], entry["device"]
    row["in"] = "" if entry["environment"] == DEFAULT else entry["environment"]
    row["stream"] = stream(one)
    row["waits"] = one.get("waits", "-")
    row["saw"] = one.get("saw", "")
    row["hand-over"] = values.duration(one["handoff_ns"]) if "handoff_ns" in one else ""
    for side in ("export", "import"):
        row[f"{side} held"] = share(one.get(f"{side}_blocked"))
    row["gap"] = signed(one["gap_ns"]) if "gap_ns" in one else ""
    row["why not"] = one.get("reason", "")
    return row


def stream(one: Handover) -> str:
    """ "none", "-1", "own"; what dlbench put there stands in brackets."""
    name = "none" if one["stream"] is None else str(one["stream"])
    return name if one["asked_by"] == "consumer" else f"({name})"


def share(value: float | None) -> str:
    """ "98 %"; a slope that is 0 but for its noise is 0."""
    return "" if value is None else f"{100 * value + 0:.0f} %".replace("-0 %", "0 %")


def facts(entry: Entry) -> Iterator[tuple[str, str]]:
    """Of one cell, a line a stream argument."""
    for one in entry.get("sync", ()):
        said = [f"stream {stream(one)}: {one.get('waits', one.get('reason', ''))}"]
        said += [f"saw {one['saw']}"] if "saw" in one else []
        if "handoff_ns" in one:
            said.append(f"hand-over {values.duration(one['handoff_ns'])}")
        for side in ("export", "import"):
            if f"{side}_blocked" in one:
                said.append(f"{side} held {share(one[f'{side}_blocked'])}")
        said += [f"gap {signed(one['gap_ns'])}"] if "gap_ns" in one else []
        said += [] if one["owed"] else ["no order was owed"]
        yield "sync", ", ".join(said)
    if "late_free" in entry:
        yield "late free", entry["late_free"]


def said(entries: list[Entry]) -> Iterator[tuple[str, tuple[str, str]]]:
    """One a way of waiting: what is said of it, and a pair to look at. Of what a consumer itself
    asks for; races are told elsewhere."""
    ways: dict[str, list[Entry]] = {}
    for entry in entries:
        for one in entry.get("sync", ()):
            if one["asked_by"] == "consumer" and one.get("waits") not in (None, *UNORDERED):
                ways.setdefault(_way(one), []).append(entry)
    for way, of_way in ways.items():
        producers = ", ".join(sorted({entry["producer"] for entry in of_way}))
        yield f"{producers}: {SAID[way]}", (of_way[0]["producer"], of_way[0]["consumer"])
    late = [entry for entry in entries if entry.get("late_free") == "late"]
    if late:
        who = ", ".join(sorted({entry["producer"] for entry in late}))
        text = f"{who}: memory is used again while the consumer's queue still reads it"
        yield text, (late[0]["producer"], late[0]["consumer"])


SAID = {
    "export": "the host is held in export",
    "import": "the host is held in import",
    "stream": "on the stream",
    "no-delay": "never busy while one looked",
    "inconclusive": "nothing repeated often enough to say",
}


def _way(one: Handover) -> str:
    if one["waits"] != "host":
        return str(one["waits"])
    more = one.get("import_blocked", 0.0) > one.get("export_blocked", 0.0)
    return "import" if more else "export"
