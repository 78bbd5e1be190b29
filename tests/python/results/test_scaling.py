"""Which exchanges are reported to take longer for larger arrays: only those with proof."""

from __future__ import annotations

import random
from typing import Any

import pytest

import samples
from dlbench import _core
from dlbench.analysis import chance
from dlbench.analysis.scaling import scaling
from typed import doc

#: native -> native in 78 workers of one run, in ns: a machine in one of two states.
STATES = [
    *(64, 74, 39, 39, 73, 71, 62, 59, 63, 63, 62, 60, 69, 39, 82, 62, 73, 68, 60, 59),
    *(66, 63, 38, 40, 37, 38, 62, 61, 77, 61, 63, 63, 63, 71, 63, 63, 61, 64, 60, 64),
    *(64, 41, 64, 69, 61, 38, 64, 60, 62, 62, 63, 61, 61, 35, 59, 62, 64, 38, 60, 64),
    *(61, 37, 63, 61, 37, 39, 68, 68, 60, 69, 72, 62, 72, 62, 64, 60, 37, 61),
]
SIZES = (4096, 1 << 20)
SHOWN = "grows with size: "


#: How far one process may lie off on that machine.
BETWEEN = {"between_half_width": _core.between_half_width(STATES)}


def document(times: list[tuple[float, float]]) -> dict[str, Any]:
    """An exchange for each pair of times, at the smallest and the largest size."""
    found = [
        samples.measured(f"p{number}", "c", ns, bytes=size, interval="within", **BETWEEN)
        for number, pair in enumerate(times)
        for size, ns in zip(SIZES, pair, strict=True)
    ]
    return samples.document(*found)


def without_between(times: list[tuple[float, float]]) -> dict[str, Any]:
    made = document(times)
    for entry in made["benchmarks"]:
        del entry["between_half_width"]
    return made


def first_line(made: dict[str, Any]) -> str:
    return scaling(doc(made), ["dlpack"], 200)[0].plain


def test_what_two_processes_differ_by_is_no_growth() -> None:
    """Each size of each of 68 exchanges in a process of its own, a hundred runs."""
    chosen = random.Random(1)
    longer = 0
    for _ in range(100):
        times = [(chosen.choice(STATES), chosen.choice(STATES)) for _ in range(68)]
        longer += sum(large >= 1.5 * small for small, large in times)
        assert not first_line(document(times)).startswith(SHOWN)
    assert longer > 500  # which grow if only the times are compared


def test_a_copy_is_growth_on_that_machine_too() -> None:
    chosen = random.Random(2)
    flat = [(chosen.choice(STATES), chosen.choice(STATES)) for _ in range(60)]
    copies = [(chosen.choice(STATES), 100.0 * chosen.choice(STATES)) for _ in range(8)]
    assert first_line(document(flat + copies)).startswith(f"{SHOWN}8 of 68 exchanges")


def test_what_is_seen_and_not_shown_is_distinguished() -> None:
    message = first_line(document([(40.0, 62.0), (40.0, 40.0)]))
    assert not message.startswith(SHOWN)
    assert "1 more" in message


def test_of_one_process_nothing_is_known() -> None:
    assert not first_line(without_between([(40.0, 62.0)])).startswith(SHOWN)
    # Processes of the cell's own know it by themselves.
    made = without_between([(40.0, 62.0)])
    for entry in made["benchmarks"]:
        entry["interval"] = "processes"
    assert first_line(made).startswith(SHOWN)


def test_the_more_exchanges_the_surer_each() -> None:
    assert chance.times_as_wide(1) == pytest.approx(2.576 / 1.960, rel=1e-3)
    assert chance.times_as_wide(100) > chance.times_as_wide(10) > chance.times_as_wide(1)
