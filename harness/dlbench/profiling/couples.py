"""The exchanges of a plan, by the couple whose worker makes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dlbench import _core
from dlbench.environments.environment import DEFAULT

AXES = ("environment", "producer", "consumer", "protocol", "device", "case", "bytes")


@dataclass
class Couple:
    """Two libraries of an environment and what they exchange, as entries without results."""

    environment: str
    libraries: tuple[str, ...]
    exchanges: list[dict[str, Any]] = field(default_factory=list)

    @property
    def title(self) -> str:
        """ "numpy and torch in old"."""
        where = "" if self.environment == DEFAULT else f" in {self.environment}"
        return " and ".join(self.libraries) + where


def couples(cells: Iterable[_core.Cell]) -> list[Couple]:
    """Each exchange once, whatever phases and clocks were asked for; in the order of the plan."""
    found: dict[tuple[str, ...], Couple] = {}
    seen = set()
    for cell in cells:
        exchange = {axis: getattr(cell, axis) for axis in AXES}
        key = tuple(exchange.values())
        if key in seen:
            continue
        seen.add(key)
        libraries = tuple(sorted({cell.producer, cell.consumer}))
        place = (cell.environment, *libraries)
        couple = found.setdefault(place, Couple(cell.environment, libraries))
        couple.exchanges.append({**exchange, "name": _name(exchange), "clock": "call"})
    return list(found.values())


def _name(exchange: dict[str, Any]) -> str:
    axes = ("producer", "consumer", "protocol", "device", "case", "bytes")
    text = "exchange/" + "/".join(f"{axis}:{exchange[axis]}" for axis in axes)
    place = exchange["environment"]
    return text if place == DEFAULT else f"{text}/environment:{place}"
