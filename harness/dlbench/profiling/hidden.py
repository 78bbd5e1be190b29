"""What the counted CUDA calls of a run say, as findings of the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from dlbench.escaping import dlbench_command
from dlbench.layout import count
from dlbench.profiling.api import WARNING
from dlbench.values import Entry

Pair = tuple[str, str]
Told = tuple[str, str, str]  #: label, text, the next command


def told(
    entries: Sequence[Entry], run: str, pairs_text: Callable[[Iterable[Pair]], str]
) -> Iterator[Told]:
    """`run` is what the commands call this run."""
    counted = [entry for entry in entries if "api_calls" in entry]
    waiting = [entry for entry in counted if entry["api_calls"]["sync"]]
    copying = [e for e in counted if e["api_calls"]["memcpy"] and e["outcome"] == "zero-copy"]
    # A kernel can copy too, and the driver does not say what it does.
    running = [
        e
        for e in counted
        if e["api_calls"]["launch"] and not e["api_calls"]["memcpy"] and e["outcome"] == "zero-copy"
    ]
    for label, what, found in (
        ("hidden sync", "the host waits for a device", waiting),
        ("hidden copy", "zero-copy, and yet a copy on a device", copying),
        ("hidden kernel", "zero-copy, and yet a kernel runs, which may copy", running),
    ):
        if found:
            pairs = [(entry["producer"], entry["consumer"]) for entry in found]
            command = dlbench_command("show", run, *pairs[0])
            yield label, f"{what}: {pairs_text(pairs)}", command
    reasons: dict[str, int] = defaultdict(int)
    for entry in entries:
        for warning in entry.get("warnings", []):
            if warning.startswith(WARNING):
                reasons[warning.removeprefix(WARNING)] += 1
    for reason, number in reasons.items():
        text = f"not counted in {count(number, 'cell')}: {reason}"
        yield WARNING.rstrip(": "), text, "dlbench doctor"
