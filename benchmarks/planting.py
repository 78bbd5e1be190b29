"""A native consumer that is slower by a known share: `work` of the faulty adapter, under one name.

A processor hides a few multiplications behind the rest of an exchange; so both sides work through
some, and the slower one through more.
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


def adapters(folder: Path, steps: int) -> Path:
    """A folder for --adapters; its consumer `planted` does so many steps more."""
    (folder / "consumers").mkdir(parents=True)
    (folder / "consumers" / f"{NAME}.py").write_text(ADAPTER.format(steps=steps))
    return folder


def libraries(folder: Path, environment: str) -> list[_core.Library]:
    """What a side of a comparison needs: the native producer and the planted consumer."""
    found = discover.catalogue(folder)
    made = [discover.library(name, found.roles(name)) for name in ("native", NAME)]
    for library in made:
        library.environment = environment
    return made


def steps_for(share: float, base_ns: float, far_ns: float) -> tuple[int, float]:
    """The steps that make an exchange slower by at least that share, and by what share they do;
    from its times with BASE_STEPS, and with FAR times as many."""
    step = (far_ns - base_ns) / ((FAR - 1) * BASE_STEPS)
    more = math.ceil(share * base_ns / step)
    return BASE_STEPS + more, more * step / base_ns
