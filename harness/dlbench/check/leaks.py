"""Whether something is left behind by each of many exchanges."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import _check
from dlbench.check.rule import Broken, Unclear

EXCHANGES = 10_000
#: What a library may take once, for its caches and pools.
WARM_UP = 1_000
#: Below one object in a hundred exchanges, or eight bytes in each, it is no leak of exchanges.
MOST_BLOCKS = 0.01
MOST_BYTES = 8.0
#: The kernel counts in pages, and threads have arenas of their own.
MOST_RESIDENT_BYTES = 256.0
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Used:
    """What the process holds."""

    blocks: int
    heap: int
    resident: int
    files: int
    references: int

    def growth(self, since: Used, exchanges: int) -> list[str]:
        """What grew with each exchange, in words."""
        grown = []
        blocks = (self.blocks - since.blocks) / exchanges
        heap = (self.heap - since.heap) / exchanges
        resident = (self.resident - since.resident) / exchanges
        if blocks > MOST_BLOCKS:
            grown.append(f"{blocks:.2g} Python objects")
        if heap > MOST_BYTES:
            grown.append(f"{heap:.3g} bytes of the heap")
        elif resident > MOST_RESIDENT_BYTES:
            grown.append(f"{resident:.3g} bytes of memory")
        if self.references - since.references > exchanges / 100:
            grown.append(f"{(self.references - since.references) / exchanges:.2g} references")
        if self.files > since.files:
            grown.append(f"{(self.files - since.files) / exchanges:.2g} open files")
        return grown


def used(watched: Any) -> Used:
    """Now, with garbage collected."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Used(
        sys.getallocatedblocks(),
        _check.heap_bytes() or 0,
        pages * PAGE,
        len(list(Path("/proc/self/fd").iterdir())),
        sys.getrefcount(watched),
    )


def left(exchange: Callable[[], Any], watched: Any) -> list[str]:
    """What each exchange leaves, in words; it must do so twice to be believed."""
    for _ in range(WARM_UP):
        exchange()
    grown: list[str] = []
    for _ in range(2):
        before = used(watched)
        for _ in range(EXCHANGES):
            exchange()
        grown = used(watched).growth(before, EXCHANGES)
        if not grown:
            break
    return grown


def require_none(
    exchange: Callable[[], Any], watched: Any, control: Callable[[], Any] | None = None
) -> str:
    """Raises Broken where each exchange leaves something, unless the control, which exchanges
    nothing, leaves the same."""
    grown = left(exchange, watched)
    if not grown:
        return f"nothing is left of {EXCHANGES:,} exchanges"
    said = f"each exchange leaves {' and '.join(grown)}"
    if control is not None and left(control, watched) == grown:
        raise Unclear(f"{said}; so does each view of an array, without any exchange")
    raise Broken(said)
