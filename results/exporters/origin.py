"""Where and when a cell was measured, and with which versions, so that the exports of several runs
can stand in one table.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

from dlbench.document import Document, Entry


@dataclass(frozen=True)
class Origin:
    """The origin of one cell; None where it is not known."""

    run: str  #: the same for the cells of one run, and another for each run
    date: str | None
    host: str | None
    python: str | None
    producer_version: str | None
    consumer_version: str | None

    @property
    def values(self) -> tuple[str | None, ...]:
        return astuple(self)


COLUMNS = tuple(field.name for field in fields(Origin))


class Origins:
    """The origins of a document's cells."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._runs = {name: context.run_id for name, context in document.contexts.items()}

    def of(self, entry: Entry) -> Origin:
        """The origin of that cell."""
        context, environment = self._document.origin(entry)
        versions = environment.libraries
        return Origin(
            run=self._runs.get(entry.machine) or self._runs[""],
            date=context.date or None,
            host=context.host_name or None,
            python=environment.python or None,
            producer_version=versions.get(entry.producer),
            consumer_version=versions.get(entry.consumer),
        )
