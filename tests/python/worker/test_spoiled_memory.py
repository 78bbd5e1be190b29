"""Freed memory of a device is overwritten, so that a result that does not hold it is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dlbench
import fakes
from dlbench import _core
from wire import F32, plant, prepare, send_request

pytestmark = [fakes.needs_fakes, pytest.mark.process]

FOLDER = Path(dlbench.__file__).parent
FRESH = """
from dlbench import _native_producer


def make(case, device):
    return _native_producer.DeviceArray(case.numpy(), device)
"""
#: Its later arrays are the first one, as those of a cache.
CACHED = """
from dlbench import _native_producer

MADE = []


def make(case, device):
    if not MADE:
        MADE.append(_native_producer.DeviceArray(case.numpy(), device))
    return MADE[0]
"""


def cross(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: str,
    case: dict[str, Any] = F32,
    **planted: str,
) -> dict[str, Any]:
    for name, value in fakes.environment(**planted).items():
        monkeypatch.setenv(name, value)
    order = prepare(1, "giver", "native", "dlpack", case)
    order["exchange"]["device"] = "cuda:0"
    consumer = str(FOLDER / "consumers" / "native.py")
    return send_request(
        folder,
        plant(folder, "producer", "giver", make),
        {"do": "load", "role": "consumer", "library": "native", "path": consumer},
        order,
        {"do": "judge", "id": 1},
    )[-1]


def warnings_of_memory(answer: dict[str, Any]) -> list[str]:
    texts = [one["text"] if isinstance(one, dict) else one for one in answer["ok"]["warnings"]]
    return [text for text in texts if "freed" in text]


def test_arrays_that_are_measured_are_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = cross(tmp_path, monkeypatch, CACHED)
    assert "ok" in answer, answer
    assert answer["ok"]["outcome"] == "zero-copy"
    assert warnings_of_memory(answer) == []


def test_memory_at_an_odd_address_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver fills aligned words only."""
    odd = _core.case("u8") | {"name": "u8-odd", "offset": 1}
    answer = cross(tmp_path, monkeypatch, FRESH, odd)
    assert "ok" in answer, answer
    assert answer["ok"]["outcome"] == "zero-copy"
    assert warnings_of_memory(answer) == []


def test_a_fill_that_the_device_refuses_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = cross(tmp_path, monkeypatch, FRESH, DLBENCH_FAKE_FAIL="cuMemsetD32Async=1")
    assert "ok" in answer, answer
    assert answer["ok"]["outcome"] == "zero-copy"
    (warning,) = warnings_of_memory(answer)
    assert "freed memory could not be overwritten: cuda: fill: " in warning
    assert "CUDA_ERROR_INVALID_VALUE (1)" in warning
