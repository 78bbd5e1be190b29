"""The rule that both fault-injecting adapters of this process break."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlbench.case import Case
from dlbench.check.situation import spelled, word_of

_chosen = ""
_where = _here = ""


def choose(argument: tuple[str, str | None]) -> None:
    """Sets the rule from an adapter's ARGUMENT: RULE, or RULE@SITUATION where the fault is to show
    in that situation alone; empty for adapters without a fault."""
    global _chosen, _where
    _chosen, _, _where = (argument[1] or "").partition("@")


def enter(case: Case | str, keywords: Mapping[str, Any]) -> None:
    """Sets the situation of a call."""
    global _here
    word = case if isinstance(case, str) else word_of(case) or "line"
    _here = f"{word} {spelled(keywords)}".strip()


def chosen() -> str:
    """The rule's name, or an empty text."""
    return _chosen if _where in ("", _here) else ""


def breaks(rule: str, usually: bool = True) -> bool:
    """Is this rule to be broken? `usually`: where the fault shows, unless it is confined to a
    situation."""
    return rule == chosen() and (usually or bool(_where))
