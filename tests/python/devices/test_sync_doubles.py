"""Synchronization verdicts of libraries that behave as known ones do, on the fake drivers."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

import fakes
import whole
from dlbench import _core
from samples import warning_codes, warning_texts

pytestmark = [fakes.needs_fakes, pytest.mark.process]

HERE = Path(__file__).parents[1]

#: What a library with a current stream says of it.
CURRENT = """

def stream(device):
    return LIBRARY.current


def on_stream(device, handle):
    elsewhere = WAY == "elsewhere" and handle == 0
    return LIBRARY.on_stream(LIBRARY.driver.made("stream", 1) if elsewhere else handle)


def address(array):
    return array.ptr
"""
#: A library with a current stream and a caching pool. Its producer's argument is how it exports and
#: frees, its consumer's what it passes for `stream` and whether it holds what it imports.
PRODUCER = """
import device_library

DISTRIBUTION = None
DEVICES = ("cuda",)
ARGUMENTS = {
    "stream": "", "nothing": "", "device": "", "host": "", "default": "",
    "defers": "", "hoards": "", "odd": "",
    "deaf": "", "always": "", "handle": "", "early": "",
}
WAY = ARGUMENT[0] or "stream"
WAITS = "stream" if WAY in ("defers", "hoards", "odd") else WAY
LIBRARY = device_library.Library(
    "cuda", WAITS, defers=WAY == "defers", hoards=WAY == "hoards", shift=2 * (WAY == "odd")
)

values = LIBRARY.to_numpy


def make(case, device):
    return LIBRARY.from_numpy(case.numpy())
"""
CONSUMER = """
import device_library

DISTRIBUTION = None
ARGUMENTS = {"default": "", "forgets": "", "unordered": "", "elsewhere": ""}
WAY = ARGUMENT[0]
LIBRARY = device_library.Library("cuda", keeps=WAY != "forgets")
NAMED = {"default": 1, "unordered": -1}.get(WAY)

values = LIBRARY.to_numpy


def take(source):
    return LIBRARY.from_dlpack(source, NAMED)


PROTOCOLS = {"dlpack": take}
"""
#: A library that works on a stream which it names to nothing: only it can fill that one.
HIDDEN = """
import ctypes

import numpy as np

import device_library

DISTRIBUTION = None
DEVICES = ("cuda",)
ARGUMENTS = {"stream": "", "nothing": "", "device": "", "default": "", "blocks": ""}
WAY = ARGUMENT[0] or "stream"
LIBRARY = device_library.Library("cuda", "stream" if WAY == "blocks" else WAY)
LIBRARY.streams = [LIBRARY.driver.made("stream", 1)]
SLEEP = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value

values = LIBRARY.to_numpy


def make(case, device):
    return LIBRARY.from_numpy(case.numpy())


def ready(array):
    LIBRARY.driver("wait", LIBRARY.current)


def address(array):
    return array.ptr


def busy(case, device, seconds):
    content = make(case, device)
    array = LIBRARY.from_numpy(np.zeros_like(case.numpy()))
    array.content = content
    LIBRARY.driver("run", LIBRARY.current, SLEEP, int(seconds * 1e6))
    LIBRARY.driver.copy(array.ptr, content.ptr, array.size, LIBRARY.current)
    if WAY == "blocks":
        ready(array)
    return array, array.ptr
"""


#: Cannot name its stream.
NAMELESS = """
import device_library

DISTRIBUTION = None
LIBRARY = device_library.Library("cuda")
PROTOCOLS = {"dlpack": LIBRARY.from_dlpack}
values = LIBRARY.to_numpy


def stream(device):
    raise LookupError("no current stream")
"""
#: Names its stream, so that its own wait is not used.
NAMED = (
    NAMELESS.replace('raise LookupError("no current stream")', "return 0")
    + """

def ready(array):
    raise RuntimeError("waited in Python")
