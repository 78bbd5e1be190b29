"""A consumer that imports a proxy in another way: its requests to the array are not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judging import GIVE, NUMPY
from wire import F32, cross, plant, prepare, send_request

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
        "the consumer treats the array in another way than a proxy of it, so its requests are "
        "unknown"
    )


# Know the type of the array itself; a proxy they copy, refuse, or import as the array.
COPIES = NUMPY + "def take(x): return x[:] if type(x) is np.ndarray else np.array(x)\n"
REFUSES = NUMPY + "def take(x): return x[:] if type(x) is np.ndarray else np.asarray(x).missing\n"
ALIKE = NUMPY + "def take(x): return np.asarray(x)[:]\n"


@pytest.mark.parametrize(
    ("take", "convert", "buffer"),
    [
        (COPIES, ("zero-copy", "own", "direct"), ("copy", "buffer", "proxy")),
        (REFUSES, ("zero-copy", "own", "direct"), "no-protocol"),
        (ALIKE, ("zero-copy", "buffer", "recorder"), ("zero-copy", "buffer", "direct")),
    ],
    ids=["copies", "refuses", "alike"],
)
def test_a_direct_call_is_not_credited_with_what_only_a_proxy_shows(
    tmp_path: Path, take: str, convert: Any, buffer: Any
) -> None:
    take += "PROTOCOLS = dict.fromkeys(('convert', 'buffer'), take)\n"
    for protocol, expected in (("convert", convert), ("buffer", buffer)):
        answer = cross(tmp_path, GIVE, take, protocol, F32)
        if "error" in answer:
            assert answer["error"]["outcome"] == expected
            continue
        ok = answer["ok"]
        assert (ok["outcome"], ok["observed"]["used"], ok["observed"]["via"]) == expected
