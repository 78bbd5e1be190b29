"""The device's own clock, on the simulated device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dlbench
from wire import F32, ask, prepare

ROOT = Path(dlbench.__file__).parent
CLOCKS = ("call", "ready", "device")


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
