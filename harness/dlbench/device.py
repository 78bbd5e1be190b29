"""Where an array lies: `cpu`, `cuda:0`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dlbench.errors import BadInput

#: DLPack's number of each kind.
DLPACK_TYPES = {"cpu": 1, "cuda": 2, "metal": 8, "rocm": 10, "sim": 12, "npu": 12, "sycl": 14}


@dataclass(frozen=True, slots=True)
class Device:
    """A kind of device, and its number among those of its kind."""

    kind: str
    index: int

    @classmethod
    def parse(cls, word: str) -> Device:
        """ "cuda:1" -> cuda, 1; "cpu" -> cpu, 0. Raises BadInput for another text."""
        found = re.fullmatch(r"([^:]+)(?::([0-9]{1,6}))?", word)
        if found is None:
            raise BadInput(f"the cell's device is {word[:80]!r}; expected KIND or KIND:NUMBER")
        return cls(found[1], int(found[2] or 0))

    def in_dlpack(self) -> tuple[int, int]:
        """The device in DLPack's numbers. Raises BadInput for a kind without a number."""
        if self.kind not in DLPACK_TYPES:
            allowed = ", ".join(DLPACK_TYPES)
            raise BadInput(f"the cell's device is {self.kind!r}; allowed: {allowed}:NUMBER")
        return DLPACK_TYPES[self.kind], self.index
