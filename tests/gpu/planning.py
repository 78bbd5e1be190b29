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
#: A run with a shorter import shows what a run takes besides imports.
SHORT_IMPORT_S = 1.0
#: A later run may take this much longer than an earlier one.
SPARE = 1.25


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


@dataclass
class Turns:
    """A stage's runs: the libraries of each, and how often one run imports them: passes after the
    rounds, and rules of `check`, start workers that import again. What runs of the stage really
    took replaces the numbers given here."""

    runs: Callable[[], Sequence[Sequence[str]]]
    imports: float
    base_s: float = RUN_S + 5
    is_base_measured: bool = False
    is_imports_measured: bool = False

    def need(self, seconds: dict[str, float], some: Sequence[str]) -> Need:
        imports = self.imports * import_once(seconds, some)
        return Need(imports, imports + self.base_s)

    def learn(self, import_s: float, took_s: float) -> None:
        """A run took this long, and one import of each of its libraries takes `import_s`."""
        if import_s < SHORT_IMPORT_S:
            base_s = SPARE * took_s
            self.base_s = max(self.base_s, base_s) if self.is_base_measured else base_s
            self.is_base_measured = True
        else:
            imports = SPARE * max(1.0, (took_s - self.base_s / SPARE) / import_s)
            self.imports = max(self.imports, imports) if self.is_imports_measured else imports
            self.is_imports_measured = True

    def explain(self, seconds: dict[str, float], some: Sequence[str], left: float) -> str:
        """Why a run does not fit into the seconds that are left."""
        each = ", ".join(f"{name} {seconds.get(name, 0.0):.1f} s" for name in dict.fromkeys(some))
        known = (
            ", as earlier runs took" if self.is_base_measured or self.is_imports_measured else ""
        )
        return (
            f"needs {self.need(seconds, some).least_s:.0f} s: {self.base_s:.0f} s and"
            f" {self.imports:.1f} times the imports ({each}){known};"
            f" {max(left, 0.0):.0f} s are left; DLBENCH_GPU_SECONDS extends the run"
        )


def import_once(seconds: dict[str, float], some: Sequence[str]) -> float:
    """Seconds of one import of each of the libraries."""
    return sum(seconds.get(each, 0.0) for each in {*some})


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
