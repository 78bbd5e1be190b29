"""Which rule the two rule breakers break: one in a process, the same for both."""

from __future__ import annotations

_chosen = ""


def choose(argument: tuple[str, str | None]) -> None:
    """By an adapter's ARGUMENT: a rule's name, or nothing for honest halves."""
    global _chosen
    _chosen = argument[1] or ""


def chosen() -> str:
    """The rule's name, or nothing."""
    return _chosen


def breaks(rule: str) -> bool:
    """Is it this one?"""
    return rule == _chosen