"""
)


Found = dict[tuple[str, str], dict[str, Any]]


def observe(
    folder: Path, producers: str, consumers: str, *words: str, device: str = "cuda:0",
    option: str = "--sync", **modes: str,
) -> Found:  # fmt: skip
    """Each cell of a run with --sync or another pass, by producer and consumer."""
    for role, name, text in (
        ("producers", "double", PRODUCER + CURRENT),
        ("consumers", "double", CONSUMER + CURRENT),
        ("producers", "hidden", HIDDEN),
        ("consumers", "nameless", NAMELESS),
        ("consumers", "named", NAMED),
    ):
        (folder / "own" / role).mkdir(parents=True, exist_ok=True)
        (folder / "own" / role / f"{name}.py").write_text(text, encoding="utf-8")
    environment = fakes.environment(**modes)
    paths = (HERE / "doubles" / "modules", HERE / "doubles", HERE)
    environment["PYTHONPATH"] = ":".join(map(str, paths))
    words += ("--adapters", "own", "--producers", producers, "--consumers", consumers, option)
    more = ("--devices", device, "--protocols", "dlpack", "--sizes", "4KiB")
    document = whole.measure(folder, *words, *more, environment=environment)
    return {
        (entry["producer"], entry["consumer"]): entry
        for entry in whole.entries(document).values()
        if entry.get("clock", "call") == "call" and entry["phase"] == "exchange"
    }


def rows(entry: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    """By stream argument; "host" is the export to the CPU."""
    assert "sync" in entry, (entry.get("reason"), entry.get("warnings"))
    return {"host" if one["reads_on"] == "host" else one["stream"]: one for one in entry["sync"]}


def requested(entry: dict[str, Any], reads_on: str = "own") -> tuple[Any, str, bool]:
    """As the consumer itself calls: its stream, what waits, whether order is required."""
    (own,) = (
        one
        for one in entry["sync"]
        if (one["requested_by"], one["reads_on"]) == ("consumer", reads_on)
    )
    return own["stream"], own["waits"], own.get("expected") == "order"


def waits(entry: dict[str, Any]) -> dict[Any, str]:
    """What waits by stream argument, or why none could be passed."""
    return {stream: one.get("waits") or one["reason"] for stream, one in rows(entry).items()}


NO_PER_THREAD = "BufferError: per-thread default stream is not supported."
#: Of a library that orders the stream that is passed after its own, and no other: what waits where
#: that stream reads.
CORRECT = {
    "cuda": {
        **{"own": "stream", "omitted": "stream", None: "stream", 1: "stream", "host": "host"},
        **{"foreign": "none", 2: "stream", 0: "stream", -1: "none"},
    },
    "rocm": {
        **{"own": "stream", "omitted": "stream", None: "stream", 0: "stream", "host": "host"},
        **{"foreign": "none", 1: "stream", 2: "stream", -1: "none"},
    },
}
#: What libraries do otherwise. PyTorch's default is -1.
OTHERWISE = {
    ("native", "cuda"): {0: "ValueError: stream 0 is not allowed on cuda"},
    ("native", "rocm"): {
        stream: f"ValueError: stream {stream} is not allowed on rocm" for stream in (1, 2)
    },
    ("torch", "cuda"): {
        **{"omitted": "none", 2: NO_PER_THREAD, 0: "AssertionError: unsupported stream 0"}
    },
    ("torch", "rocm"): {
        "omitted": "none",
        **{stream: f"AssertionError: unsupported stream {stream}" for stream in (1, 2)},
    },
    ("cupy", "rocm"): {
        stream: f"ValueError: stream {stream} is not supported on ROCm" for stream in (1, 2)
    },
}


@pytest.mark.parametrize(
    ("device", "hip", "libraries"),
    [
        ("cuda:0", "0", "native,torch,cupy"),
        pytest.param("rocm:0", "1", "native,torch,cupy", marks=pytest.mark.thorough),
        pytest.param("cuda:1", "0", "native,torch", marks=pytest.mark.thorough),
    ],
)
def test_torch_beside_other_libraries(
    device: str, hip: str, libraries: str, tmp_path: Path
) -> None:
    modes = {"DLBENCH_DOUBLE_HIP": hip, "DLBENCH_FAKE_DEVICES": "2"}
    found = observe(tmp_path, libraries, libraries, device=device, **modes)
    assert len(found) == len(libraries.split(",")) ** 2
    for (producer, consumer), entry in found.items():
        pair = f"{producer} -> {consumer}"
        kind = device.partition(":")[0]
        assert waits(entry) == CORRECT[kind] | OTHERWISE.get((producer, kind), {}), pair
        assert requested(entry) == ("own", "stream", True), pair
        # Both libraries on the default stream.
        assert requested(entry, "legacy") == (1 if kind == "cuda" else 0, "stream", True), pair
        assert entry["outcome"] == "zero-copy", pair
        # Their pools give a block out again at once; the driver waits for the device.
        assert entry["late_free"] == ("safe" if producer == "native" else "late"), pair


@pytest.mark.parametrize(
    ("device", "hip", "passed", "refused"),
    [
        ("cuda:0", "0", ("own", "stream", True), (0, 2)),
        pytest.param("rocm:0", "1", ("omitted", "none", True), (1, 2), marks=pytest.mark.thorough),
    ],
)
def test_paddle_names_its_stream_on_cuda_alone(
    device: str, hip: str, passed: tuple[str, str, bool], refused: tuple[int, int], tmp_path: Path
) -> None:
    words = ("native,paddle", "native,paddle")
    found = observe(tmp_path, *words, device=device, DLBENCH_DOUBLE_HIP=hip)
    for (producer, consumer), entry in found.items():
        assert requested(entry) == (passed if consumer == "paddle" else ("own", "stream", True))
        race = consumer == "paddle" and passed[1] == "none"
        assert entry["outcome"] == ("race" if race else "zero-copy")
        if producer == "paddle":
            reasons = {word: f"ValueError: stream={word} is not supported" for word in refused}
            expected = {"own": "stream", None: "stream", "host": "host", -1: "none", **reasons}
            assert {word: waits(entry)[word] for word in expected} == expected


def test_jax_is_pending_behind_the_delay_of_an_imported_array(tmp_path: Path) -> None:
    entry = observe(tmp_path, "jax", "native")["jax", "native"]
    assert requested(entry) == ("own", "stream", True)
    expected = {
        **dict.fromkeys(("own", 1, 2, 0), "stream"),
        **{"omitted": "host", None: "host", "foreign": "none"},
        -1: "RuntimeError: cuStreamWaitEvent: error 400",
    }
    observed = waits(entry)
    assert {stream: observed[stream] for stream in expected} == expected
    # Also with the queues that the driver has by default.
    entry = observe(tmp_path / "8", "jax", "native", DLBENCH_FAKE_QUEUES="8")["jax", "native"]
    assert requested(entry) == ("own", "stream", True)


def test_consumers_without_a_named_stream_read_by_their_own_work(tmp_path: Path) -> None:
    """JAX passes another stream in each call, TensorFlow passes none and does not wait."""
    producers = "native,cupy,jax,faulty:no-wait"
    found = observe(tmp_path, producers, "jax,tensorflow")
    own = {pair: requested(entry) for pair, entry in found.items()}
    assert own == {
        ("native", "jax"): ("other", "stream", True),
        ("cupy", "jax"): ("other", "stream", True),
        ("jax", "jax"): ("other", "stream", True),
        ("faulty:no-wait", "jax"): ("other", "none", True),
        ("native", "tensorflow"): ("omitted", "none", True),
        ("cupy", "tensorflow"): ("omitted", "none", True),
        ("jax", "tensorflow"): ("omitted", "host", True),
        ("faulty:no-wait", "tensorflow"): ("omitted", "none", True),
    }
    for pair, (_, word, _) in own.items():
        assert found[pair]["outcome"] == ("race" if word == "none" else "zero-copy"), pair


def test_tensorflow_exports_to_no_consumer_that_names_a_stream(tmp_path: Path) -> None:
    entry = observe(tmp_path, "tensorflow", "native")["tensorflow", "native"]
    assert entry["outcome"] == "refused"
    assert "non-None stream" in entry["reason"]


def test_a_loop_that_the_host_drives_is_not_classified(tmp_path: Path) -> None:
    """`busy` as on the CPU, with a loop, is too slow on a GPU."""
    text = (HERE.parents[1] / "producers" / "jax.py").read_text(encoding="utf-8")
    text = text.partition("def compute_from")[0].replace("device=CPU", "device=GPU")
    looping = 'DISTRIBUTION = None\nGPU = jax.devices("cuda")[0]\n'
    (tmp_path / "own" / "producers").mkdir(parents=True)
    (tmp_path / "own" / "producers" / "looping.py").write_text(text + looping, encoding="utf-8")
    entry = observe(tmp_path, "looping", "native", "--timeout", "4s")["looping", "native"]
    assert "sync" not in entry
    failed = "sync: no answer from the worker within 4 s, at step 'sync'"
    assert failed in warning_texts(entry)


@pytest.mark.parametrize(
    ("device", "hip"), [("cuda:0", "0"), pytest.param("rocm:0", "1", marks=pytest.mark.thorough)]
)
def test_the_default_streams_queue_holds_no_look(device: str, hip: str, tmp_path: Path) -> None:
    """An export for the default stream lets that wait, and all streams that share its queue."""
    modes = {"DLBENCH_DOUBLE_HIP": hip, "DLBENCH_FAKE_QUEUES": "4"}
    found = observe(tmp_path, "cupy", "native,cupy", device=device, **modes)
    for consumer in ("native", "cupy"):
        observed = waits(found["cupy", consumer])
        expected: dict[Any, str] = {"own": "stream", -1: "none"}
        assert {stream: observed[stream] for stream in expected} == expected, consumer


def test_a_scope_that_orders_streams_is_not_entered_so(tmp_path: Path) -> None:
    """Warp's own default would order the streams before the exchange does."""
    entry = observe(tmp_path, "warp", "warp")["warp", "warp"]
    assert requested(entry) == ("own", "stream", True)
    assert rows(entry)[-1]["waits"] == "none"


