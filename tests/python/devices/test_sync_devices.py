"""Synchronization on devices: honest and faulty native libraries, simulated device and drivers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import fakes
import whole
from samples import warning_codes

pytestmark = [pytest.mark.process, pytest.mark.timing]

#: As in native's own files.
ON_STREAM = """
@contextlib.contextmanager
def on_stream(device, handle):
    former = {half}.stream(device)
    {half}.set_stream(device, handle)
    try:
        yield
    finally:
        {half}.set_stream(device, former)
"""

# Native's arrays behind a type that refuses stream 2, and with an argument also never waits, or
# refuses every stream from then on.
PICKY = """
import contextlib

from dlbench import _native_producer

DISTRIBUTION = None
DEVICES = ("cuda",)
ARGUMENTS = {"racing": "", "offended": ""}
WAY = ARGUMENT[0]
ASKED = []


class Picky:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__ | {"version": "3"}

    def __dlpack__(self, *, stream=None, **wanted):
        ASKED.append(stream)
        if stream == 2 or (WAY == "offended" and 2 in ASKED):
            raise BufferError("streams have addresses")
        return self.array.__dlpack__(stream=-1 if WAY == "racing" else stream, **wanted)


def make(case, device):
    return Picky(_native_producer.DeviceArray(case.numpy(), device, memory="device", interface=3))


def address(array):
    return array.array.address

""" + ON_STREAM.format(half="_native_producer")  # fmt: skip

# Names a stream that no C long holds, and does not mind what a version is.
FAR = """
import contextlib

from dlbench import _native_consumer

DISTRIBUTION = None
PROTOCOLS = {"dlpack": _native_consumer.from_dlpack,
             "cuda_array_interface": _native_consumer.Importer("cpu").from_cuda_array_interface}


class Handed:
    def __init__(self, device, capsule):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **wanted):
        return self.capsule


class Shown:
    def __init__(self, source):
        self.source = source
        self.__cuda_array_interface__ = source.__cuda_array_interface__ | {"version": 3}


def calls(source, target):
    importer = _native_consumer.Importer(target)
    return {
        "dlpack": lambda x: importer.from_dlpack(
            Handed(x.__dlpack_device__(), x.__dlpack__(stream=2**63, max_version=(1, 3)))
        ),
        "cuda_array_interface": lambda x: importer.from_cuda_array_interface(Shown(x)),
    }


stream = _native_consumer.stream

