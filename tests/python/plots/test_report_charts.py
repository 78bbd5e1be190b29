"""The report's matrix, scaling and waiting in a real browser: each line, floor and row by its own
clock, device and protocol."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import samples
import synthetic
from browser import Open, Page

pytestmark = pytest.mark.browser

KIB = 1024


def clocks() -> dict[str, Any]:
    axes = ({"device": "cuda:0", "clock": clock} for clock in ("call", "ready", "device"))
    phase = samples.measured("numpy", "torch", 9.0, device="cuda:0", phase="export")
    return samples.document(
        *(samples.measured("numpy", "torch", 9.0, **one) for one in axes), phase
    )


@pytest.mark.parametrize(
    ("axis", "level", "message"),
    [
        ("clock", "call", "host time of one exchange: "),
        ("clock", "ready", "time of one exchange until the data is ready: "),
        ("clock", "device", "the device's own time of one exchange: "),
        ("phase", "export", "time of the export in one exchange: "),
    ],
)
def test_the_matrix_says_whose_time_it_is(
    axis: str, level: str, message: str, open_page: Open
) -> None:
    page = open_page(clocks())
    page.own.select_option(f"#choice select[name={axis}]", level)
    assert page.text("#matrix-caption").startswith(message)


def scaled(open_page: Open, document: dict[str, Any], device: str = "") -> Page:
    page = open_page(document)
    if device:
        page.own.select_option("#choice select[name=device]", device)
    page.own.locator("#scaling-chart").scroll_into_view_if_needed()
    # The legend of a device names it; the chart of the first device may still be there.
    page.own.wait_for_selector(f"#scaling-chart .legend button:has-text('{device}')")
    return page


def test_a_line_is_dashed_only_where_it_copies(open_page: Open) -> None:
    outcomes = {4 * KIB: "zero-copy", 64 * KIB: "zero-copy", KIB * KIB: "copy"}
    cells = (
        samples.measured("numpy", "torch", 900.0 + size / 16, bytes=size, outcome=outcome)
        for size, outcome in outcomes.items()
    )
    page = scaled(open_page, samples.document(*cells))
    lines = page.own.locator("#scaling-chart [data-name=numpy] .line").evaluate_all(
        "lines => lines.map(line => [line.getBBox().x, line.getAttribute('stroke-dasharray')])"
    )
    assert [dash for _, dash in sorted(lines)] == [None, "6 4"]
    assert page.own.locator("#scaling-chart .drawing .point").count() == len(outcomes)
    assert page.texts("#scaling-chart .legend button").count("numpy") == 1


def test_copy_floors_are_those_of_the_device(open_page: Open) -> None:
    made = synthetic.document(("numpy", "torch"), devices=("cpu", "cuda:0"), failing=0.0)
    rates = {"warm": 16.0, "fresh": 2.0, "cuda:0": 900.0, "cuda:0+cpu pinned": 50.0}
    made["context"]["dlbench"]["environments"]["default"]["copy_floors_gb_per_s"] = rates

    def floors(page: Page) -> list[str]:
        texts = page.texts("#scaling-chart .legend button")
        return [text.partition(", ")[2] for text in texts if text.startswith("a plain copy")]

    assert floors(scaled(open_page, made)) == ["warm: 16 GB/s", "fresh: 2 GB/s"]
    assert floors(scaled(open_page, made, "cuda:0")) == ["cuda:0: 900 GB/s"]


def test_rows_of_waiting_are_distinguished(open_page: Open) -> None:
    waits = {
        "sync": [
            {
                "stream": None,
                "requested_by": "consumer",
                "reads_on": "own",
                "expected": "order",
                "waits": "stream",
            }
        ]
    }
    entry = samples.measured("torch", "jax", 9.0, device="cuda:0", **waits)
    old = samples.measured("torch", "jax", 9.0, device="cuda:0", environment="old", **waits)
    made = samples.document(entry, old)
    environments = made["context"]["dlbench"]["environments"]
    environments["old"] = copy.deepcopy(environments["default"])
    names = open_page(made).texts("#sync-table tbody th")
    assert [name.split()[3:] for name in names] == [
        ["dlpack", "cuda:0", "default"],
        ["dlpack", "cuda:0", "old"],
    ]
