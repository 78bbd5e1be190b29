"""The rule that both fault-injecting adapters of this process break."""

from __future__ import annotations

_chosen = ""


def choose(argument: tuple[str, str | None]) -> None:
    """Sets the rule from an adapter's ARGUMENT; empty for adapters without a fault."""
    global _chosen
    _chosen = argument[1] or ""


def chosen() -> str:
    """The rule's name, or an empty text."""
    return _chosen


def breaks(rule: str) -> bool:
    """Is this rule to be broken?"""
    return rule == _chosen
