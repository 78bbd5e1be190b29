"""Requests of the wire for workers outside the timed rounds; supervisor/wire.cpp has a run's."""

from __future__ import annotations

from typing import Any

from dlbench import _core
from dlbench.document import EXCHANGE, Entry
from dlbench.document.facts import import_order
from dlbench.libraries.discover import Catalogue, adapter


def load(role: str, library: str, path: str) -> dict[str, Any]:
    """The request that runs one adapter file."""
    return {"do": "load", "role": role, "library": library, "path": path}


def load_pair(entry: Entry, found: Catalogue) -> list[dict[str, Any]]:
    """The requests that run the files of both libraries. Raises BadInput for a library without its
    adapter."""
    for role in ("producer", "consumer"):
        adapter(found, role, str(entry.axis(role)))
    names = import_order(entry)
    roles = {name: found.roles(name) for name in names}
    # Both files of a library may define `ready`, and some pairs can be imported in one order only.
    return [
        load(role, name, str(roles[name][role].path))
        for name in names
        for role in ("producer", "consumer")
        if role in roles[name]
    ]


def prepare(entry: Entry, round_ns: float = _core.round_ns) -> dict[str, Any]:
    """The request that prepares a cell's exchange under the number 0."""
    exchange = {axis: entry.axis(axis) for axis in EXCHANGE}
    return prepare_exchange(exchange, entry.clock, _core.case(entry.case), round_ns)


def prepare_exchange(
    exchange: dict[str, Any], clock: str, case: dict[str, Any], round_ns: float
) -> dict[str, Any]:
    """The same for an exchange that is no cell of a run."""
    return {
        "do": "prepare",
        "id": 0,
        "exchange": exchange,
        "clocks": [clock],
        "round_ns": round_ns,
        "case": case,
    }
