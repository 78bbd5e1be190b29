"""One line of `dlbench doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """`advice` is what to do; empty where nothing is wrong or nothing can be done."""

    name: str
    state: str
    advice: str = ""
