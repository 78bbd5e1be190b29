"""Whole runs on the simulated device: every clock and phase, pairs of devices, planted faults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import whole
from samples import warning_codes

pytestmark = pytest.mark.process

NATIVE = ("native", "native", *whole.QUICK, "--quiet", "--out", "run")


def cells(folder: Path, *words: str) -> dict[str, dict[str, Any]]:
    status, out, err = whole.run(folder, *NATIVE, *words)
    assert status == 0, out + err
    return whole.entries(whole.document(folder))


def name(
    phase: str = "exchange",
    *,
    producer: str = "native",
    consumer: str = "native",
    protocol: str = "dlpack",
    device: str = "sim:0",
    case: str = "f32",
    size: int = 4096,
    clock: str = "call",
) -> str:
    text = f"{phase}/producer:{producer}/consumer:{consumer}/protocol:{protocol}"
    text += f"/device:{device}/case:{case}/bytes:{size}"
    return text if clock == "call" else f"{text}/clock:{clock}"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    ways = "dlpack,dlpack_legacy,dlpack_versioned,dlpack_c,cuda_array_interface"
    return cells(
        tmp_path_factory.mktemp("simulated"),
        *("--devices", "sim:0", "--protocols", ways, "--phases", "all"),
        *("--sizes", "4KiB,1MiB", "--budget", "20s"),
    )


@pytest.mark.parametrize("protocol", ["dlpack", "dlpack_c", "cuda_array_interface"])
def test_nothing_is_copied_and_the_judge_saw_it(
    simulated: dict[str, dict[str, Any]], protocol: str
) -> None:
    entry = simulated[name(protocol=protocol)]
    assert entry["outcome"] == "zero-copy"
    evidence = entry["evidence"]
    assert (evidence["address"], evidence["write"], evidence["guard"]) == ("yes", "yes", "skipped")
    # It may warn of the machine's noise, not of what it saw.
    assert not {"contradiction", "disagreement", "no-guard"} & {*warning_codes(entry)}


@pytest.mark.parametrize("protocol", ["dlpack", "dlpack_c", "cuda_array_interface"])
def test_three_clocks_are_three_numbers(
    simulated: dict[str, dict[str, Any]], protocol: str
) -> None:
    found = [
        simulated[name(protocol=protocol, clock=clock)] for clock in ("call", "ready", "device")
    ]
    assert [entry["clock"] for entry in found] == ["call", "ready", "device"]
    assert len({entry["real_time"] for entry in found}) == 3
    assert all(entry["real_time"] > 0 for entry in found)


def test_the_consumer_names_its_stream(simulated: dict[str, dict[str, Any]]) -> None:
    calls = simulated[name()]["observed"]["calls"]
    assert calls[0] == "__dlpack_device__()"
    assert calls[1].startswith("__dlpack__(max_version=(1,3),stream=")
    assert simulated[name(protocol="dlpack_legacy")]["observed"]["struct"] == "legacy"


@pytest.mark.parametrize("phase", ["query", "export"])
def test_what_is_requested_of_the_producer_takes_time(
    simulated: dict[str, dict[str, Any]], phase: str
) -> None:
    assert simulated[name(phase)]["real_time"] > 0


def is_timed_or_too_short(entry: Mapping[str, Any]) -> bool:
    """Native's own import is some 5 ns, which a simulated device's threads may hide."""
    short = re.match(
        r"cannot be distinguished from zero: (\S+) \.\. \S+ ns", entry.get("reason", "")
    )
    return float(short[1]) <= 0 if short else entry["real_time"] > 0


@pytest.mark.parametrize("phase", ["import", "release"])
def test_the_consumers_own_phases_take_time_or_less_than_can_be_resolved(
    simulated: dict[str, dict[str, Any]], phase: str
) -> None:
    assert is_timed_or_too_short(simulated[name(phase)])


def test_where_the_consumer_calls_the_exporter_its_import_takes_time(
    simulated: dict[str, dict[str, Any]],
) -> None:
    assert simulated[name("import", protocol="dlpack_c")]["real_time"] > 0


def test_a_pair_of_devices_is_a_copy_of_the_producers(tmp_path: Path) -> None:
    found = cells(tmp_path, "--devices", "sim:0+cpu", "--sizes", "1MiB")
    entry = found[name(device="sim:0+cpu", size=1 << 20)]
    assert entry["outcome"] == "device-copy"
    assert entry["copied_by"] == "producer"
    assert entry["gb_per_s"] > 0
    assert entry["observed"]["flags"] == ["is-copied"]
    assert any("dl_device=(1,0)" in call for call in entry["observed"]["calls"])
    refused = found[name(device="sim:0+cpu", protocol="dlpack_c", size=1 << 20)]
    assert refused["outcome"] == "no-protocol"
    assert "other device" in refused["reason"]


def test_the_other_way_it_is_the_consumers(tmp_path: Path) -> None:
    found = cells(tmp_path, "--devices", "cpu+sim:0", "--sizes", "1MiB")
    entry = found[name(device="cpu+sim:0", size=1 << 20)]
    assert entry["outcome"] == "device-copy"
    assert entry["copied_by"] == "consumer"


def test_layouts_and_dtypes_cross(tmp_path: Path) -> None:
    found = cells(tmp_path, "--devices", "sim:0", "--cases", "all", "--protocols", "dlpack")
    fates = {e["case"]: e.get("found", e["outcome"]) for e in found.values()}
    # NumPy or DLPack lacks these dtypes, and DLPack a type for pinned or managed memory of the
    # simulated device; strides count elements; the native array is never a slice of another.
    outside = {"swapped", "grad", "conj", "neg", "nulls", "pinned", "managed", "odd", "view"}
    outside |= {"bf16", "c32", "i4", "u4", "dt64", "td64", "bytes", "str", "record", "object"}
    outside |= {"vstr"}
    for case, fate in fates.items():
        words = case.split("-")
        is_outside = outside & {*words} or words[0].startswith(("f8", "f6e", "f4e"))
        wanted = ("unsupported", "refused") if is_outside else ("zero-copy",)
        assert fate in wanted, (case, fate)


LIAR = """
from dlbench import _native_producer
DISTRIBUTION = None
DEVICES = ("sim",)


