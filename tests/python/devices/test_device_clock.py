"""The device's own clock: work in flight, a late host, and exchanges without device time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dlbench
import fakes
import whole
from dlbench import _core
from wire import F32, plant, prepare, send_request

pytestmark = [pytest.mark.process, pytest.mark.timing]

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
    *_, answer = send_request(tmp_path, *halves, on_sim("native", mebibytes << 20))
    iterations = answer["ok"]["iterations"]
    assert iterations.keys() == set(CLOCKS), answer
    assert 1 <= iterations["device"] <= min(64, 256 // mebibytes)


def test_a_round_whose_host_was_late_says_so(tmp_path: Path) -> None:
    one = {"do": "round", "id": 1, "clock": "device", "iterations": 1, "prelude": 0}
    *_, good, _, late = send_request(
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


# Puts as much on the consumer's stream as its argument says: microseconds of a host function, which
# is work of the stream like any other; without one, nothing.
ON_STREAM = """
import ctypes

from dlbench import _native_consumer

DISTRIBUTION = None
ARGUMENTS = {"works": "COUNT"}
PROTOCOLS = {"dlpack": _native_consumer.from_dlpack}
WORK = ARGUMENT[1] or 0
SLEEP = ctypes.CDLL(None).usleep
launch = None


class Handed:
    def __init__(self, device, capsule):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **wanted):
        return self.capsule


def put_work(stream):
    global launch
    if launch is None:
        driver, found = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        driver.cuGetProcAddress(b"cuLaunchHostFunc", ctypes.byref(found), 12000, 0)
        kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        launch = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(found.value)
    assert launch(stream, ctypes.cast(SLEEP, ctypes.c_void_p), WORK) == 0


def calls(source, target):
    importer = _native_consumer.Importer(target)

    def take(x):
        # Stream -1: the producer puts no wait on ours.
        capsule = x.__dlpack__(stream=-1, max_version=(1, 3))
        if WORK:
            put_work(_native_consumer.stream(target))
        return importer.from_dlpack(Handed(x.__dlpack_device__(), capsule))

    return {"dlpack": take}


stream = _native_consumer.stream
"""


#: The same, whose next end of an empty row is put on the stream late once the mark is there.
LATE_ROW = (
    ON_STREAM.replace("ARGUMENT[1] or 0", "2000")
    + """
import os
from pathlib import Path

MARK = Path(__file__).with_suffix(".late")
DRIVER = ctypes.CDLL("libcuda.so.1")
put = put_work


def put_work(stream):
    if MARK.exists():
        MARK.unlink()
        late = DRIVER.dlbench_fake_calls(b"cuEventRecord") + 2
        os.environ["DLBENCH_FAKE_LATE"] = f"cuEventRecord@{late}"
    put(stream)
"""
)


@fakes.needs_fakes
def test_an_empty_row_that_was_late_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in fakes.environment().items():
        monkeypatch.setenv(name, value)
    request = prepare(1, "native", "dawdler", "dlpack", F32, 4096, CLOCKS)
    request["exchange"]["device"] = "cuda:0"
    one = {"do": "round", "id": 1, "clock": "device", "iterations": 1, "prelude": 0}
    *_, late = send_request(
        tmp_path,
        load("producer", "native"),
        plant(tmp_path, "consumer", "dawdler", LATE_ROW),
        request,
        plant(tmp_path, "producer", "marker", MARKS),
        one,
    )
    assert late["ok"]["behind"] is False, late
    assert late["ok"]["ns"] >= 2000e3, late
    assert not list(tmp_path.glob("*/*.late"))


def test_an_empty_row_is_held_no_longer_than_it_needs(tmp_path: Path) -> None:
    slow = DAWDLES.replace("MARK.exists()", "True").replace("0.3", "0.04")
    request = on_sim("dawdler", 4096) | {"round_ns": 50_000_000}
    one = {"do": "round", "id": 1, "clock": "device", "iterations": 1, "prelude": 0}
    *_, first, second, third = send_request(
        tmp_path,
        load("producer", "native"),
        plant(tmp_path, "consumer", "dawdler", slow),
        request,
        *[one] * 3,
    )
    # The row of exchanges is held for four times what a call is allowed.
    spent = [answer["ok"]["spent_ns"] for answer in (first, second, third)]
    assert min(spent) < 2 * 4 * request["round_ns"]


@fakes.needs_fakes
def test_only_what_an_exchange_puts_on_the_stream_takes_time(tmp_path: Path) -> None:
    (tmp_path / "more/consumers").mkdir(parents=True)
    (tmp_path / "more/consumers/puts.py").write_text(ON_STREAM)
    consumers = ("puts", "puts:works=200", "puts:works=2000")
    status, out, err = whole.run(
        tmp_path,
        *("--matrix", "--producers", "native", "--consumers", ",".join(consumers)),
        *("--devices", "cuda:0", "--protocols", "dlpack", "--sizes", "4KiB"),
        *("--replicas", "3", "--no-plots"),
        *("--adapters", "more", "--out", "run"),
        environment=fakes.environment(COLUMNS="200"),
    )
    assert status == 0, out + err
    _core.validate_document(str(tmp_path / "run/results.json"))
    found = {
        entry["consumer"]: entry
        for entry in whole.entries(whole.document(tmp_path)).values()
        if entry["clock"] == "device"
    }
    # Nothing is on the stream: the time of the two events is no time of the exchange.
    nothing = found["puts"]
    assert (nothing["outcome"], nothing["code"]) == ("unsupported", "below-resolution"), nothing
    assert nothing["found"] == "zero-copy"
    assert "real_time" not in nothing
    timer = nothing["device_timer"]
    assert timer["step_ns"] > 0
    assert nothing["below_ns"] >= 2 * timer["step_ns"] / 64
    assert nothing["reason"].startswith("below ")
    # Work that is there is found, and ten times as much is longer. A host thread sleeps longer than
    # requested, the short sleep by a greater share.
    short, long = found["puts:works=200"]["real_time"], found["puts:works=2000"]["real_time"]
    assert short >= 200e3
    assert long >= 2000e3
    assert long > 2 * short
    # It is neither a failure nor lost.
    assert "1 with an upper bound only" in out
    assert not [line for line in out.splitlines() if line.startswith("unsupported")]
    status, out, _ = whole.run(tmp_path, "show", "run", "native", "puts", "device", "cuda:0")
    assert status == 0
    assert "below " in out
    document = json.loads((tmp_path / "run/results.json").read_text())
    document["context"]["dlbench"]["seed"] += 1  # a run is not compared with itself
    (tmp_path / "again").mkdir()
    (tmp_path / "again/results.json").write_text(json.dumps(document))
    words = ("compare", "run", "again", "--fail-on", "slow,outcome,lost")
    status, out, _ = whole.run(tmp_path, *words)
    assert status == 0
    assert "lost" not in out