@pytest.fixture(scope="module")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """One run of the pairs that differ in what the double does."""
    producers = "native,double,double:nothing,double:device,double:defers,double:hoards,double:odd"
    consumers = "native,double,double:default,double:forgets,double:elsewhere,nameless,named"
    pairs = (
        "native/consumer:(double|named|nameless)",
        "double(:odd)?/consumer:double(:forgets)?/",
        "double.*/consumer:native/",
    )
    words = (producers, consumers, "--filter", f"producer:({'|'.join(pairs)})")
    return observe(tmp_path_factory.mktemp("doubles"), *words)


def test_an_adapter_that_sets_another_stream_is_no_race(doubles: Found) -> None:
    """As ExternalStream(0) of PyTorch does, which is not its default stream."""
    entry = doubles["native", "double:elsewhere"]
    (text,) = (text for text in warning_texts(entry) if text.startswith("sync: "))
    assert text.startswith(
        "sync: in the adapter of double:elsewhere, `on_stream` was called with stream 0, and then"
    )
    assert entry["outcome"] == "zero-copy"
    assert "sync" not in entry


def test_a_consumer_that_names_another_stream_than_it_reads_on_races(doubles: Found) -> None:
    assert requested(doubles["native", "double"]) == ("own", "stream", True)
    assert doubles["native", "double"]["outcome"] == "zero-copy"
    assert requested(doubles["native", "double:default"]) == (1, "none", True)
    assert doubles["native", "double:default"]["outcome"] == "race"


