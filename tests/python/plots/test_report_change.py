"""What changed, in a real browser."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import comparisons
import samples
from browser import Open, Page

pytestmark = pytest.mark.browser


def opened(open_page: Open, comparison: dict[str, Any]) -> Page:
    page = open_page(samples.pair(), comparison=comparison)
    page.own.locator("#change-chart").scroll_into_view_if_needed()
    page.own.wait_for_selector("#change-chart .drawing .point")
    return page


def heights(page: Page) -> list[float]:
    """Of the points, from above."""
    script = "points => points.map(p => Math.round(p.getBoundingClientRect().y))"
    return list(page.own.locator("#change-chart .drawing .point").evaluate_all(script))


def test_each_cell_has_a_row_and_a_name_of_its_own(open_page: Open) -> None:
    made = comparisons.alike_but_for_two_axes()
    page = opened(open_page, made)
    cells = len(made["cells"])
    assert len(set(page.texts("#change-table tbody th"))) == cells
    assert len(set(page.texts("#change-chart .y-tick"))) == cells
    assert len(set(heights(page))) == cells


def test_counts_are_no_times_and_have_no_interval(open_page: Open) -> None:
    page = opened(open_page, comparisons.of_instructions(1.012))
    message = page.text("#change-caption")
    assert "base against head, instructions counted: 1 SLOW" in message
    assert "minimum detectable change" not in message
    assert page.texts("#change-chart .x-title") == ["instructions, head / base"]
    assert page.own.locator("#change-chart .interval").count() == 0
    assert "95 % interval" not in page.texts("#change-table thead th")
    (row,) = page.own.locator("#change-table tbody tr").all()
    reported = [text.strip() for text in row.locator("th, td").all_text_contents()]
    assert reported[1:7] == ["SLOW", "zero-copy", "SLOW", "1.012", "1,234", "1,249"]


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_a_new_copy_is_first_and_red_whatever_its_time(
    open_page: Open, size: tuple[int, int]
) -> None:
    base, head = samples.pair(), copy.deepcopy(samples.pair())
    made = comparisons.of(base, head)
    moved = next(cell for cell in made["cells"] if cell["consumer"] == "torch" and cell["ratio"])
    moved |= {"verdict": "INCONCLUSIVE", "outcome_change": "worse", "head_outcome": "copy",
              "details": ["zero-copy -> copy"]}  # fmt: skip
    made["counts"]["worse"] = 1
    made["inconclusive"] = {"cells": 2, "of": 9, "replicas": 8, "unknown": 0, "undecidable": 1}
    width, height = size
    page = open_page(base, head, comparison=made, viewport={"width": width, "height": height})
    box = page.own.locator("#change-table tbody tr").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < height  # on the first screen
    assert page.own.evaluate("document.documentElement.scrollWidth") <= width
    page.own.locator("#change-chart").scroll_into_view_if_needed()
    page.own.wait_for_selector("#change-chart .drawing .point")
    assert page.own.locator("main > section").first.get_attribute("id") == "change"
    assert page.text("#change-caption").startswith("run0 against run1: 1 worse, ")
    assert (
        "about --replicas 8 on each side would detect it in 1 of them; no number of replicas"
        in (page.text("#change-caption"))
    )
    row = page.own.locator("#change-table tbody tr").first
    reported = [text.strip() for text in row.locator("th, td").all_text_contents()]
    assert reported[1:4] == ["worse", "zero-copy \u2192 copy", "INCONCLUSIVE"]
    assert row.locator("td .worse").all_text_contents() == reported[1:3]
    assert page.texts("#change-chart .legend button") == ["worse", "SAME"]


def test_a_narrow_page_names_no_value_that_a_cell_has_not(open_page: Open) -> None:
    made = comparisons.of(samples.pair(), samples.pair())
    made["cells"] = [cell | {"verdict": None} for cell in made["cells"][:2]]
    page = open_page(samples.pair(), comparison=made, viewport={"width": 390, "height": 844})
    shown = page.own.locator("#change-table tbody tr").first.locator("td")
    named = {one.get_attribute("data-label"): one for one in shown.all() if one.is_visible()}
    assert "base" in named
    assert all(one.text_content() for one in named.values()), named
