"""The first call of an exchange in a process: its cost, and the warnings of the libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from judging import GIVE
from samples import warning_texts
from wire import F32, plant, prepare, send_request

pytestmark = pytest.mark.process

# Says and does at its first call what it never does again.
SLOW_AT_FIRST = """\
import time
import warnings

import numpy as np

SEEN = []


def take(x):
    if not SEEN:
        time.sleep(0.3)
        warnings.warn("loading")
    SEEN.append(1)
    alone = hasattr(x, "__dlpack__") and not hasattr(x, "__array_interface__")
    return np.from_dlpack(x) if alone else np.asarray(x)


PROTOCOLS = {"WORD": take}
"""


@pytest.mark.parametrize(
    ("word", "protocol"),
    [("dlpack", "dlpack"), ("convert", "array_interface"), ("convert", "buffer")],
)
def test_what_a_proxied_cell_says_of_its_first_call_is_of_the_first(
    tmp_path: Path, word: str, protocol: str
) -> None:
    *_, answer = send_request(
        tmp_path,
        plant(tmp_path, "producer", "giver", GIVE),
        plant(tmp_path, "consumer", "taker", SLOW_AT_FIRST.replace("WORD", word)),
        prepare(1, "giver", "taker", protocol, F32),
    )
    ok = answer["ok"]
    assert ok["observed"]["via"] == "proxy"
    assert ok["first_ns"]["call"] > 0.3e9
    # By `convert` the first call is the exchange; by a protocol it is the array's own.
    message = "UserWarning: loading" if word == "convert" else "first call: UserWarning: loading"
    assert [text for text in warning_texts(ok) if "loading" in text] == [message]