def test_what_waits_and_when_memory_is_used_again(doubles: Found) -> None:
    expected = {
        "double": "stream",
        "double:nothing": "none",
        "double:device": "host",
        "double:defers": "stream",
        "double:hoards": "stream",
    }
    assert {name: requested(doubles[name, "native"])[1] for name in expected} == expected
    assert rows(doubles["double:device", "native"])["own"]["export_blocked"] > 0.7
    # Its pool gives the block out again at once, or after what still reads it.
    assert doubles["double", "native"]["late_free"] == "late"
    assert doubles["double:defers", "native"]["late_free"] == "safe"
    # Memory that never comes back is never written to while it is read: that proves nothing.
    assert doubles["double:hoards", "native"]["late_free"] == "inconclusive"


@pytest.mark.parametrize("producer", ["double", "double:odd"])
def test_memory_in_a_librarys_pool_is_written_over_too(producer: str, doubles: Found) -> None:
    """Also where it begins at no word's address, which drivers refuse to fill."""
    assert doubles[producer, "double"]["outcome"] == "zero-copy"
    entry = doubles[producer, "double:forgets"]
    assert entry["outcome"] == "wrong"
    assert "changed after the producer's array was dropped" in entry["reason"]


def test_a_stream_that_cannot_be_named_costs_no_cell(doubles: Found) -> None:
    entry = doubles["native", "nameless"]
    assert entry["outcome"] == "zero-copy", entry
    warning = "waited for the whole device: `stream` failed: LookupError: no current stream"
    assert warning in warning_texts(entry)


