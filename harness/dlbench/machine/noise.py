"""Sources of noise on this machine right now, observed for a short time.

A probe starts when it is made and ends with finish(): work in between, such as planning a run,
adds no time. Our own work is subtracted. Like `machine` it takes the root of the file system, so
that a test can plant a machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dlbench import values
from dlbench.machine import machine
from dlbench.text.layout import count

PROBE_S = 0.6  #: the least length of a probe
LOOP_S = 0.2  #: of that, in a loop of our own
#: Above these shares of the time of our cores a machine is too busy to measure.
MOST_OTHERS = 0.2
MOST_STOLEN = 0.02
#: Below this share of its highest frequency a core that works is slowed down.
LEAST_FREQUENCY = 0.5
#: Above this a fixed loop differs too much from itself.
MOST_LOOP = 0.05


@dataclass(frozen=True)
class Noise:
    """Shares from 0 to 1; None where the system does not tell."""

    seconds: float  #: length of the probe
    cores: int
    other_processes: float | None = None  #: of the cores' time, what other processes used
    stolen: float | None = None  #: of the cores' time, what the hypervisor gave to others
    frequency: float | None = None  #: of the core that worked, over its highest
    fixed_loop: float | None = None  #: by which slow rounds of a fixed loop exceed the median round

    def to_json(self) -> dict[str, Any]:
        """As `context.dlbench.noise`: what is known."""
        known = {key: value for key, value in asdict(self).items() if value is not None}
        del known["cores"]  # the machine has them
        found = {key: round(value, 4) for key, value in known.items()}
        return {**found, "too_busy": bool(list(self.reasons()))}

    def facts(self) -> Iterator[str]:
        """The same for a person."""
        if self.other_processes is not None:
            cores = count(self.cores, "core")
            yield f"other processes {values.percent(self.other_processes)} of {cores}"
        if self.stolen:
            yield f"stolen {values.percent(self.stolen)}"
        if self.frequency is not None:
            yield f"frequency {values.percent(self.frequency)}"
        if self.fixed_loop is not None:
            yield f"fixed loop {values.percent(self.fixed_loop)}"

    def reasons(self) -> Iterator[str]:
        """Why the machine is too busy to measure; nothing where it is not."""
        if self.other_processes is not None and self.other_processes > MOST_OTHERS:
            yield f"other processes above {values.percent(MOST_OTHERS)}"
        if self.stolen is not None and self.stolen > MOST_STOLEN:
            yield f"stolen time above {values.percent(MOST_STOLEN)}"
        if self.frequency is not None and self.frequency < LEAST_FREQUENCY:
            yield f"frequency below {values.percent(LEAST_FREQUENCY)}"


@dataclass(frozen=True)
class _Ticks:
    """Processor time in ticks, summed over some cores; `own` is ours and our children's."""

    busy: int
    stolen: int
    whole: int
    own: int


def _ticks(root: Path, cores: Collection[int]) -> _Ticks | None:
    """Of these cores, or of all where none of them is listed; None where the system has none."""
    lines = [line.split() for line in machine.read(root, "proc/stat").splitlines()]
    found = [line for line in lines if line and line[0] in {f"cpu{core}" for core in cores}]
    found = found or [line for line in lines if line and line[0] == "cpu"]
    # user nice system idle iowait irq softirq steal; what follows is in them already
    numbers = [[int(word) for word in line[1:9]] for line in found if len(line) > 8]
    if not numbers:
        return None
    whole = sum(map(sum, numbers))
    stolen = sum(row[7] for row in numbers)
    idle = sum(row[3] + row[4] for row in numbers)
    # utime stime cutime cstime, behind the name, which may hold anything
    own = machine.read(root, "proc/self/stat").rpartition(")")[2].split()[11:15]
    return _Ticks(whole - idle - stolen, stolen, whole, sum(map(int, own)))


class NoiseProbe:
    """Observes the machine from its construction to finish()."""

    def __init__(
        self,
        root: Path = Path("/"),
        cores: Collection[int] | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        loop: Callable[[float], float] | None = None,
    ) -> None:
        self._root, self._cores = root, machine.core_numbers() if cores is None else cores
        self._now, self._sleep, self._loop = now, sleep, loop or loop_spread
        self._begin = now()
        self._before = _ticks(root, self._cores)

    def finish(self) -> Noise:
        """Ends the observation; waits until it is PROBE_S long."""
        spread = self._loop(LOOP_S)
        frequency = _frequency(self._root, self._cores)
        rest = self._begin + PROBE_S - self._now()
        if rest > 0:
            self._sleep(rest)
        seconds = self._now() - self._begin
        after, before = _ticks(self._root, self._cores), self._before
        if before is None or after is None or after.whole <= before.whole:
            return Noise(seconds, len(self._cores), frequency=frequency, fixed_loop=spread)
        whole = after.whole - before.whole
        others = after.busy - before.busy - (after.own - before.own)
        return Noise(
            seconds,
            len(self._cores),
            other_processes=max(0.0, others / whole),
            stolen=(after.stolen - before.stolen) / whole,
            frequency=frequency,
            fixed_loop=spread,
        )


def _frequency(root: Path, cores: Collection[int]) -> float | None:
    """Of the core that just worked, and so is the fastest of ours, over its highest frequency."""
    shares = []
    for core in cores:
        folder = f"{machine.CPU}/cpu{core}/cpufreq"
        found = [machine.read(root, f"{folder}/{name}_freq") for name in
                 ("scaling_cur", "cpuinfo_max")]  # fmt: skip
        if all(word.isdigit() and int(word) for word in found):
            shares.append(int(found[0]) / int(found[1]))
    return max(shares, default=None)


def loop_spread(seconds: float) -> float:
    """The share by which the slower rounds of a fixed loop exceed the median round."""
    rounds = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter_ns()
        for _ in range(2000):
            pass
        rounds.append(time.perf_counter_ns() - begin)
    rounds.sort()
    median = rounds[len(rounds) // 2]
    return rounds[int(len(rounds) * 0.95)] / median - 1
