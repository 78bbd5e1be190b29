"""Texts for the ways in which processes end."""

from __future__ import annotations

import signal

import pytest

from dlbench.errors import signal_name


@pytest.mark.parametrize(
    ("status", "name"),
    [(0, ""), (3, ""), (-signal.SIGSEGV, "SIGSEGV"), (-40, "signal 40")],
)
def test_a_signal_has_its_name_or_its_number(status: int, name: str) -> None:
    assert signal_name(status) == name
