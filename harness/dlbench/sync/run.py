"""Looks who waits in what a run has measured: a process for each producer and consumer."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlbench import _core, afterwards, asking, debug, exchanges, values
from dlbench import document as documents
from dlbench.asking import AskFailed, Worker
from dlbench.discover import Catalogue
from dlbench.environments.environment import where
from dlbench.grouping import grouped
from dlbench.values import Entry

WARNING = "sync: "  #: begins the warning of a cell where looking failed
#: Devices whose queues dlbench fills itself; elsewhere the producer's `busy` does.
WITH_STREAMS = ("cuda", "rocm", "sim")
#: A plain line of four-byte words: what is looked at is the exchange, not the kind of array.
CASE = "f32"
#: NumPy's functions on the array itself: nothing is handed over.
NO_CROSSING = ("array_ufunc", "array_function")
#: More hardware queues than the defaults, 4 on ROCm and 8 on CUDA: streams that share one look
#: synchronized.
HARDWARE_QUEUES = {"GPU_MAX_HW_QUEUES": "16", "CUDA_DEVICE_MAX_CONNECTIONS": "32"}
AXES = documents.EXCHANGE[:5]  #: up to the device: what is looked at once

Records = list[dict[str, Any]]  #: of one exchange, as the journal has them


@dataclass(frozen=True)
class Look:
    """One exchange: the cell that is looked at, and all measured cells that share its word."""

    entry: Entry
    sharing: list[Entry] = field(default_factory=list)


def has_queue(entry: Entry, found: Catalogue) -> bool:
    """Can anything fill a queue of the producer's? Of what is copied to another device nobody
    looks at a queue."""
    if "+" in entry["device"]:
        return False
    if entry["device"].partition(":")[0] in WITH_STREAMS:
        return True
    return any(file.has_busy for file in found.roles(entry["producer"]).values())


def to_look(document: dict[str, Any], found: Mapping[str, Catalogue]) -> list[Look]:
    """The exchanges that were measured and not looked at yet, each at its smallest size."""
    crossed = (
        entry
        for entry in documents.entries(document)
        if (values.is_measured(entry) or values.is_below(entry))
        and entry["protocol"] not in NO_CROSSING
    )
    looks = []
    for group in grouped(crossed, lambda entry: tuple(entry[axis] for axis in AXES)).values():
        plain = [
            each
            for each in group
            if (each["phase"], each["case"], each.get("clock", "call"))
            == ("exchange", CASE, "call")
        ]
        if not plain:
            continue
        entry = min(plain, key=lambda each: each["bytes"])
        told = afterwards.is_told(entry, "sync", WARNING)
        if not told and has_queue(entry, found[entry["environment"]]):
            looks.append(Look(entry, [each for each in group if each is not entry]))
    return looks


def couples(looks: list[Look]) -> list[list[Look]]:
    """The looks by environment, producer and consumer: what a library does to its process so that
    its work is asynchronous stays between these two."""

    def key(look: Look) -> tuple[str, ...]:
        return tuple(look.entry[axis] for axis in ("environment", "producer", "consumer"))

    return [of_couple for _, of_couple in sorted(grouped(looks, key).items())]


def look_at(
    looks: Sequence[Look], found: Catalogue, timeout_s: float
) -> Generator[Records, None, None]:
    """The journal's records, a list an exchange."""
    return exchanges.one_by_one(
        looks,
        start=asking.starting(found.environment, timeout_s, variables=_hardware_queues()),
        load=lambda worker: exchanges.load(worker, looks[0].entry, found),
        ask=_ask,
        failed=_failed,
        scratch="sync",
    )


def _hardware_queues() -> dict[str, str]:
    """What the user has set stays."""
    return {name: os.environ.get(name, value) for name, value in HARDWARE_QUEUES.items()}


def _failed(look: Look, why: AskFailed) -> Records:
    return _records(look, {"failure": str(why)})


def _ask(worker: Worker, look: Look) -> Records:
    request = {**debug.preparing(look.entry), "do": "sync"}
    _, found = exchanges.ask(worker, look.entry, request)
    return _records(look, {**found, "sync": [_handover(one) for one in found["sync"]]})


def _handover(told: dict[str, Any]) -> dict[str, Any]:
    """As the document has it: numbers for streams are numbers, and nothing is null."""
    stream = told.pop("stream")
    number = stream.removeprefix("-").isdigit()
    asked_by = "consumer" if told.pop("asked") else "dlbench"
    return {"stream": int(stream) if number else stream or None, "asked_by": asked_by, **told}


def _records(look: Look, found: dict[str, Any]) -> Records:
    """As the journal has them. A race is the exchange's: each size, clock, phase."""
    if not found.get("sync") and "failure" not in found:
        return []
    own = {"cell": documents.cell_name(look.entry), **found}
    race = found.get("race", "")
    seen = f"{race} (seen at {values.size(look.entry['bytes'])})"
    shared = [{"cell": documents.cell_name(each), "race": seen} for each in look.sharing]
    return [own, *shared] if race else [own]


def look_run(
    folder: Path, found: Mapping[str, Catalogue], step_timeout_s: float, *, quiet: bool
) -> int:
    """Looks who waits in what the run in `folder` measured and writes it into its journal. `found`
    are the adapters by environment. Returns as `afterwards.go_through`.
    """
    document = documents.load(Path(_core.write_document(str(folder))))

    def doing(couple: Sequence[Look]) -> str:
        entry = couple[0].entry
        names = f"{entry['producer']} -> {entry['consumer']}"
        return f"who waits: {names}{where(entry['environment'])}"

    def look(couple: Sequence[Look]) -> Generator[Records, None, None]:
        return look_at(couple, found[couple[0].entry["environment"]], step_timeout_s)

    def keep(records: Records) -> None:
        _core.append_sync(str(folder), json.dumps(records))

    looks = couples(to_look(document, found))
    return afterwards.go_through(looks, doing, look, keep, quiet=quiet)
