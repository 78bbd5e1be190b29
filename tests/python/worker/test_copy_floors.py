"""The device's own memcpy, the reference for copies: what of it is timed, and what is absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakes
from wire import send_request

pytestmark = [fakes.needs_fakes, pytest.mark.process]

CONTEXT_MB = 400
DEVICES = ("cuda:0", "rocm:0")


def floors(
    folder: Path, monkeypatch: pytest.MonkeyPatch, device: str, free_mb: int, **more: str
) -> dict[str, Any]:
    """Of a device with this much free memory: two blocks take a quarter of it."""
    memory = {"DLBENCH_FAKE_MEMORY_MB": str(CONTEXT_MB + free_mb)}
    for name, value in fakes.environment(**memory, **more).items():
        monkeypatch.setenv(name, value)
    (answer,) = send_request(folder, {"do": "copy_floors", "device": device})
    found: dict[str, Any] = answer["ok"]
    return found


@pytest.mark.parametrize("device", DEVICES)
def test_what_the_host_waits_is_no_time_of_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    found = floors(tmp_path, monkeypatch, device, 128, DLBENCH_FAKE_WAIT_MS="100")
    assert found["bytes"] == 16 << 20
    # Timed by the host no copy would take less than its wait.
    fastest = found["bytes"] / 100e6
    on_device = (device, f"{device}+cpu pinned", f"cpu+{device} pinned")
    rates = {name: found["gb_per_s"][name] for name in on_device}
    assert min(rates.values()) > fastest, rates


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("cache_mb", "is_reported"), [(31, True), (32, False)])
def test_what_the_cache_could_hold_is_no_rate_of_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, cache_mb: int, is_reported: bool
) -> None:
    more = {"DLBENCH_FAKE_CACHE_MB": str(cache_mb)}
    found = floors(tmp_path, monkeypatch, device, 128, **more)
    assert found["bytes"] == 16 << 20
    assert (device in found["gb_per_s"]) == is_reported
    assert f"{device}+cpu pinned" in found["gb_per_s"]
