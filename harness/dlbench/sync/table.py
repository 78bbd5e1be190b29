"""Synchronization on the terminal: a table, the facts of one cell, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from dlbench import values
from dlbench.document import Capture, Document, Entry, Pair, Sync
from dlbench.document.entry import UNORDERED
from dlbench.environments.environment import DEFAULT
from dlbench.text.layout import fitting, fold, shorten

HEAD = ("from -> to", "protocol", "device", "in", "waits", "stream", "text", "data read",
        "transfer", "export held", "import held", "gap", "why not")  # fmt: skip
RIGHT = ("transfer", "export held", "import held", "gap")
#: Columns that are left out, in this order, until the table fits; rows stay distinct without them.
SPARE = ("gap", "data read", "import held", "export held", "transfer", "why not", "text")
#: The meaning of the table's words and columns.
LEGEND = {
    "host": "host: the call returns after the producer's work",
    "stream": "stream: the consumer's stream waits",
    "none": "none: nothing waits",
    "wrong-stream": "wrong-stream: another stream waits",
    "host-wrong": "host-wrong: the call waits, but the consumer reads old content",
    "no-delay": "no-delay: the queue was not busy",
    "inconclusive": "inconclusive: trials differ",
    "text": "text: what the protocol demands, and whether it is broken",
    "export held": "held: share of the delay for which the host waits in that phase",
}


def table(document: Document, width: int) -> list[Text]:
    """One line for each exchange and stream argument; empty if synchronization was not tested."""
    found = [(entry, one) for entry in document.entries for one in entry.sync]
    if not found:
        return []
    rows = [_row(entry, one) for entry, one in found]
    styles = [_style(one) for _, one in found]
    heads, shown = styled(TITLE, (HEAD, RIGHT, SPARE), rows, styles, width)
    used = {one.waits for _, one in found} | ({"export held", "text"} & set(heads))
    legend = [text for word, text in LEGEND.items() if word in used]
    is_passed = any(not one.is_of_consumer for _, one in found)
    legend += ["(stream): passed by dlbench"] if is_passed else []
    legend += ["-1: no synchronization requested"] * any(one.stream == -1 for _, one in found)
    return shown + [Text(line, style="dim") for line in fold(legend, width, gap="   ")]


TITLE = "synchronization while the producer's queue is busy"


def styled(
    title: str,
    columns: tuple[Sequence[str], Sequence[str], Sequence[str]],
    rows: Sequence[dict[str, str]],
    styles: Sequence[str],
    width: int,
) -> tuple[Sequence[str], list[Text]]:
    """The columns that fit, and the lines of a table. `columns`: all, those aligned to the right,
    and those that are left out first, in this order, until the table fits."""
    head, right, spare = columns
    alike = [each for each in ("protocol", "device") if len({row[each] for row in rows}) == 1]
    heads, lines = fitting(head, rows, width - 1, right, [*alike, *spare])
    shown = [Text(shorten(text, width), style="bold") for text in (title, f" {lines[0]}")]
    for style, line in zip(styles, lines[1:], strict=True):
        shown.append(Text(shorten(f" {line}", width), style=style))
    return heads, shown


def exchange_columns(entry: Entry) -> dict[str, str]:
    """The columns of an exchange."""
    return {
        "from -> to": f"{entry.producer} -> {entry.consumer}",
        "protocol": entry.protocol,
        "device": entry.device,
        "in": "" if entry.environment == DEFAULT else entry.environment,
    }


def _style(one: Sync) -> str:
    if one.is_against_text:
        return "red"
    return "" if one.is_of_consumer else "dim"


def _row(entry: Entry, one: Sync) -> dict[str, str]:
    row = dict.fromkeys(HEAD, "") | exchange_columns(entry)
    place = "" if one.reads_on == "own" else f" {one.reads_on}"
    row["stream"], row["text"] = f"{stream(one)}{place}", text(one)
    row["waits"] = one.waits or one.code.removeprefix("argument-")
    row["data read"] = one.content
    row["transfer"] = "" if one.transfer_ns is None else values.duration(one.transfer_ns)
    for side, blocked in one.blocked.items():
        row[f"{side} held"] = share(blocked)
    row["gap"] = "" if one.gap_ns is None else values.duration(one.gap_ns)
    row["why not"] = one.reason
    return row


def stream(one: Sync | Capture) -> str:
    """ "None", "omitted", "-1", "own"; a value that dlbench passed is in brackets."""
    return str(one.stream) if one.is_of_consumer else f"({one.stream})"


def text(one: Sync) -> str:
    """ "order", "no-wait: broken"; empty where the text demands nothing."""
    return f"{one.expected}: broken" if one.is_against_text else one.expected


def share(value: float | None) -> str:
    """ "98 %"; a slope of 0 within its noise is 0 %."""
    return "" if value is None else f"{100 * value + 0:.0f} %".replace("-0 %", "0 %")


def facts(entry: Entry) -> Iterator[tuple[str, str]]:
    """The facts of one cell, one line for each stream argument."""
    for one in entry.sync:
        place = "" if one.reads_on == "own" else f", read on {one.reads_on}"
        words = [f"stream {stream(one)}{place}: {one.waits or one.reason}"]
        words += [f"{one.content} data read"] if one.content else []
        if one.transfer_ns is not None:
            words.append(f"transfer {values.duration(one.transfer_ns)}")
        for side, blocked in one.blocked.items():
            words += [f"{side} held {share(blocked)}"] if blocked is not None else []
        words += [f"gap {values.duration(one.gap_ns)}"] if one.gap_ns is not None else []
        words += [f"the text demands {text(one)}" if one.expected else "no order is demanded"]
        words += [one.reason] if one.waits and one.reason else []
        yield "sync", ", ".join(words)
    if entry.late_free:
        yield "late free", entry.late_free


def summarize(entries: list[Entry]) -> Iterator[tuple[str, Pair]]:
    """One line for each kind of wait: its meaning and an example pair. Only for the consumer's own
    stream argument; races are listed elsewhere.
    """
    ways: dict[str, list[Entry]] = {}
    for entry in entries:
        for one in entry.sync:
            if one.is_of_consumer and one.waits not in ("", *UNORDERED):
                ways.setdefault(_way(one), []).append(entry)
    for way, of_way in ways.items():
        producers = ", ".join(sorted({entry.producer for entry in of_way}))
        yield f"{producers}: {WAYS[way]}", of_way[0].pair
    late = [entry for entry in entries if entry.late_free == "late"]
    if late:
        producers = ", ".join(sorted({entry.producer for entry in late}))
        text = (
            f"{producers}: memory is used again while the consumer's queue still reads it; hold "
            "the array until it has, or name the queue to the pool (torch: record_stream)"
        )
        yield text, late[0].pair


WAYS = {
    "export": "the host is held in export",
    "import": "the host is held in import",
    "stream": "on the stream",
    "no-delay": "never busy during a trial",
    "inconclusive": "no result repeated often enough",
}


def _way(one: Sync) -> str:
    if one.waits != "host":
        return one.waits
    return "import" if (one.import_blocked or 0) > (one.export_blocked or 0) else "export"
