"""Where an array lies: `cpu`, `cuda:0`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dlbench.errors import BadInput


@dataclass(frozen=True, slots=True)
class Device:
    """A kind of device, and its number among those of its kind."""

    kind: str
    index: int

    @classmethod
    def parse(cls, word: str) -> Device:
        """ "cuda:1" -> cuda, 1; "cpu" -> cpu, 0. Raises BadInput for what is no such word."""
        found = re.fullmatch(r"([^:]+)(?::([0-9]{1,6}))?", word)
        if found is None:
            raise BadInput(f"the cell's device is {word[:80]!r}; expected KIND or KIND:NUMBER")
        return cls(found[1], int(found[2] or 0))
