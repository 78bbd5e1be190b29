"""A document's facts about the run as a whole: its machine, its environments, its options."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dlbench.document.record import Key, Record, part, parts, parts_by_name
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import count

#: A machine's name in a document of several machines.
MACHINE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


class ReferenceExchange(Record):
    """The reference exchange, which every worker of an environment measures."""

    __slots__ = ()
    median_ns = Key(0.0)
    workers = Key(0)


class EnvironmentFacts(Record):
    """A Python interpreter with its packages, as its workers found it."""

    __slots__ = ()
    python = Key("")
    executable = Key("")
    failure = Key("")  #: why no worker could be started there
    gil = Key(True)
    libraries = Key[Mapping[str, str]]({})  #: versions
    floors_ns = Key[Mapping[str, float]]({})
    reference_exchange = part(ReferenceExchange)
    copy_floors_gb_per_s = Key[Mapping[str, float]]({})
    copy_floors_bytes = Key[Mapping[str, int]]({})
    context_flags = Key[Mapping[str, str]]({})  #: by device
    import_seconds = Key[Mapping[str, float]]({})  #: by library
    #: by library, then by kind: the names that its import changed for other libraries
    import_effects = Key[Mapping[str, Mapping[str, Sequence[str]]]]({})

    @property
    def versions(self) -> dict[str, str]:
        """The versions by library, in alphabetical order."""
        return dict(sorted(self.libraries.items()))

    @property
    def packages(self) -> dict[str, str]:
        """`versions` without NAME:ARGUMENT where NAME is there too."""
        found = self.versions
        return {
            name: version
            for name, version in found.items()
            if ":" not in name or name.partition(":")[0] not in found
        }


class Unit(Record):
    """One device of a driver."""

    __slots__ = ()
    name = Key("")
    uuid = Key("")
    facts = Key[Mapping[str, str]]({})


class Driver(Record):
    """The result of querying one driver."""

    __slots__ = ()
    name = Key("")
    state = Key("")
    units = parts(Unit)


class Machine(Record):
    """The machine. A key that the system does not report is absent or `unknown`."""

    __slots__ = ()
    cpu = Key("")
    cores = Key(0)
    kernel = Key("")
    governor = Key("unknown")
    turbo = Key("")
    virtual = Key(False)
    devices = parts(Driver)
    memory_bytes = Key(0)

    @property
    def processor(self) -> str:
        """Its name and cores; empty where the name is not known."""
        if not self.cpu:
            return ""
        return f"{self.cpu}, {count(self.cores, 'core') if self.cores else '? cores'}"

    def units(self, devices: Iterable[str]) -> list[str]:
        """The name of each device in "cuda:0" or "cuda:0+cpu", without those of the CPU."""
        used = {part for device in devices for part in device.split("+")}
        found = (
            unit.name
            for driver in self.devices
            for number, unit in enumerate(driver.units)
            if unit.name and f"{driver.name}:{number}" in used
        )
        return list(dict.fromkeys(found))

    def facts(self) -> Iterator[tuple[str, object]]:
        """All known facts, by key."""
        yield from self._json.items()


class DeviceUse(Record):
    """The use of one device right before the run, or of all of a kind."""

    __slots__ = ()
    device = Key("")
    busy = Key[float | None](None)
    processes = Key(0)


class Noise(Record):
    """The sources of noise right before the run; see `machine.noise`."""

    __slots__ = ()
    other_processes = Key[float | None](None)
    stolen = Key[float | None](None)
    frequency = Key[float | None](None)
    devices = parts(DeviceUse)
    too_busy = Key(False)


class Request(Record):
    """The options of the run, as they were typed."""

    __slots__ = ()
    pair = Key[Sequence[str]](())
    protocols = Key[Sequence[str]](())
    cases = Key[Sequence[str]](())
    sync = Key(False)
    capture = Key(False)
    isolate = Key(False)
    budget = Key("")
    replicas = Key(1)
    adapters = Key("")
    env = Key[Sequence[str]](())

    @property
    def is_pair(self) -> bool:
        """Are its exchanges those of one pair of libraries, in both directions?"""
        return 0 < len(set(self.pair)) <= 2

    def words(self, option: str) -> str:
        """The value of an option as it is typed: "numpy,torch"; empty where it was not given."""
        value = self._json.get(option) or ""
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)


class Dropped(Record):
    """Lines of the journal that could not be read."""

    __slots__ = ()
    lines = Key(0)
    first = Key("")


class Sides(Record):
    """The sides of a comparison of two environments."""

    __slots__ = ()
    env = Key[Sequence[str]](())  #: base and head; none where both are this environment


class Run(Record):
    """`context.dlbench`: the version, the machine and the options of the run."""

    __slots__ = ()
    schema = Key(1)
    version = Key("")
    command = Key[Sequence[str]](())
    wall_s = Key(0.0)
    seed = Key[int | None](None)
    fingerprint = Key("")
    run = Key("")  #: in the record of a run: its name, made of the whole document
    machine_name = Key("")  #: in the record of a run: that of a document of several machines
    round_s = Key(0.0)
    signal = Key(0)
    dropped = part(Dropped)
    request = part(Request)
    compare = part(Sides)
    not_installed = Key[Mapping[str, str]]({})  #: by missing library: the command that installs it
    machine = part(Machine)
    noise = part(Noise)
    environments = parts_by_name(EnvironmentFacts)

    @property
    def did_end(self) -> bool:
        """Was it neither interrupted nor killed?"""
        return self.wall_s > 0 and not self.signal

    def resume_command(self, folder: object) -> str:
        """The command that resumes the run in this folder. It repeats the options that name code:
        interpreters and adapters."""
        verb = ["compare"] if "compare" in self._json else []
        named = [("--env", text) for text in self.request.env]
        if self.compare.env:
            named = [*zip(("--base-env", "--head-env"), self.compare.env, strict=False)]
        if self.request.adapters:
            named.append(("--adapters", self.request.adapters))
        words = [word for pair in named for word in pair]
        return dlbench_command(*verb, "--resume", folder, *words)


class Cache(Record):
    """A cache of the processor."""

    __slots__ = ()
    type = Key("")
    level = Key(0)
    size = Key(0)
    num_sharing = Key(0)


class Context(Record):
    """The document's `context`."""

    __slots__ = ()
    date = Key("")
    host_name = Key("")
    num_cpus = Key(0)
    caches = parts(Cache)
    load_avg = Key[Sequence[float]](())
    run = part(Run, "dlbench")

    @property
    def run_id(self) -> str:
        """A name for the run, made of its facts: machine, date, duration, options, measured
        noise."""
        own = json.dumps(self.to_json()).encode()
        return self.run.run or hashlib.sha256(own).hexdigest()[:12]
