"""Two devices in one run: each exchange is made while its source's device is current, and nothing
leaves another device current than it found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dlbench
import fakes
import whole
from dlbench import _core
from wire import F32, plant, prepare, send_request

pytestmark = [fakes.needs_fakes, pytest.mark.process]

HERE = Path(__file__).parents[1]
#: Has arrays on several devices and exports from the current one only, as torch does.
STRICT = """
import contextlib
import ctypes

import device_library

DISTRIBUTION = None
DEVICES = ("cuda",)
LIBRARIES = [device_library.Library("cuda") for _ in range(2)]
DRIVER = LIBRARIES[0].driver


def current():
    found = ctypes.c_int(-1)
    DRIVER("cuCtxGetDevice", ctypes.byref(found))
    return found.value


class Array(device_library.Array):
    def __dlpack_device__(self):
        return (2, self.number)

    def __dlpack__(self, **wanted):
        if current() != self.number:
            raise BufferError(f"it lies on {self.number}, and {current()} is current")
        return super().__dlpack__(**wanted)


@contextlib.contextmanager
def on(number):
    before = DRIVER.made("cuCtxGetCurrent")
    DRIVER("cuCtxSetCurrent", DRIVER.made("cuDevicePrimaryCtxRetain", number))
    try:
        yield
    finally:
        DRIVER("cuCtxSetCurrent", before)


def number_of(device):
    return int(device.split(":")[1])


def make(case, device):
    with on(number_of(device)):
        made = LIBRARIES[number_of(device)].from_numpy(case.numpy())
    made.__class__, made.number = Array, number_of(device)
    return made


def values(array):
    with on(array.number):
        return array.library.to_numpy(array)


def address(array):
    return array.ptr


def on_stream(device, handle):
    return LIBRARIES[number_of(device)].on_stream(handle)
"""
#: Cannot be loaded while another device than the first is current: what a library makes current
#: there is that of the whole process.
WATCH = """
import ctypes

import device_library

DISTRIBUTION = None
found = ctypes.c_int(-1)
name = ctypes.c_void_p()
library = ctypes.CDLL("libcuda.so.1")
library.cuGetProcAddress(b"cuCtxGetDevice", ctypes.byref(name), 11040, ctypes.c_uint64(0))
ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(name.value)(ctypes.addressof(found))
assert found.value == 0, f"device {found.value} was left current"


def make(case, device):
    return case.numpy()
"""


def environment() -> dict[str, str]:
    paths = f"{HERE / 'doubles'}:{HERE}"
    return fakes.environment(DLBENCH_FAKE_DEVICES="2", PYTHONPATH=paths)


def test_each_device_is_current_for_its_exchanges(tmp_path: Path) -> None:
    plant(tmp_path / "own", "producer", "strict", STRICT)
    status, out, err = whole.run(
        tmp_path,
        *("--matrix", "--adapters", "own", "--producers", "strict", "--consumers", "native"),
        *("--devices", "cuda:0,cuda:1", "--protocols", "dlpack", "--sizes", "4KiB"),
        *("--phases", "all", "--sync", *whole.QUICK, "--quiet", "--out", "run"),
        environment=environment(),
    )
    assert status == 0, out + err
    _core.validate_document(str(tmp_path / "run/results.json"))
    found = whole.entries(whole.document(tmp_path)).values()
    for device in ("cuda:0", "cuda:1"):
        here = [entry for entry in found if entry["device"] == device]
        whole_exchange = [e for e in here if e["phase"] == "exchange"]
        assert {entry["clock"] for entry in whole_exchange} == {"call", "ready", "device"}
        for entry in whole_exchange:
            observed = entry.get("found", entry["outcome"])
            assert observed == "zero-copy", (entry["name"], entry.get("reason"))
        exported = next(e for e in here if e["phase"] == "export")
        assert exported["outcome"] == "zero-copy", exported.get("reason")
        (call,) = (entry for entry in whole_exchange if entry["clock"] == "call")
        requested: list[dict[str, Any]] = [
            one for one in call["sync"] if one["requested_by"] == "consumer"
        ]
        # Once on a stream of the consumer's own, once on the default one.
        assert [one["waits"] for one in requested] == ["stream", "stream"], call["sync"]


LIBRARIES = """
import sys

import numpy as np

import device_library
from dlbench import _device, _native_consumer, _native_producer

driver = device_library.Driver("cuda")
library = device_library.Library("cuda")
source, there = np.arange(8.0), "cuda:1"
array = [_native_producer.DeviceArray(source, there)]
importer = _native_consumer.Importer(there)
steps = {
    "make": lambda: array.append(_native_producer.DeviceArray(source, there)),
    "make pinned": lambda: _native_producer.DeviceArray(source, there, memory="pinned"),
    "stream": lambda: _native_producer.stream(there),
    "send": lambda: importer.from_dlpack(_native_producer.Array(source)),
    "copy": lambda: array[0].__dlpack__(max_version=(1, 0), copy=True),
    "to the CPU": lambda: array[0].__dlpack__(max_version=(1, 0), dl_device=(1, 0)),
    "drop": lambda: array.pop(),
    "timer_steps": lambda: _device.timer_steps("cuda", 1, 4),
    "empty_events": lambda: _device.empty_events("cuda", 1, 4, 0),
    "stream_order": lambda: _device.stream_order("cuda", 1, 2, 1000),
}
for name, step in steps.items():
    driver.enter()
    step()
    print(name, driver.number_from("current_device"))
"""


def test_native_and_device_leave_the_current_device(tmp_path: Path) -> None:
    """Device 0 is current; what is made, copied and measured on device 1 restores that."""
    (tmp_path / "steps.py").write_text(LIBRARIES)
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "steps.py")],
        env=environment(), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    left = [line.rpartition(" ") for line in ran.stdout.splitlines()]
    assert len(left) == 10
    assert [name for name, _, number in left if number != "0"] == []


@pytest.mark.parametrize("request_after", ["round", "judge", "split", "sync", "device_memory"])
def test_another_device_is_not_left_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_after: str
) -> None:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    consumer = str(Path(dlbench.__file__).parent / "consumers" / "native.py")
    order = prepare(1, "strict", "native", "dlpack", F32, 4096, ("call", "ready", "device"))
    order["exchange"]["device"] = "cuda:1"
    more = {
        "round": {"clock": "device", "iterations": 1, "prelude": 0},
        "device_memory": {"device": "cuda:1"},
        "sync": {key: order[key] for key in ("exchange", "case", "clocks", "round_ns")},
    }.get(request_after, {})
    answers = send_request(
        tmp_path,
        plant(tmp_path, "producer", "strict", STRICT),
        {"do": "load", "role": "consumer", "library": "native", "path": consumer},
        plant(tmp_path, "producer", "first", WATCH),
        order,
        plant(tmp_path, "producer", "second", WATCH),
        {"do": request_after, "id": 1, **more},
        plant(tmp_path, "producer", "third", WATCH),
    )
    assert [answer for answer in answers if "ok" not in answer] == []
