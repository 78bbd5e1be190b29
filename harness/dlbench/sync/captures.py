"""Graph captures on the terminal: a table, the facts of one cell, and the findings."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from dlbench.document import Capture, Document, Entry, Pair
from dlbench.sync.table import exchange_columns, stream, styled
from dlbench.text.layout import count, fold

HEAD = ("from -> to", "protocol", "device", "in", "stream", "producer on", "result", "nodes",
        "at", "reason")  # fmt: skip
#: Columns that are left out, in this order, until the table fits.
SPARE = ("reason", "at", "nodes")
PRODUCER_ON = {"same": "same stream", "other": "other stream"}
#: The meaning of the table's words.
LEGEND = {
    "captured": "captured: the capture ends with a graph of that many nodes",
    "host-wait": "host-wait: the host waits for the producer, which no replay repeats",
    "refused": "refused: the exchange raises, and the capture goes on",
    "invalidated": "invalidated: the capture is broken",
    "failed": "failed: unknown",
}
BROKEN = ("refused", "invalidated")


def table(document: Document, width: int) -> list[Text]:
    """One line for each exchange, stream argument and stream of the producer; empty if no capture
    was tried."""
    found = [(entry, one) for entry in document.entries for one in entry.capture]
    if not found:
        return []
    rows = [_row(entry, one) for entry, one in found]
    styles = [_style(one) for _, one in found]
    _, shown = styled(TITLE, (HEAD, ("nodes",), SPARE), rows, styles, width)
    legend = [text for word, text in LEGEND.items() if word in {one.result for _, one in found}]
    if any(one.producer_stream == "other" for _, one in found):
        legend.append("other stream: the producer's work there is unfinished")
    legend += ["(stream): passed by dlbench"] * any(not one.is_of_consumer for _, one in found)
    return shown + [Text(line, style="dim") for line in fold(legend, width, gap="   ")]


TITLE = "exchanges while the consumer's stream captures a graph (mode global)"


def _style(one: Capture) -> str:
    if not one.is_of_consumer:
        return "dim"
    return "red" if one.result in BROKEN else ""


def _row(entry: Entry, one: Capture) -> dict[str, str]:
    return {
        **exchange_columns(entry),
        "stream": stream(one),
        "producer on": PRODUCER_ON[one.producer_stream],
        "result": one.result,
        "nodes": "" if one.nodes is None else str(one.nodes),
        "at": one.at,
        "reason": one.reason,
    }


def facts(entry: Entry) -> Iterator[tuple[str, str]]:
    """The facts of one cell, one line for each row."""
    for one in entry.capture:
        words = [f"stream {stream(one)}, producer on the {PRODUCER_ON[one.producer_stream]}"]
        words[0] += f": {one.result}"
        words += [] if one.nodes is None else [count(one.nodes, "node")]
        words += [f"at {one.at}"] if one.at else []
        words += [one.reason] if one.reason else []
        yield "capture", ", ".join(words)


def summarize(entries: list[Entry]) -> Iterator[tuple[str, list[Pair]]]:
    """A sentence for each kind of result of the consumers' own calls, and its pairs."""
    found: dict[str, list[Pair]] = {}
    for entry in entries:
        results = {row.producer_stream: row.result for row in entry.capture if row.is_of_consumer}
        if results:
            found.setdefault(_sentence(results), []).append(entry.pair)
    yield from found.items()


def _sentence(results: dict[str, str]) -> str:
    same, other = results.get("same", ""), results.get("other", "")
    if "failed" in (same, other):
        return "unknown, because a trial failed"
    if same in BROKEN:
        return "breaks a graph capture, also with the producer on the capturing stream"
    if "host-wait" in (same, other):
        return (
            "can be captured, but the host waits for work of another stream, and no replay repeats "
            "that wait"
        )
    if other in BROKEN:
        return (
            "breaks a graph capture while the producer works on another stream: exchange before "
            "the capture, or let the producer work on the capturing stream"
        )
    return "can be captured"
