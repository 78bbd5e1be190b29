"""The device's own clock, on the simulated one: what is in flight, and a host that is too late."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dlbench
from wire import F32, ask, plant, prepare

ROOT = Path(dlbench.__file__).parent
CLOCKS = ("call", "ready", "device")
# Takes its time from when a file of that name is there: then no hold outlasts it.
DAWDLES = """\
import time
from pathlib import Path

from dlbench import _native_consumer

MARK = Path(__file__).with_suffix(".late")


def calls(source, target):
    take = _native_consumer.Importer(target).from_dlpack

    def dawdle(x):
        if MARK.exists():
            time.sleep(0.3)
        return take(x)

    return {"dlpack": dawdle}


PROTOCOLS = {"dlpack": _native_consumer.from_dlpack}
stream = _native_consumer.stream
"""
# Loading it makes the other one late.
MARKS = """\
from pathlib import Path

(Path(__file__).parents[1] / "consumers" / "dawdler.late").touch()


def make(case, device):
    return case.numpy()
"""


def load(role: str, library: str) -> dict[str, str]:
    path = str(ROOT / f"{role}s" / f"{library}.py")
    return {"do": "load", "role": role, "library": library, "path": path}


def on_sim(consumer: str, size: int) -> dict[str, Any]:
    request = prepare(1, "native", consumer, "dlpack", F32, size, CLOCKS)
    request["exchange"]["device"] = "sim:0"
    return request


@pytest.mark.parametrize("mebibytes", [1, 32])
def test_no_more_is_in_flight_than_is_promised(tmp_path: Path, mebibytes: int) -> None:
    halves = [load(role, "native") for role in ("producer", "consumer")]
    *_, answer = ask(tmp_path, *halves, on_sim("native", mebibytes << 20))
    iterations = answer["ok"]["iterations"]
    assert iterations.keys() == set(CLOCKS), answer
    assert 1 <= iterations["device"] <= min(64, 256 // mebibytes)


def test_a_round_whose_host_was_late_says_so(tmp_path: Path) -> None:
    one = {"do": "round", "id": 1, "clock": "device", "iterations": 1, "prelude": 0}
    *_, good, _, late = ask(
        tmp_path,
        load("producer", "native"),
        plant(tmp_path, "consumer", "dawdler", DAWDLES),
        on_sim("dawdler", 4096),
        one,
        plant(tmp_path, "producer", "marker", MARKS),
        one,
    )
    assert good["ok"]["behind"] is False, good
    assert late["ok"]["behind"] is True, late
