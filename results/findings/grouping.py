"""Findings of several environments: each finding and its command name the environment."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlbench.document import Document, Entry, environment_rank
from dlbench.environments.environment import DEFAULT
from dlbench.text.escaping import dlbench_command

if TYPE_CHECKING:
    from dlbench.findings.finding import Finding

#: Verbs whose command names a cell: a further argument selects the environment.
CHOOSING = ("show", "repro", "debug", "explain")
#: The verbs among these that start the interpreter, which the command line must name.
STARTING = ("debug", "explain")


@dataclass(frozen=True)
class Place:
    """One environment's share of a run."""

    name: str
    python: str
    failed: bool  #: no worker could be started there
    entries: list[Entry]

    def named(self, finding: Finding) -> Finding:
        """Adds the environment to text and command, unless it is the default one."""
        if self.name == DEFAULT:
            return finding
        text = f"in {self.name}, {finding.text}"
        return dataclasses.replace(finding, text=text, command=self._command(finding.command))

    def _command(self, command: str) -> str:
        env = ("--env", f"{self.name}={self.python}")
        if self.failed:
            return dlbench_command("doctor", *env)
        words = shlex.split(command)[1:]
        verb, *rest = words or [""]
        if verb in CHOOSING:
            # The command may name it already, after the run and the pair.
            is_chosen = len(rest) < 3 or self.name in rest[3:]
            chosen = words if is_chosen else [*words, self.name]
            return dlbench_command(*chosen, *(env if verb in STARTING else ()))
        return dlbench_command(*words, *env) if rest and not verb.startswith("-") else command


def group_findings(
    places: Sequence[Place], find: Callable[[list[Entry]], Iterable[Finding]]
) -> Iterator[Finding]:
    """The findings of each environment; a finding that all of them share is reported once."""
    each = [list(find(place.entries)) for place in places]
    keys = [{_key(one) for one in found} for found in each]
    common = set.intersection(*keys) if len(keys) > 1 else set()
    for index, (place, found) in enumerate(zip(places, each, strict=True)):
        for one in found:
            if _key(one) not in common:
                yield place.named(one)
            elif index == 0:
                everywhere = f"in all environments, {one.text}"
                yield dataclasses.replace(place.named(one), text=everywhere)


def _key(finding: Finding) -> tuple[str, ...]:
    return finding.label, *(finding.key or (finding.text,))


def places(document: Document, entries: list[Entry]) -> list[Place]:
    """The environments that have entries, our own first."""
    found = []
    for name in sorted({entry.environment for entry in entries}, key=environment_rank):
        facts = document.environment(name)
        own = [entry for entry in entries if entry.environment == name]
        found.append(Place(name, facts.executable, bool(facts.failure), own))
    return found
