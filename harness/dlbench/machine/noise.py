"""Sources of noise on this machine right now, observed for a short time.

A probe starts when it is made and ends with finish(): work in between, such as planning a run,
adds no time. dlbench's own work is subtracted. Like `machine` it has the root of the file system as
an argument, so that tests can fake a machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dlbench import values
from dlbench.errors import BadInput
from dlbench.machine import device_use, machine
from dlbench.machine.device_use import DeviceUse

WAIT_S = 2.0  #: between two observations of a busy machine
PROBE_S = 0.6  #: the least length of a probe
REFERENCE_S = 0.2  #: part of it in which the reference exchange is called
#: Above these shares of the cores' time a machine is too busy to measure.
MOST_OTHERS = 0.2
MOST_STOLEN = 0.02
#: Below this share of its highest frequency a busy core is slowed down.
LEAST_FREQUENCY = 0.5
#: Above this share of its time a device is too busy to measure on.
MOST_DEVICE = 0.05
#: Above this the reference exchange varies too much.
MOST_SPREAD = 0.05
#: Calls of a round: some 20 us, so that the time to read the clock is negligible.
CALLS = 500


@dataclass(frozen=True)
class Source:
    """A source of noise: its present value, the reasons why it is too high, and advice."""

    name: str
    value: str
    reasons: tuple[str, ...] = ()
    advice: str = ""


def _judged(name: str, value: str, advice: str, *rules: tuple[bool, str]) -> Source:
    """The source with the reasons of the rules that apply, and the advice if any applies."""
    reasons = tuple(reason for holds, reason in rules if holds)
    return Source(name, value, reasons, advice if reasons else "")


@dataclass(frozen=True)
class Noise:
    """Shares from 0 to 1; None where the system does not report it."""

    seconds: float  #: length of the probe
    cores: int
    other_processes: float | None = None  #: of the cores' time, what other processes used
    stolen: float | None = None  #: of the cores' time, what the hypervisor gave to others
    frequency: float | None = None  #: of the core that worked, over its highest
    reference_ns: float | None = None  #: median of the reference exchange, with a loop in Python
    reference_spread: float | None = None  #: by which its slow rounds exceed the median round
    devices: tuple[DeviceUse, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The known values, as in `context.dlbench.noise`."""
        known = {key: value for key, value in asdict(self).items() if value is not None}
        del known["cores"]  # the machine has them
        devices = known.pop("devices")
        found: dict[str, Any] = {key: round(value, 4) for key, value in known.items()}
        if devices:
            found["devices"] = [
                {key: value for key, value in one.items() if value is not None} for one in devices
            ]
        return {**found, "too_busy": bool(list(self.reasons()))}

    def facts(self) -> Iterator[str]:
        """The known values as text."""
        if self.other_processes is not None:
            yield f"other processes {values.percent(self.other_processes)}"
        if self.stolen:
            yield f"stolen {values.percent(self.stolen)}"
        if self.frequency is not None:
            yield f"frequency {values.percent(self.frequency)}"
        if self.reference_ns is not None and self.reference_spread is not None:
            slow_ns = self.reference_ns * (1 + self.reference_spread)
            times = values.duration_range(self.reference_ns, slow_ns)
            yield f"reference exchange {times}"
        for one in self.devices:
            if one.busy is not None:
                yield f"{one.device} busy {values.percent(one.busy)}"

    def reasons(self) -> Iterator[str]:
        """Why the machine is too busy to measure; empty if it is not."""
        for source in self.sources():
            yield from source.reasons

    def sources(self) -> Iterator[Source]:
        """Each source of noise with a known value."""
        if (others := self.other_processes) is not None:
            yield _judged(
                "other processes", f"{values.percent(others)} of the cores",
                "stop other processes, or raise --replicas",
                (others > MOST_OTHERS, f"other processes above {values.percent(MOST_OTHERS)}"),
            )  # fmt: skip
        if (stolen := self.stolen) is not None:
            yield _judged(
                "stolen time", values.percent(stolen),
                "other virtual machines use the cores: measure at another time",
                (stolen > MOST_STOLEN, f"stolen time above {values.percent(MOST_STOLEN)}"),
            )  # fmt: skip
        if (speed := self.frequency) is not None:
            yield _judged(
                "frequency", f"{values.percent(speed)} of the highest",
                "check governor, turbo and temperature",
                (speed < LEAST_FREQUENCY, f"frequency below {values.percent(LEAST_FREQUENCY)}"),
            )  # fmt: skip
        for one in self.devices:
            parts = [f"busy {values.percent(one.busy)}"] if one.busy is not None else []
            if one.processes is not None:
                parts.append(f"processes that compute: {one.processes}")
            busy = f"{one.device} busy above {values.percent(MOST_DEVICE)}"
            others_compute = f"other processes compute on {one.device}: {one.processes}"
            yield _judged(
                one.device, ", ".join(parts), "stop other processes on it",
                ((one.busy or 0) > MOST_DEVICE, busy), (bool(one.processes), others_compute),
            )  # fmt: skip
        if self.reference_ns is not None and (spread := self.reference_spread) is not None:
            # Advice only: this spread does not make the machine too busy.
            is_shared = (self.other_processes or 0) > MOST_SPREAD
            advice = "stop other processes" if is_shared else "raise --replicas"
            advice += ": the reference exchange varies by this much"
            slow = f"{values.duration(self.reference_ns)}, slow rounds +{values.percent(spread)}"
            yield Source("reference exchange", slow, (), advice if spread > MOST_SPREAD else "")


