"""The report of several machines in a real browser: side by side, and relative to one of them."""

from __future__ import annotations

import pytest

import samples
from browser import Open
from typed import merged_of

pytestmark = pytest.mark.browser

ARROW = "\u2192"


def merged() -> dict[str, object]:
    """Three machines; the third cannot make one of the two exchanges."""
    times = {"box": 100.0, "node": 150.0, "slow": 400.0}
    found = []
    for name, ns in times.items():
        missing = samples.missing("torch", "numpy", "refused", "no")
        second = samples.measured("torch", "numpy", ns * 10)
        entries = [samples.measured("numpy", "torch", ns), missing if name == "slow" else second]
        found.append((name, samples.document(*entries)))
    return merged_of(found).to_json()


def test_machines_stand_side_by_side(open_page: Open) -> None:
    page = open_page(merged())
    assert page.own.locator("#machines").is_visible()
    assert page.texts("#machines-table thead th") == ["exchange", "box", "node", "slow"]
    assert page.texts("#machines-table tbody tr") == [
        f"numpy {ARROW} torch100 ns150 ns400 ns",
        f"torch {ARROW} numpy1.00 us1.50 usrefused",
    ]


def test_ratios_are_to_the_chosen_machine(open_page: Open) -> None:
    page = open_page(merged())
    page.own.select_option("#machines-choice select", "node")
    assert page.texts("#machines-table tbody tr")[0] == f"numpy {ARROW} torch0.671.002.67"
    assert "Time relative to node" in page.text("#machines-table caption")
    page.own.uncheck("#machines-choice input[value=slow]")
    assert page.texts("#machines-table thead th") == ["exchange", "box", "node"]
    # The address keeps what is shown.
    assert "relative=node" in page.own.url
    page.own.reload()
    page.own.wait_for_function("document.documentElement.dataset.ready !== undefined")
    assert page.texts("#machines-table tbody tr")[0] == f"numpy {ARROW} torch0.671.00"


def test_a_cell_opens_from_there(open_page: Open) -> None:
    page = open_page(merged())
    page.own.click("#machines-table tbody tr:nth-child(2) td:nth-child(3) button")
    page.own.wait_for_selector("dialog[open]")
    assert page.text("dialog h2") == f"torch {ARROW} numpy"


def test_one_machine_has_no_such_section(open_page: Open) -> None:
    page = open_page(samples.document(samples.measured("numpy", "torch", 100.0)))
    assert not page.own.locator("#machines").is_visible()
