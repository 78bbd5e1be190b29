"""A consumer that refuses a proxy: its requests to the array itself are not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wire import F32, plant, prepare, send_request

pytestmark = pytest.mark.process

#: `__array__` copies: the producer does, for each caller.
MAKE = """
class Mine:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array.copy()


def make(case, device):
    return Mine(case.numpy())


def address(mine):
    return mine.array.ctypes.data


def values(mine):
    return mine.array
"""
TAKE = """
import numpy as np


def take(x):
    if type(x).__name__ != "Mine":
        raise TypeError("what is this?")
    return TAKEN


PROTOCOLS = {"convert": take}
"""


def answers(folder: Path, taken: str) -> list[dict[str, Any]]:
    """To `prepare`, `judge` and `split`."""
    return send_request(
        folder,
        plant(folder, "producer", "giver", MAKE),
        plant(folder, "consumer", "taker", TAKE.replace("TAKEN", taken)),
        prepare(1, "giver", "taker", "convert", F32, 1 << 16),
        {"do": "judge", "id": 1},
        {"do": "split", "id": 1},
    )[2:]


def test_nothing_is_named_for_a_copy_that_either_may_have_made(tmp_path: Path) -> None:
    for taken in ("x.__array__()", "np.array(x.__array__())", "x.array.copy()"):
        prepared, judged, _ = answers(tmp_path, taken)
        assert prepared["ok"]["observed"]["calls"] == []
        assert (judged["ok"]["outcome"], judged["ok"]["copied_by"]) == ("copy", "")
        assert any("multiarray" in library for library in judged["ok"]["guard"]["by"])


def test_it_is_not_reported_to_ask_nothing(tmp_path: Path) -> None:
    *_, split = answers(tmp_path, "x.__array__()")
    assert split["error"]["outcome"] == "no-protocol"
    assert split["error"]["reason"] == (
        "the consumer rejects a replaying proxy, so its requests to the array are unknown"
    )
