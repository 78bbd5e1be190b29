"""Tables of the terminal: no two lines are alike, and each names its device if there are two."""

from __future__ import annotations

from typing import Any

import pytest

import samples
from dlbench.analysis import scaling
from dlbench.analysis.scaling import differing
from dlbench.sync import table
from dlbench.terminal import environments
from typed import doc

DEVICES = ("cpu", "cuda:0+cpu")
CASES = ("f32", "f64")


def rounds(ns: float) -> dict[str, Any]:
    samples_ns = [ns * share for share in (0.99, 1.0, 1.01, 1.0, 0.995, 1.005)]
    workers = [{"median_ns": ns, "first_ns": ns, "samples_ns": samples_ns}]
    return {"workers": workers, "between_half_width": 0.05}


def two_environments() -> dict[str, Any]:
    """Slower in `old`, on each device and for each kind of array."""
    reported = {"python": "3.13.1", "libraries": {}, "floors_ns": {}}
    made = samples.document(environments={"default": reported, "old": reported})
    made["benchmarks"] = [
        samples.measured("a", "b", ns, device=device, case=case, environment=name, **rounds(ns))
        for device in DEVICES
        for case in CASES
        for name, ns in (("default", 100.0), ("old", 300.0))
    ]
    return made


def growing() -> dict[str, Any]:
    """A copy between devices is the steepest; on the host it grows as well."""
    made = [
        samples.measured("a", "b", ns, device=device, bytes=size)
        for device, by in (("cpu", 10), ("cuda:0+cpu", 50))
        for size, ns in ((4096, 100.0), (1 << 20, 100.0 * by))
    ]
    return samples.document(*made)


def classified(devices: tuple[str, ...] = DEVICES) -> dict[str, Any]:
    one = {"stream": None, "requested_by": "consumer", "reads_on": "own", "expected": "order",
           "waits": "stream", "content": "new", "transfer_ns": 1234.5,
           "export_blocked": 0.1, "import_blocked": 0.5,
           "gap_ns": -2e6}  # fmt: skip
    axes = [(device, protocol) for device in devices for protocol in ("dlpack", "buffer")]
    made = [
        samples.measured("library", "another", 90.0, device=device, protocol=protocol, sync=[one])
        for device, protocol in axes
    ]
    return samples.document(*made)


def apart(lines: list[Any], width: int) -> list[str]:
    reported = [str(line) for line in lines]
    assert len(set(reported)) == len(reported)
    assert max(map(len, reported)) <= width
    return reported


@pytest.mark.parametrize("width", [60, 80, 120])
def test_scaling_has_both_devices(width: int) -> None:
    _, head, *rows = apart(scaling.scaling(doc(growing()), ["dlpack"], width), width)
    assert "device" in head
    assert [line.split()[:5] for line in rows] == [
        ["a", "->", "b", "dlpack", "cuda:0+cpu"],
        ["a", "->", "b", "dlpack", "cpu"],
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_environments_are_beside_each_other_by_device_and_case(width: int) -> None:
    _, head, *lines = apart(environments.table(doc(two_environments()), ["dlpack"], width), width)
    rows = [line for line in lines if "->" in line]
    assert head.split()[3:6] == ["protocol", "device", "case"]
    found = {tuple(line.split()[4:6]) for line in rows}
    assert found == {(device, case) for device in DEVICES for case in CASES}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_synchronization_keeps_the_columns_by_which_its_rows_differ(width: int) -> None:
    _, head, *lines = apart(table.table(doc(classified()), width), width)
    rows = [line for line in lines if "->" in line]
    assert head.split()[3:5] == ["protocol", "device"]
    assert [line.split()[3:5] for line in rows] == [
        [protocol, device] for device in DEVICES for protocol in ("dlpack", "buffer")
    ]
    assert all("stream" in line for line in rows)


def test_what_all_rows_have_in_common_still_goes_first() -> None:
    _, head, *_ = [str(line) for line in table.table(doc(classified(("cuda:0",))), 60)]
    assert "device" not in head
    assert "protocol" in head


def test_differing_names_no_axis_that_is_alike() -> None:
    assert differing(doc(growing()).entries) == ["device"]
    assert differing(doc(two_environments()).entries) == ["device", "case"]
    assert differing([]) == []
