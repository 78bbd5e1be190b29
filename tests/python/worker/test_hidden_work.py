"""Findings from counted CUDA calls: work that a zero-copy exchange causes on a device."""

from __future__ import annotations

from typing import Any

import pytest

import samples
from dlbench.findings.hidden import hidden_work
from typed import entry_of

KINDS = ("memcpy", "memset", "alloc", "free", "event", "query", "wait", "sync", "launch")


def labels(outcome: str, **calls: int) -> list[str]:
    counted: dict[str, Any] = {"api_calls": dict.fromkeys(KINDS, 0) | calls}
    entry = samples.measured("a", "b", 900.0, outcome=outcome, device="cuda:0", **counted)
    return [found.label for found in hidden_work([entry_of(entry)], "run")]


@pytest.mark.parametrize(
    ("outcome", "calls", "found"),
    [
        ("zero-copy", {}, []),
        ("zero-copy", {"event": 2, "wait": 1}, []),
        ("zero-copy", {"memcpy": 1}, ["hidden copy"]),
        # A kernel can copy too, and counts as a launch.
        ("zero-copy", {"launch": 1}, ["hidden kernel"]),
        ("zero-copy", {"memcpy": 1, "launch": 1}, ["hidden copy"]),
        ("device-copy", {"launch": 1}, []),
        ("copy", {"memcpy": 1, "launch": 1}, []),
    ],
)
def test_a_copy_by_a_kernel_is_hidden_work_too(
    outcome: str, calls: dict[str, int], found: list[str]
) -> None:
    assert labels(outcome, **calls) == found
