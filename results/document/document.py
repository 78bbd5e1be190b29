"""A results document: its context and its entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from dlbench import _core
from dlbench.document.context import Context, EnvironmentFacts, Run
from dlbench.document.entry import EXCHANGE, Axis, Entry, Measured, NotMeasured, Pair
from dlbench.document.keys import Check
from dlbench.document.record import Record
from dlbench.environments.environment import DEFAULT
from dlbench.text.grouping import grouped

E = TypeVar("E", bound=Entry)


class Document:
    """A checked results document, or one machine's share of it."""

    def __init__(
        self,
        context: Mapping[str, Any],
        measured: Sequence[Measured],
        not_measured: Sequence[NotMeasured],
        checks: Sequence[Check] | None = None,
    ) -> None:
        self.context = Context(context)
        self.measured = measured
        self.not_measured = not_measured
        self.checks = checks or ()
        self.is_of_checks = checks is not None  #: was it made by `dlbench check`?

    @cached_property
    def run(self) -> Run:
        """The document's `context.dlbench`."""
        return self.context.run

    @cached_property
    def devices(self) -> list[str]:
        """The names of the devices that were measured, without the CPU's."""
        return self.run.machine.units({entry.device for entry in self.measured})

    @cached_property
    def entries(self) -> list[Entry]:
        """Every cell, measured or not."""
        return [*self.measured, *self.not_measured]

    @cached_property
    def exchanges(self) -> list[Entry]:
        """The entries of whole exchanges, one for each clock, without those of their phases."""
        return [entry for entry in self.entries if entry.is_exchange]

    @cached_property
    def by_pair(self) -> dict[Pair, list[Entry]]:
        """The entries of each pair."""
        return grouped(self.entries, lambda entry: entry.pair)

    @cached_property
    def environments(self) -> dict[str, EnvironmentFacts]:
        """The environments by name, dlbench's own first."""
        found = self.run.environments.items()
        return dict(sorted(found, key=lambda item: environment_rank(item[0])))

    def environment(self, name: str) -> EnvironmentFacts:
        """The facts of an environment; an empty record if nothing is known."""
        return self.environments.get(name, NOWHERE)

    def versions(self, environment: str) -> dict[str, str]:
        """Versions by library in one environment."""
        return self.environment(environment).versions

    @cached_property
    def machines(self) -> list[str]:
        """The names of the machines of a merged document; none in one of a single machine."""
        return sorted(self._machines)

    @property
    def _machines(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.context._json["dlbench"].get("machines", {})
        return found

    def origin(self, entry: Entry) -> tuple[Context, EnvironmentFacts]:
        """The context of the entry's machine, and the environment in which it was measured."""
        context = self.contexts.get(entry.machine, self.context)
        return context, context.run.environments.get(entry.environment, NOWHERE)

    @cached_property
    def contexts(self) -> dict[str, Context]:
        """The context of each machine; of a single one under no name."""
        return {name: Context(_context(own)) for name, own in self._machines.items()} or {
            "": self.context
        }

    def share_of(self, machine: str) -> Document:
        """One machine's share of a merged document: its own context, and entries that still name
        the machine, so that commands find them in the merged document."""
        return Document(
            _context(self._machines[machine]),
            sorted(self._measured_by_machine.get(machine, ()), key=_own_name),
            sorted(self._not_measured_by_machine.get(machine, ()), key=_own_name),
            [check for check in self.checks if check.machine == machine] or None,
        )

    @cached_property
    def _measured_by_machine(self) -> dict[str, list[Measured]]:
        return grouped(self.measured, lambda entry: entry.machine)

    @cached_property
    def _not_measured_by_machine(self) -> dict[str, list[NotMeasured]]:
        return grouped(self.not_measured, lambda entry: entry.machine)

    def shares(self) -> list[tuple[str, Document]]:
        """(machine, its share) each; of a single machine the document itself, under no name."""
        return self._shares or [("", self)]

    @cached_property
    def _shares(self) -> list[tuple[str, Document]]:
        return [(name, self.share_of(name)) for name in self.machines]

    def by_machine(self) -> list[tuple[str, Document]]:
        """(machine, its document as it was before it was merged) each; of a single machine the
        document itself, under no name."""
        return [(name, self.of_machine(name)) for name in self.machines] or [("", self)]

    def of_machine(self, machine: str) -> Document:
        """One machine's own document, as it was before it was merged."""
        share = self.share_of(machine)
        made = {
            "context": share.context._json,
            "benchmarks": [on_machine(entry, "") for entry in share.measured],
            "not_measured": [on_machine(entry, "") for entry in share.not_measured],
        }
        if share.is_of_checks:
            made["checks"] = [on_machine(check, "") for check in share.checks]
        return parse_document(made)

    @property
    def lists(self) -> tuple[Sequence[Record], Sequence[Record], Sequence[Record]]:
        """The items of the keys `benchmarks`, `not_measured` and `checks`."""
        return self.measured, self.not_measured, self.checks

    def to_json(self) -> dict[str, Any]:
        """The JSON object as it is written."""
        made: dict[str, Any] = {
            "context": self.context.to_json(),
            "benchmarks": [entry.to_json() for entry in self.measured],
            "not_measured": [entry.to_json() for entry in self.not_measured],
        }
        if self.is_of_checks:
            made["checks"] = [check.to_json() for check in self.checks]
        return made


NOWHERE = EnvironmentFacts({})


def parse_document(json: Mapping[str, Any]) -> Document:
    """The document of a JSON object that was checked."""
    return Document(
        json["context"],
        [Measured(entry) for entry in json["benchmarks"]],
        [NotMeasured(entry) for entry in json["not_measured"]],
        [Check(check) for check in json["checks"]] if "checks" in json else None,
    )


def _context(machine: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a machine's own document."""
    own = dict(machine)
    return {**own.pop("context"), "dlbench": own}


def on_machine(record: Record, machine: str) -> dict[str, object]:
    """The JSON object of an entry or a check, as that of this machine, or of a single one."""
    made = record.to_json(without=("machine",)) | ({"machine": machine} if machine else {})
    names = [key for key in ("name", "run_name") if record.has(key)]
    return made | dict.fromkeys(names, _core.cell_name(made)) if names else made


def _own_name(entry: Entry) -> str:
    """The cell's name before it was merged."""
    return _core.cell_name(entry.to_json(without=("machine",)))


def environment_rank(name: str) -> tuple[bool, str]:
    """Sorts environments: our own first."""
    return name != DEFAULT, name


def exchanges_once(entries: Iterable[E]) -> list[E]:
    """Each exchange once, though it has a cell for each phase and clock.

    A cell with a number has priority, then the clock `call`, if it was requested.
    """
    found: dict[tuple[Axis, ...], E] = {}
    for entry in entries:
        if entry.is_exchange:
            key = entry.axes((*EXCHANGE, "machine"))
            found[key] = max(found.get(key, entry), entry, key=_rank)
    return list(found.values())


def _rank(entry: Entry) -> tuple[bool, bool]:
    return isinstance(entry, Measured), entry.clock == "call"
