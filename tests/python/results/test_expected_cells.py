"""No cell is skipped silently: each requested cell is measured or has a reason."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from typing import Any

import pytest

import whole
from dlbench import _core

pytestmark = pytest.mark.process

PRODUCERS = ("numpy", "bytearray", "faulty:honest", "gone")
CONSUMERS = ("numpy", "native", "memoryview")
PROTOCOLS = ("dlpack", "buffer", "convert", "array_ufunc", "cuda_array_interface")
PLACES = ("default", "twin")
CASES = _core.case_names()[::20]
#: Not installed anywhere.
GONE = "DISTRIBUTION = 'no-such-distribution'\ndef make(case, device):\n    return case.numpy()\n"


def cell(entry: dict[str, Any]) -> tuple[str, ...]:
    axes = ("environment", "producer", "consumer", "protocol", "device", "case")
    return tuple(str(entry[axis]) for axis in axes)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every twentieth case, in our own interpreter and in the same one as another environment."""
    folder = tmp_path_factory.mktemp("expected")
    whole.plant(folder / "more", "gone", make=GONE)
    (folder / "more" / "consumers" / "gone.py").unlink()
    status, _, err = whole.run(
        folder, "--matrix", "--producers", ",".join(PRODUCERS), "--consumers", ",".join(CONSUMERS),
        "--protocols", ",".join(PROTOCOLS), "--cases", ",".join(CASES), "--sizes", "4KiB",
        "--env", f"twin={sys.executable}", "--adapters", "more", "--precision", "99%", "--quiet",
        *whole.QUICK, "--out", "run",
    )  # fmt: skip
    assert (status, err) == (0, "")
    return whole.document(folder)


def test_expected_cells_are_those_measured_and_those_not(ran: dict[str, Any]) -> None:
    expected = Counter(itertools.product(PLACES, PRODUCERS, CONSUMERS, PROTOCOLS, ["cpu"], CASES))
    entries = ran["benchmarks"] + ran["not_measured"]
    assert Counter(map(cell, entries)) == expected
    assert len({entry["name"] for entry in entries}) == len(entries)


def test_each_has_a_number_or_a_reason(ran: dict[str, Any]) -> None:
    for entry in ran["benchmarks"]:
        assert entry["real_time"] > 0, entry["name"]
    for entry in ran["not_measured"]:
        assert "real_time" not in entry
        assert entry["reason"], entry["name"]


def test_both_environments_end_alike(ran: dict[str, Any]) -> None:
    entries = ran["benchmarks"] + ran["not_measured"]
    found: dict[tuple[str, ...], set[str]] = {}
    for entry in entries:
        found.setdefault(cell(entry)[1:], set()).add(str(entry.get("found", entry["outcome"])))
    unlike = {name: outcomes for name, outcomes in found.items() if len(outcomes) > 1}
    assert unlike == {}
