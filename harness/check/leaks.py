"""Tests whether each of many exchanges leaks."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import _check
from dlbench.check.verdict import Broken, NotApplicable, Unclear

EXCHANGES = 10_000
#: Tolerated once, for caches and pools of the library.
WARM_UP = 1_000
#: Growth in one exchange above which it is a leak. The limits allow for an object in a hundred
#: exchanges that is not the library's, for the kernel's pages, and for arenas of threads.
MOST = {
    "Python objects": 0.01,
    "bytes of the heap": 8.0,
    "bytes of memory": 256.0,
    "references": 0.01,
    "open files": 0.0,
}
#: What a library's own threads get to free what work on a device held, in seconds.
SETTLE_S = 0.5
#: Share of a leak that a control must leave to show that the exchange is not the cause.
ALIKE = 0.8
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Used:
    """The resources that the process holds."""

    blocks: int
    heap: int
    resident: int
    files: int
    references: int

    def growth(self, since: Used, exchanges: int) -> dict[str, float]:
        """The resources that grew with each exchange, and by how much."""
        files = (self.files - since.files) / exchanges
        grown = {
            "Python objects": (self.blocks - since.blocks) / exchanges,
            "bytes of the heap": (self.heap - since.heap) / exchanges,
            "bytes of memory": (self.resident - since.resident) / exchanges,
            "references": (self.references - since.references) / exchanges,
            "open files": files,
        }
        grown = {what: often for what, often in grown.items() if often > MOST[what]}
        if "bytes of the heap" in grown:
            grown.pop("bytes of memory", None)
        return grown


def used(watched: Any) -> Used:
    """The resources in use now, after garbage collection."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Used(
        sys.getallocatedblocks(),
        _check.heap_bytes() or 0,
        pages * PAGE,
        len(list(Path("/proc/self/fd").iterdir())),
        sys.getrefcount(watched),
    )


def left(exchange: Callable[[], Any], watched: Any) -> dict[str, float]:
    """The leak of each exchange, which must be observed twice, and be there after a wait."""
    for _ in range(WARM_UP):
        exchange()
    grown: dict[str, float] = {}
    for _ in range(2):
        before = used(watched)
        for _ in range(EXCHANGES):
            exchange()
        grown = used(watched).growth(before, EXCHANGES)
        if grown:
            time.sleep(SETTLE_S)
            grown = used(watched).growth(before, EXCHANGES)
        if not grown:
            break
    return grown


def require_none(
    exchange: Callable[[], Any],
    watched: Any,
    controls: Mapping[str, Callable[[], Any]] | None = None,
) -> str:
    """Raises Broken if each exchange leaks. Raises Unclear if a control, which makes no exchange,
    leaks as much."""
    grown = left(exchange, watched)
    if not grown:
        return f"no leak in {EXCHANGES:,} exchanges"
    text = " and ".join(f"{often:.2g} {what}" for what, often in grown.items())
    for name, control in (controls or {}).items():
        try:
            alone = left(control, watched)
        except (Exception, NotApplicable):
            continue  # the library does not support the control
        if all(alone.get(what, 0) > ALIKE * often for what, often in grown.items()):
            raise Unclear(f"each exchange leaks {text}; so does each {name} without an exchange")
    raise Broken(f"each exchange leaks {text}")
