"""Data of a page: compressed JSON, encoded as text that HTML does not interpret."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from dlbench.text.escaping import json_text

LEVEL = 5  #: of compression; a higher level is slow and saves few bytes
AT_ONCE = 8  #: chunks in memory at a time


def packed(value: Any) -> str:
    """The value as JSON in gzip's format, which browsers can unpack, as base64; deterministic."""
    raw = json_text(value, separators=(",", ":")).encode()
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(raw) + packer.flush()).decode("ascii")


def all_packed(values: Iterable[Any]) -> Iterator[str]:
    """Each value packed, in order. Packs several at once, because zlib releases the GIL."""
    source = iter(values)
    with ThreadPoolExecutor(2) as pool:
        while batch := list(islice(source, AT_ONCE)):
            yield from pool.map(packed, batch)
