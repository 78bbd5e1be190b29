"""The time of `tests/gpu/run`: what a stage and each of its runs gets, and what does not fit."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: What the whole run may take, in seconds.
TOTAL_S = float(os.environ.get("DLBENCH_GPU_SECONDS", "540"))
#: Seconds of each library's import, in the folder of the results.
IMPORTS = "imports.json"
#: Of a run of dlbench besides imports and rounds: processes, floors, trials after the rounds.
RUN_S = 10.0


@dataclass(frozen=True)
class Need:
    """Seconds that a stage or a run needs."""

    import_s: float
    least_s: float  #: with the imports
    weight: float = 1.0  #: of its part of the time that is left after all imports


def first_limit(left: float, needs: Sequence[Need]) -> float:
    """What the first one gets. If the time does not hold all, the later ones are cut."""
    spare = max(0.0, left - sum(need.import_s for need in needs))
    share = needs[0].import_s + spare * needs[0].weight / sum(need.weight for need in needs)
    return min(left, max(needs[0].least_s, share))


@dataclass
class Turn:
    """One of a stage's runs: its libraries and its time, in seconds."""

    libraries: tuple[str, ...]
    share: float
    import_s: float

    def budget(self, most_s: float) -> str:
        """What it may measure for: what imports and the run itself leave, at least a second."""
        return f"{max(1.0, min(most_s, self.share - self.import_s - RUN_S)):.0f}s"

    def timeout(self) -> str:
        """The deadline of a step, which an import is."""
        return f"{max(30.0, 3 * self.import_s):.0f}s"


@dataclass(frozen=True)
class Turns:
    """A stage's runs: the libraries of each, and how often one run imports them. Passes after the
    rounds, and each group of rules, start workers that import again."""

    runs: Callable[[], Sequence[Sequence[str]]]
    imports: int
    base_s: float = RUN_S + 5

    def need(self, seconds: dict[str, float], some: Sequence[str]) -> Need:
        imports = self.imports * sum(seconds.get(each, 0.0) for each in {*some})
        return Need(imports, imports + self.base_s)

    def explain(self, seconds: dict[str, float], some: Sequence[str], left: float) -> str:
        """Why a run does not fit into the seconds that are left."""
        each = ", ".join(f"{name} {seconds.get(name, 0.0):.1f} s" for name in dict.fromkeys(some))
        return (
            f"needs {self.need(seconds, some).least_s:.0f} s: {self.base_s:.0f} s and the imports"
            f" of {self.imports} workers ({each}); {max(left, 0.0):.0f} s are left;"
            f" DLBENCH_GPU_SECONDS extends the run"
        )


@dataclass(frozen=True)
class Plan:
    """The time of a stage: its part of a run of 540 s, besides the runs that import libraries."""

    seconds: float
    turns: Turns | None = None

    def need(self, seconds: dict[str, float]) -> Need:
        if self.turns is None:
            return Need(0.0, self.seconds * TOTAL_S / 540, self.seconds)
        each = [self.turns.need(seconds, some) for some in self.turns.runs()]
        imports, least = sum(n.import_s for n in each), sum(n.least_s for n in each)
        return Need(imports, least, self.seconds)


def import_seconds(out: Path) -> dict[str, float]:
    """By library, as stage `imports` recorded them; empty before."""
    with contextlib.suppress(OSError, ValueError):
        found: dict[str, float] = json.loads((out / IMPORTS).read_text())
        return found
    return {}
