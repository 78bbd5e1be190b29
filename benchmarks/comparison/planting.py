"""Makes a native consumer that is slower by a known share, from `work` of the faulty adapter.

A processor hides a few multiplications behind the rest of an exchange. So both sides do some, and
the slower side does more.
"""

from __future__ import annotations

import math
from pathlib import Path

from dlbench import _core
from dlbench.libraries import discover

NAME = "planted"
BASE_STEPS = 100
FAR = 20
ADAPTER = """\
from dlbench import _faulty_consumer
DISTRIBUTION = None
fault = _faulty_consumer.Fault("work", {steps})
PROTOCOLS = {{"dlpack": fault.from_dlpack}}
"""


def adapters(folder: Path, steps: int, text: str = ADAPTER) -> Path:
    """A folder for --adapters with a consumer `planted` that does this many more steps."""
    (folder / "consumers").mkdir(parents=True)
    (folder / "consumers" / f"{NAME}.py").write_text(text.format(steps=steps))
    return folder


def libraries(folder: Path, environment: str) -> list[_core.Library]:
    """The libraries of one side of a comparison: the native producer and the planted consumer."""
    found = discover.catalogue(folder)
    made = [discover.library(name, found.roles(name)) for name in ("native", NAME)]
    for library in made:
        library.environment = environment
    return made


def steps_for(share: float, base_ns: float, far_ns: float) -> tuple[int, float]:
    """The number of steps that make an exchange slower by at least this share, and the share that
    they add. Uses the times with BASE_STEPS, and with FAR times as many."""
    step = (far_ns - base_ns) / ((FAR - 1) * BASE_STEPS)
    more = math.ceil(share * base_ns / step)
    return BASE_STEPS + more, more * step / base_ns