class Wrapped:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return {device}

    def __dlpack__(self, **asked):
        return self.array.__dlpack__(**asked)


def make(case, device):
    return Wrapped(_native_producer.DeviceArray(case.numpy(), device))


def address(array):
    return array.array.address
"""


@pytest.mark.parametrize(
    ("result", "outcome", "reason"),
    [
        ("(12, 0)", "zero-copy", ""),
        ("(2, 0)", "refused", "imports to sim:0, not from device (2, 0)"),
        ("(1, 0)", "refused", "returned (1, 0), the capsule has (12, 0)"),
    ],
)
def test_a_producer_that_lies_about_its_device(
    tmp_path: Path, result: str, outcome: str, reason: str
) -> None:
    (tmp_path / "mine/producers").mkdir(parents=True)
    (tmp_path / "mine/producers/liar.py").write_text(LIAR.format(device=result))
    words = ["--producers", "liar", "--consumers", "native", "--adapters", "mine"]
    words += ["--devices", "sim:0", "--protocols", "dlpack", "--sizes", "4KiB", "--out", "run"]
    whole.run(tmp_path, "--matrix", *words, *whole.QUICK)
    entry = whole.entries(whole.document(tmp_path))[name(producer="liar")]
    assert entry["outcome"] == outcome, entry
    assert reason in entry.get("reason", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("gpu", "unknown device 'gpu'"),
        ("cuda:x", "'cuda:x' is not a device"),
        ("cpu:0", "'cpu:0' is not a device"),
        ("sim:0+sim:0", "names the same device twice"),
        ("cuda:0+", "unknown device ''"),
    ],
)
def test_a_bad_device_is_one_line(tmp_path: Path, words: str, message: str) -> None:
    status, out, err = whole.run(tmp_path, "native", "native", "--devices", words)
    assert status == 2
    assert out == ""
    assert message in err
    assert len(err.strip().splitlines()) == 1, err
    assert not list(tmp_path.iterdir())


def test_a_device_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    found = cells(tmp_path, "--devices", "cpu,sim:1", "--sizes", "4KiB", "--protocols", "dlpack")
    absent = found[name(device="sim:1")]
    assert absent["outcome"] == "no-device"
    assert absent["reason"] == "no sim:1 here: sim has 1 device"
    assert found[name(device="cpu")]["outcome"] == "zero-copy"
