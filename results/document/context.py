"""A document's facts about the run as a whole: its machine, its environments, its options."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator

from dlbench.document import keys
from dlbench.document.record import Key, part, parts_by_name
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import count

#: A machine's name in a document of several machines.
MACHINE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


class EnvironmentFacts(keys.Environment):
    """A Python interpreter with its packages, as its workers found it."""

    __slots__ = ()

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


class Machine(keys.Machine):
    """The machine. A key that the system does not report is absent or `unknown`."""

    __slots__ = ()

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


class Request(keys.RunRequest):
    """The options of the run, as they were typed."""

    __slots__ = ()

    @property
    def is_pair(self) -> bool:
        """Are its exchanges those of one pair of libraries, in both directions?"""
        return 0 < len(set(self.pair)) <= 2

    def words(self, option: str) -> str:
        """The value of an option as it is typed: "numpy,torch"; empty where it was not given."""
        value = self._json.get(option) or ""
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)


class Run(keys.Dlbench):
    """`context.dlbench`: the version, the machine and the options of the run."""

    __slots__ = ()
    run = Key("")  #: in the record of a run: its name, made of the whole document
    machine_name = Key("")  #: in the record of a run: that of a document of several machines
    request = part(Request)
    machine = part(Machine)
    environments = parts_by_name(EnvironmentFacts)

    @property
    def did_end(self) -> bool:
        """Was it neither interrupted nor killed?"""
        return self.wall_s > 0 and not self.signal

    @property
    def is_search(self) -> bool:
        """Is it one of the runs of a search?"""
        return self.command[1:2] == ["bisect"]

    def resume_command(self, folder: object) -> str:
        """The command that resumes the run in this folder. It repeats the options that name code:
        interpreters and adapters."""
        if self.is_search:  # of which it is a part
            return "type the command again with --resume and the folder of the search"
        verb = [word for word in self.command[1:2] if word in ("track", "canary")]
        verb = ["compare"] if "compare" in self._json else verb
        named = [("--env", text) for text in self.request.env]
        if self.compare.env:
            named = [*zip(("--base-env", "--head-env"), self.compare.env, strict=False)]
        if self.request.adapters:
            named.append(("--adapters", self.request.adapters))
        words = [word for pair in named for word in pair]
        return dlbench_command(*verb, "--resume", folder, *words)


class Context(keys.Context):
    """The document's `context`."""

    __slots__ = ()
    run = part(Run, "dlbench")

    @property
    def run_id(self) -> str:
        """A name for the run, made of its facts: machine, date, duration, options, measured
        noise."""
        own = json.dumps(self.to_json()).encode()
        return self.run.run or hashlib.sha256(own).hexdigest()[:12]
