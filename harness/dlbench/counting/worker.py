"""A worker under valgrind, asked one request at a time."""

from __future__ import annotations

from pathlib import Path

from dlbench import asking
from dlbench.counting import valgrind
from dlbench.counting.profile import Profile, read
from dlbench.environments.environment import Environment


class CountFailed(asking.AskFailed):
    """Why there is no count, in one line."""


class Worker(asking.Worker):
    """One process in an environment, its files in `folder`."""

    failure = CountFailed

    def __init__(self, folder: Path, place: Environment, timeout_s: float) -> None:
        self._out = folder / "callgrind"
        self._passes = 0
        super().__init__(
            lambda fd: valgrind.command(self._out, place, fd),
            timeout_s,
            "the worker under valgrind",
            valgrind.environment(),
            valgrind.settle_addresses,
        )

    def passed(self) -> Profile:
        """The profile of the latest `count`."""
        self._passes += 1
        path = self._out.with_name(f"{self._out.name}.{self._passes}")
        profile = read(path)
        path.unlink()
        return profile