""" + ON_STREAM.format(half="_native_consumer")  # fmt: skip

PRODUCERS = ("native", "native:interface=2", "faulty:no-wait", "faulty:wrong-stream",
             "faulty:host-sync")  # fmt: skip
DEVICES = (
    pytest.param("sim:0", marks=pytest.mark.thorough),
    *(pytest.param(device, marks=fakes.needs_fakes) for device in ("cuda:0", "rocm:0")),
)

Cells = dict[tuple[str, str], dict[str, Any]]


def run_of(folder: Path, *words: str) -> dict[str, Any]:
    """The document of a run with --sync."""
    environment = fakes.environment() if fakes.FOLDER else os.environ
    return whole.measure(folder, "--sync", *words, "--sizes", "4KiB", environment=environment)


@pytest.fixture(
    scope="module",
    params=[DEVICES[0], *(pytest.param(one, marks=pytest.mark.thorough) for one in DEVICES[1:])],
)
def classified(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, Cells]:
    """The folder, the device, and each cell by producer and protocol."""
    folder = tmp_path_factory.mktemp("sync")
    device: str = request.param
    words = ("--producers", ",".join(PRODUCERS), "--consumers", "native", "--devices", device)
    document = run_of(folder, *words, "--protocols", "dlpack,dlpack_c,cuda_array_interface")
    cells = whole.entries(document).values()
    found = {
        (entry["producer"], entry["protocol"]): entry
        for entry in cells
        if entry.get("clock", "call") == "call"
    }
    return folder, device, found


def rows(entry: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    """By stream argument."""
    assert "sync-failed" not in warning_codes(entry)
    return {"host" if one["reads_on"] == "host" else one["stream"]: one for one in entry["sync"]}


def test_the_stream_that_is_named_waits(classified: tuple[Path, str, Cells]) -> None:
    _, device, cells = classified
    entry = cells["native", "dlpack"]
    assert entry["outcome"] == "zero-copy", entry
    found = rows(entry)
    own = found.pop("own")
    assert (own["waits"], own["content"], own["requested_by"], own.get("expected") == "order") == (
        *("stream", "new", "consumer", True),
    )
    assert max(own["export_blocked"], own["import_blocked"]) < 0.3
    assert own["gap_ns"] >= 0
    refused = {1, 2} if device == "rocm:0" else {0}
    number = 0 if device == "rocm:0" else 1
    named = {"omitted", None, number} | ({2} - refused)
    for argument in refused:
        assert found.pop(argument)["code"] == "argument-refused", argument
    assert {argument: one["waits"] for argument, one in found.items()} == {
        **dict.fromkeys(named, "stream"), "host": "host", "foreign": "none", -1: "none"
    }  # fmt: skip
    (default,) = (one for one in entry["sync"] if _requests(one) and one["reads_on"] == "legacy")
    assert (default["stream"], default["waits"], default["expected"]) == (number, "stream", "order")
    # Freeing memory waits for the device.
    assert entry["late_free"] == "safe"


@pytest.mark.parametrize("protocol", ["dlpack_c", "cuda_array_interface"])
def test_a_consumer_that_waits_itself_does_so_on_its_stream(
    classified: tuple[Path, str, Cells], protocol: str
) -> None:
    entry = classified[2]["native", protocol]
    observed = [(one["reads_on"], one["waits"], one.get("expected")) for one in entry["sync"]]
    own = ("own", "stream", None if protocol == "dlpack_c" else "order")
    assert observed == [("work", "stream", "order"), own][protocol != "dlpack_c" :]
    assert entry["outcome"] == "zero-copy"


def test_without_required_order_there_is_no_race(classified: tuple[Path, str, Cells]) -> None:
    entry = classified[2]["native:interface=2", "cuda_array_interface"]
    (one,) = rows(entry).values()
    assert (one["waits"], one["content"], one.get("expected") == "order") == ("none", "old", False)
    assert entry["outcome"] == "zero-copy"
    assert entry["real_time"] > 0


@pytest.mark.parametrize(("fault", "word"), [("no-wait", "none"), ("wrong-stream", "wrong-stream")])
def test_a_planted_race_has_its_word_and_no_number(
    classified: tuple[Path, str, Cells], fault: str, word: str
) -> None:
    folder, _, cells = classified
    entry = cells[f"faulty:{fault}", "dlpack"]
    own = rows(entry)["own"]
    assert (own["waits"], own["content"], own.get("expected") == "order") == (word, "old", True)
    assert entry["outcome"] == "race"
    assert "real_time" not in entry
    others = [
        each
        for each in whole.document(folder)["not_measured"]
        if each["producer"] == f"faulty:{fault}" and each["protocol"] == "dlpack"
    ]
    assert {each["clock"] for each in others} == {"call", "ready", "device"}
    assert {each["outcome"] for each in others} == {"race"}
    assert cells[f"faulty:{fault}", "cuda_array_interface"]["outcome"] == "zero-copy"


def test_a_script_has_the_exchange_and_says_so(classified: tuple[Path, str, Cells]) -> None:
    folder, device, _ = classified
    status, script, err = whole.run(folder, "repro", "run", "faulty:no-wait", "native", "dlpack")
    assert (status, err) == (0, "")
    assert "busy(" not in script
    compile(script, device, "exec")


def test_a_host_that_waits_is_held_in_export(classified: tuple[Path, str, Cells]) -> None:
    entry = classified[2]["faulty:host-sync", "dlpack"]
    own = rows(entry)["own"]
    assert (own["waits"], own["content"]) == ("host", "new")
    assert own["export_blocked"] > 0.7 > 0.3 > own["import_blocked"]
    assert entry["outcome"] == "zero-copy"


def test_the_terminal_tells_it(classified: tuple[Path, str, Cells]) -> None:
    folder = classified[0]
    _, reported, _ = whole.run(folder, "show", "run", environment=os.environ | {"COLUMNS": "80"})
    lines = [line.split() for line in reported.splitlines()]
    for fault, word in (("no-wait", "none"), ("wrong-stream", "wrong-stream")):
        wanted = [f"faulty:{fault}", "->", "native", "dlpack", word, "own"]
        assert wanted in [line[:6] for line in lines], reported
    assert any(line[:1] == ["race"] for line in lines)
    assert max(map(len, reported.splitlines())) <= 80
    _, reported, _ = whole.run(folder, "show", "run", "native", "native", "dlpack", "call")
    assert "stream own: stream, new data read" in reported
    assert "stream (-1): none, old data read" in reported


@fakes.needs_fakes
def test_a_real_library_that_waits_as_consumer(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    words = ("--producers", "native,numba", "--consumers", "native,numba", "--devices", "cuda:0")
    document = run_of(tmp_path, *words, "--protocols", "cuda_array_interface")
    found = {
        (entry["producer"], entry["consumer"]): rows(entry)["omitted"]
        for entry in whole.entries(document).values()
        if "sync" in entry
    }
    waits = {pair: (one["waits"], one.get("expected") == "order") for pair, one in found.items()}
    assert waits == {
        ("native", "native"): ("stream", True),
        ("numba", "native"): ("stream", True),
        ("native", "numba"): ("host", True),
        ("numba", "numba"): ("host", True),
    }
    assert found["native", "numba"]["import_blocked"] > 0.7


@fakes.needs_fakes
def test_numbers_that_are_none_hide_no_race(tmp_path: Path) -> None:
    for role, name, text in (("producers", "picky", PICKY), ("consumers", "far", FAR)):
        (tmp_path / "own" / role).mkdir(parents=True)
        (tmp_path / "own" / role / f"{name}.py").write_text(text, encoding="utf-8")
    words = ("--adapters", "own", "--producers", "picky:racing", "--consumers", "far")
    more = ("--protocols", "dlpack,cuda_array_interface", "--devices", "cuda:0")
    cells = {
        entry["protocol"]: entry
        for entry in whole.entries(run_of(tmp_path, *words, *more)).values()
        if entry.get("clock", "call") == "call"
    }
    own = rows(cells["dlpack"])["own"]
    assert (own["waits"], own.get("expected") == "order") == ("none", True)
    assert cells["dlpack"]["outcome"] == "race"
    (one,) = rows(cells["cuda_array_interface"]).values()
    assert (one["waits"], one.get("expected") == "order") == ("stream", False)
    assert cells["cuda_array_interface"]["outcome"] == "zero-copy"


@fakes.needs_fakes
def test_a_refused_stream_costs_its_row_only(tmp_path: Path) -> None:
    (tmp_path / "own" / "producers").mkdir(parents=True)
    (tmp_path / "own" / "producers" / "picky.py").write_text(PICKY, encoding="utf-8")
    ways = ("", "racing", "offended")
    producers = ",".join(f"picky:{way}" if way else "picky" for way in ways)
    words = ("--adapters", "own", "--producers", producers, "--consumers", "native")
    document = run_of(tmp_path, *words, "--devices", "cuda:0", "--protocols", "dlpack")
    cells = {
        entry["producer"].partition(":")[2]: entry
        for entry in whole.entries(document).values()
        if entry.get("clock", "call") == "call"
    }
    assert cells.keys() == set(ways)
    for way, entry in cells.items():
        found = rows(entry)
        assert found[2]["reason"] == "BufferError: streams have addresses"
        assert found["own"]["waits"] == ("none" if way == "racing" else "stream")
    assert [cells[way]["outcome"] for way in ways] == ["zero-copy", "race", "zero-copy"]
    # Late frees are tried before any value that a library may mind.
    assert {entry["late_free"] for entry in cells.values()} == {"safe"}


@fakes.needs_fakes
def test_a_real_library_that_names_its_streams(tmp_path: Path) -> None:
    """cuda.core reads on the stream that its calls name, and ignores that of its consumers."""
    pytest.importorskip("cuda.core")
    words = ("--producers", "native,cuda_core", "--consumers", "native,cuda_core")
    more = ("--protocols", "dlpack,dlpack_c,cuda_array_interface", "--devices", "cuda:0")
    cells = whole.entries(run_of(tmp_path, *words, *more)).values()
    found = {
        (entry["producer"], entry["consumer"], entry["protocol"]): (
            entry["outcome"] == "race",
            *(
                (one["waits"], one.get("expected") == "order")
                for one in entry["sync"]
                if _requests(one) and one["reads_on"] != "legacy"
            ),
        )
        for entry in cells
        if "sync" in entry and "cuda_core" in (entry["producer"], entry["consumer"])
    }
    late = {(entry["producer"], entry["late_free"]) for entry in cells if "late_free" in entry}
    assert late == {("native", "safe"), ("cuda_core", "late")}
    assert found == {
        ("native", "cuda_core", "dlpack"): (False, ("stream", True)),
        ("native", "cuda_core", "cuda_array_interface"): (False, ("stream", True)),
        ("cuda_core", "native", "dlpack"): (True, ("none", True)),
        ("cuda_core", "cuda_core", "dlpack"): (True, ("none", True)),
        # The stream that it says it works on is the default one.
        ("cuda_core", "native", "dlpack_c"): (True, ("none", True), ("wrong-stream", False)),
    }


def _requests(one: dict[str, Any]) -> bool:
    return bool(one["requested_by"] == "consumer")


def test_a_pair_of_devices_is_not_looked_at(tmp_path: Path) -> None:
    words = ("--producers", "native", "--consumers", "native", "--protocols", "dlpack")
    document = run_of(tmp_path, *words, "--devices", "sim:0+cpu,cpu+sim:0")
    cells = whole.entries(document).values()
    assert {entry["outcome"] for entry in cells} == {"device-copy"}
    assert not [e for e in cells if "sync" in e or "sync-failed" in warning_codes(e)]