@dataclass(frozen=True)
class _Ticks:
    """Processor time in ticks, summed over some cores; `own` is ours and our children's."""

    busy: int
    stolen: int
    whole: int
    own: int


def _ticks(root: Path, cores: Collection[int]) -> _Ticks | None:
    """The ticks of these cores, or of all if none of them is listed; None if unknown."""
    lines = [line.split() for line in machine.read(root, "proc/stat").splitlines()]
    found = [line for line in lines if line and line[0] in {f"cpu{core}" for core in cores}]
    found = found or [line for line in lines if line and line[0] == "cpu"]
    # user nice system idle iowait irq softirq steal; the later columns are included in these
    numbers = [[int(word) for word in line[1:9]] for line in found if len(line) > 8]
    if not numbers:
        return None
    whole = sum(map(sum, numbers))
    stolen = sum(row[7] for row in numbers)
    idle = sum(row[3] + row[4] for row in numbers)
    # utime stime cutime cstime, after the name, which may contain any character
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
        time_reference: Callable[[float], tuple[float, float]] | None = None,
        devices: Callable[[Path], list[DeviceUse]] = device_use.read,
    ) -> None:
        self._root, self._cores = root, machine.core_numbers() if cores is None else cores
        self._now, self._sleep = now, sleep
        self._time_reference = time_reference or time_reference_exchange
        self._devices = devices
        self._begin = now()
        self._before = _ticks(root, self._cores)

    def finish(self) -> Noise:
        """Ends the observation; waits until it is PROBE_S long."""
        used = tuple(self._devices(self._root))
        median, spread = self._time_reference(REFERENCE_S)
        frequency = _frequency(self._root, self._cores)
        rest = self._begin + PROBE_S - self._now()
        if rest > 0:
            self._sleep(rest)
        seconds = self._now() - self._begin
        after, before = _ticks(self._root, self._cores), self._before
        others = stolen = None
        if before is not None and after is not None and after.whole > before.whole:
            whole = after.whole - before.whole
            used_by_others = after.busy - before.busy - (after.own - before.own)
            others = max(0.0, used_by_others / whole)
            stolen = (after.stolen - before.stolen) / whole
        return Noise(
            seconds,
            len(self._cores),
            other_processes=others,
            stolen=stolen,
            frequency=frequency,
            reference_ns=median,
            reference_spread=spread,
            devices=used,
        )


def wait_idle(
    first: Noise,
    most_s: float,
    probe: Callable[[], Noise],
    report: Callable[[str], object],
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Noise:
    """Observes the machine until it is idle. `first`: what was observed before; `report` receives
    each new reason to wait. Raises BadInput where it is still busy after `most_s` seconds.
    """
    end, found, reported = now() + most_s, first, ""
    while reasons := ", ".join(found.reasons()):
        if now() >= end:
            raise BadInput(
                f"the machine did not become idle within {most_s:g} s: {reasons}; nothing was "
                "measured: see 'dlbench doctor', or leave out --wait-idle"
            )
        if reasons != reported:
            report(f"waiting until the machine is idle: {reasons}")
            reported = reasons
        sleep(min(WAIT_S, max(0.0, end - now())))
        found = probe()
    return found


def _frequency(root: Path, cores: Collection[int]) -> float | None:
    """The frequency of the fastest core, which has just worked, over its highest frequency."""
    shares = []
    for core in cores:
        folder = f"{machine.CPU}/cpu{core}/cpufreq"
        found = [machine.read(root, f"{folder}/{name}_freq") for name in
                 ("scaling_cur", "cpuinfo_max")]  # fmt: skip
        if all(word.isdigit() and int(word) for word in found):
            shares.append(int(found[0]) / int(found[1]))
    return max(shares, default=None)


def time_reference_exchange(seconds: float) -> tuple[float, float]:
    """The median of native -> native, dlpack, 4 KiB, in this process, ns, and the share by which
    slow rounds exceed it. Longer than in a run: a loop in Python makes the calls."""
    from dlbench import _native_consumer, _native_producer

    exchange = _native_consumer.from_dlpack
    array = _native_producer.Array(memoryview(bytearray(4096)).cast("f"))
    rounds = list[float]()
    calls = range(CALLS)
    end = time.perf_counter() + seconds
    while not rounds or time.perf_counter() < end:
        begin = time.perf_counter_ns()
        for _ in calls:
            exchange(array)
        rounds.append((time.perf_counter_ns() - begin) / CALLS)
    rounds.sort()
    median = rounds[len(rounds) // 2]
    return median, rounds[int(len(rounds) * 0.95)] / median - 1
