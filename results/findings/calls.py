"""What one more array costs in a call, by the binding of the function."""

from __future__ import annotations

from collections.abc import Iterator

from dlbench import values
from dlbench.analysis import calls
from dlbench.document import Document
from dlbench.findings.finding import Finding
from dlbench.text.escaping import dlbench_command


def bindings(document: Document, run: str) -> Iterator[Finding]:
    """For each producer the binding with the highest cost of an array and that with the lowest,
    where their intervals lie apart."""
    for (producer, *_), found in calls.of_document(document):
        lines = [(each.line, each) for each in found if each.line and not each.copied]
        if len(lines) < 2:
            continue
        low, fast = min(lines, key=lambda item: item[0].slope)
        high, slow = max(lines, key=lambda item: item[0].slope)
        apart = low.slope + low.half_width < high.slope - high.half_width
        if low.slope <= 0 or not apart:
            continue
        times = values.number(high.slope / low.slope)
        text = (
            f"an array of {producer} costs {values.duration(high.slope)} in {slow.binding}, "
            f"{values.duration(low.slope)} in {fast.binding}: {times} times"
        )
        if slow.mechanism and fast.mechanism and slow.mechanism != fast.mechanism:
            text += f", by {slow.mechanism} and by {fast.mechanism}"
        yield Finding("calls", text, dlbench_command("show", run, producer, slow.binding))
