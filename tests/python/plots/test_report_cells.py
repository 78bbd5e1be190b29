"""A cell of the report in a real browser: its facts, and commands that name it."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

import samples
import synthetic
from browser import Open, Page
from dlbench.analysis import cells
from dlbench.counting import explain
from typed import doc

pytestmark = pytest.mark.browser

EXCHANGE = "exchange/producer:numpy/consumer:jax/protocol:dlpack"


def document() -> dict[str, Any]:
    """Two devices and a case sweep, and of one exchange a phase and the device's own time."""
    plain = synthetic.document(("numpy", "jax"), devices=("cpu", "cuda:0"), failing=0.0)
    made = synthetic.with_case_sweep(plain)
    unrequested = [{"median_ns": 9.0, "first_ns": 0, "samples_ns": [9.0]}]
    made["benchmarks"] += [
        samples.measured("numpy", "jax", 9.0, phase="export", workers=unrequested),
        samples.measured("numpy", "jax", 9.0, clock="device", device="cuda:0", workers=unrequested),
    ]
    return made


def opened(open_page: Open, name: str) -> Page:
    page = open_page(document(), anchor=f"#{name}")
    page.own.wait_for_selector("dialog[open]")
    return page


@pytest.mark.parametrize(
    ("name", "verbs"),
    [
        (f"{EXCHANGE}/device:cuda:0/case:f16/bytes:4096", ["show", "repro"]),
        (f"{EXCHANGE}/device:cpu/case:f32/bytes:4096", ["show", "explain"]),
        (f"{EXCHANGE}/device:cpu/case:f32/bytes:65536/clock:ready", ["show"]),
        (f"{EXCHANGE}/device:cuda:0/case:f32/bytes:4096/clock:device", ["show"]),
        (f"{EXCHANGE}/device:cpu/case:f32/bytes:4096".replace("exchange", "export"), ["show"]),
    ],
)
def test_the_commands_of_a_cell_mean_that_cell(
    name: str, verbs: list[str], open_page: Open
) -> None:
    page = opened(open_page, name)
    lines = [shlex.split(line) for line in page.texts("dialog .copyable code")]
    assert [line[1] for line in lines] == verbs
    for _, verb, _, *words in lines:
        entry = cells.single(doc(document()), words)
        assert entry.name == name
        if verb == "explain":
            explain.countable(entry)


def test_times_that_lie_close_together_have_an_axis_with_numbers(open_page: Open) -> None:
    """No 1, 2 or 5 of a decade lies between them."""
    workers = [{"median_ns": 2100.0, "first_ns": 0, "samples_ns": [2031.0, 2100.0, 2262.0]}]
    entry = samples.measured("numpy", "jax", 2100.0, workers=workers)
    page = open_page(samples.document(entry), anchor=f"#{entry['name']}")
    page.own.wait_for_selector("dialog[open] .y-tick")
    found = [text for text in page.texts("dialog .y-tick") if text]
    assert found == ["2.05 us", "2.1 us", "2.15 us", "2.2 us", "2.25 us"]


def test_a_first_call_that_nothing_made_is_not_reported_of(open_page: Open) -> None:
    name = f"{EXCHANGE}/device:cpu/case:f32/bytes:4096"
    assert "first call" in opened(open_page, name).text("dialog")
    assert "first call" not in opened(open_page, name.replace("exchange", "export")).text("dialog")