def test_what_names_its_stream_is_waited_for_there(doubles: Found) -> None:
    """All libraries by the same function, so that their times can be compared."""
    entry = doubles["native", "named"]
    assert entry["outcome"] == "zero-copy", entry


@pytest.fixture(scope="module", params=["4", pytest.param("8", marks=pytest.mark.thorough)])
def queued(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Streams that share hardware queues, and as many queues as the driver has by default."""
    hidden = "hidden,hidden:nothing,hidden:device,hidden:default,hidden:blocks"
    words = (f"{hidden},native,faulty:no-wait,faulty:wrong-stream", "double,native")
    pairs = ("--filter", "producer:(hidden.*/consumer:double|[nf].*/consumer:native)/")
    folder = tmp_path_factory.mktemp("queued")
    return observe(folder, *words, *pairs, DLBENCH_FAKE_QUEUES=request.param)


def test_a_stream_that_only_its_library_fills(queued: Found) -> None:
    expected = {
        "hidden": "stream",
        "hidden:nothing": "none",
        "hidden:device": "host",
        "hidden:default": "wrong-stream",
        "hidden:blocks": "no-delay",
    }
    assert {name: requested(queued[name, "double"])[1] for name in expected} == expected
    (own,) = (one for one in queued["hidden:blocks", "double"]["sync"] if one["stream"] == "own")
    assert own["code"] == "begin-blocks"
    assert own["reason"] == _core.sync_codes["begin-blocks"]
    assert queued["hidden", "double"]["outcome"] == "zero-copy"
    assert queued["hidden:nothing", "double"]["outcome"] == "race"
    assert "late_free" not in queued["hidden", "double"]


def test_streams_that_share_hardware_queues_are_distinguished(queued: Found) -> None:
    expected = {
        "native": "stream",
        "faulty:no-wait": "none",
        "faulty:wrong-stream": "wrong-stream",
    }
    assert {name: requested(queued[name, "native"])[1] for name in expected} == expected
    assert rows(queued["native", "native"])["foreign"]["waits"] == "none"
    assert queued["native", "native"]["late_free"] == "safe"


def test_without_independent_streams_nothing_is_claimed(tmp_path: Path) -> None:
    """On a device that runs one stream after another no exchange can be seen to race."""
    found = observe(tmp_path, "native,faulty:no-wait,hidden", "native", DLBENCH_FAKE_QUEUES="1")
    for entry in found.values():
        for one in rows(entry).values():
            assert one["waits"] == "inconclusive"
            assert one["code"] == "no-concurrency"
        assert entry["outcome"] == "zero-copy"
        assert entry.get("late_free", "inconclusive") == "inconclusive"


#: Rows of `capture` by stream argument: with the producer on the capturing stream, on another one.
Captures = dict[Any, tuple[str, str]]


def captures(entry: dict[str, Any]) -> Captures:
    """The result, and the nodes of a graph or the code at the end."""
    found: dict[Any, list[str]] = {}
    for one in entry["capture"]:
        number = one.get("nodes", one.get("error"))
        found.setdefault(one["stream"], []).append(f"{one['result']} {number}")
        assert one["requested_by"] == "consumer" or len(found) > 1
        assert ("reason" in one) == (one["result"] in ("refused", "invalidated"))
    return {stream: (same, other) for stream, (same, other) in found.items()}


BROKEN, EMPTY = "invalidated 901", "captured 0"
REFUSED = ("refused 0", "refused 0")
#: The legacy default stream cannot capture, and a capture does not depend on other work.
DEFAULT = (BROKEN, EMPTY)
HONEST: Captures = {
    "own": (EMPTY, BROKEN), "omitted": DEFAULT, None: DEFAULT, -1: (EMPTY, EMPTY),
}  # fmt: skip
NUMBERED: dict[str, Captures] = {
    "cuda:0": {0: REFUSED, 1: DEFAULT, 2: (EMPTY, EMPTY)},
    "rocm:0": {0: DEFAULT, 1: REFUSED, 2: REFUSED},
}


def test_what_breaks_a_graph_capture(tmp_path: Path) -> None:
    expected = {
        "double": (EMPTY, BROKEN),
        "double:nothing": (EMPTY, EMPTY),
        "double:device": (BROKEN, BROKEN),
        "double:host": (BROKEN, "host-wait 0"),
        "double:default": (BROKEN, BROKEN),
    }
    entries = observe(tmp_path, ",".join(expected), "double", option="--capture")
    for producer, own in expected.items():
        entry = entries[producer, "double"]
        found = captures(entry)
        assert found["own"] == own, producer
        # Nothing is synchronized then.
        assert found[-1] == (EMPTY, EMPTY)
        assert entry["outcome"] == "zero-copy"


def test_a_consumer_that_asks_for_no_order_can_be_captured(tmp_path: Path) -> None:
    consumer = "double:unordered"
    entry = observe(tmp_path, "double", consumer, option="--capture")["double", consumer]
    own = [one for one in entry["capture"] if one["requested_by"] == "consumer"]
    assert [(one["stream"], one["result"]) for one in own] == [(-1, "captured")] * 2
    text = whole.run(tmp_path, "show", "run", environment=fakes.environment())[1]
    assert "double -> double:unordered: can be captured" in text


@pytest.mark.parametrize(
    ("device", "hip"), [("cuda:0", "0"), pytest.param("rocm:0", "1", marks=pytest.mark.thorough)]
)
def test_captures_by_stream_argument(device: str, hip: str, tmp_path: Path) -> None:
    modes = {"DLBENCH_DOUBLE_HIP": hip}
    found = observe(tmp_path, "native,torch", "native", device=device, option="--capture", **modes)
    assert captures(found["native", "native"]) == HONEST | NUMBERED[device]
    own = captures(found["torch", "native"])["own"]
    assert own == (EMPTY, BROKEN)


@pytest.mark.parametrize(
    ("fault", "is_lost"),
    [
        ("-11@3", False),
        ("719@3", True),
        pytest.param("-11", True, marks=pytest.mark.thorough),
    ],
)
def test_a_crash_in_a_capture_costs_one_row(fault: str, is_lost: bool, tmp_path: Path) -> None:
    """A row that ends a worker is tried again in a new one; a broken device costs the row."""
    modes = {"DLBENCH_FAKE_FAIL": f"cuStreamEndCapture={fault}"}
    found = observe(tmp_path, "native", "native", option="--capture", **modes)["native", "native"]
    failed = [one["result"] == "failed" for one in found["capture"]]
    assert len(failed) == 2 * len(HONEST | NUMBERED["cuda:0"])
    assert any(failed) == is_lost
    assert (found["capture"][0]["stream"] == "unknown") == failed[0]
    assert all(failed) == (fault == "-11")
    assert fault == "-11" or (True, True) not in itertools.pairwise(failed)


def test_adapters_with_a_stream_leave_the_wait_to_dlbench() -> None:
    for library in ("cupy", "numba", "torch", "warp"):
        for role in ("producers", "consumers"):
            text = (HERE.parents[1] / role / f"{library}.py").read_text(encoding="utf-8")
            assert not re.search(
                r"^(def ready|ready\b.*=|from .* import .*\bready\b)", text, re.M
            ), library


def test_each_fault_of_a_stream_value_is_found(tmp_path: Path) -> None:
    """On a driver that crashes on an invalid handle, which costs one row."""
    faults: dict[str, dict[Any, str]] = {
        "": {},
        "deaf": {"omitted": "none", None: "none", 1: "none", 2: "none", 0: "none"},
        "device": dict.fromkeys(("own", "omitted", None, 1, 2, 0, "foreign"), "host"),
        "always": {-1: "host"},
        "early": {"host": "none"},
        "handle": {-1: "the worker ended at step 'sync': SIGSEGV"},
    }
    producers = ",".join(f"double:{way}" if way else "double" for way in faults)
    found = observe(tmp_path, producers, "native", DLBENCH_FAKE_HANDLES="1")
    for way, fault in faults.items():
        entry = found[f"double:{way}" if way else "double", "native"]
        assert waits(entry) == CORRECT["cuda"] | fault, way
        # The consumer names the default stream while it works there.
        assert entry["outcome"] == ("race" if way == "deaf" else "zero-copy"), way
        assert "sync-failed" not in warning_codes(entry), way
    assert rows(found["double:handle", "native"])[-1]["code"] == "worker-ended"
