"""Work on a device that a zero-copy exchange hides, found by the counted CUDA calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlbench.document import Entry, Measured, codes
from dlbench.findings.finding import Finding, pairs_text
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import count


def hidden_work(entries: Sequence[Entry], run: str) -> Iterator[Finding]:
    """`run`: the run's name in commands."""
    waiting, copying, running = [], [], []
    for entry in entries:
        if not isinstance(entry, Measured) or not entry.api_calls:
            continue
        calls = entry.api_calls.by_kind
        if calls["sync"]:
            waiting.append(entry)
        if entry.outcome == "zero-copy" and calls["memcpy"]:
            copying.append(entry)
        elif entry.outcome == "zero-copy" and calls["launch"]:
            # A kernel can copy too, and the driver does not report its work.
            running.append(entry)
    for label, what, found in (
        ("hidden sync", "the host waits for a device", waiting),
        ("hidden copy", "zero-copy on the host, but the device copies", copying),
        ("hidden kernel", "zero-copy on the host, but a kernel runs, which may copy", running),
    ):
        if found:
            pairs = pairs_text(entry.pair for entry in found)
            command = dlbench_command("show", run, *found[0].pair)
            yield Finding(label, f"{what}: {pairs}", command)
    failed = [w for e in entries for w in e.warnings if w.code == codes.API_CALLS_FAILED]
    if failed:
        text = f"{count(len(failed), 'cell')}: {failed[0].text}"
        yield Finding("not counted", text, "dlbench doctor")
