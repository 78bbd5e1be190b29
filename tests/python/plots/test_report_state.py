"""The state of the report's matrix, in a real browser, and in the address."""

from __future__ import annotations

import copy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from test_terminal import FORMATTERS, formats

import samples
import synthetic
from browser import Open, Page
from dlbench import values
from dlbench.plots import library_styles, report
from typed import entry_of

pytestmark = pytest.mark.browser

LIBRARIES = ("native", "numpy", "torch", "jax")


def document() -> dict[str, Any]:
    return synthetic.document(LIBRARIES, failing=0.0)


def anchor(page: Page) -> str:
    return str(page.own.evaluate("location.hash"))


def headers(page: Page, scope: str) -> list[str]:
    return [name.rstrip("0123456789.") for name in page.texts(f"#matrix-table th[scope={scope}]")]


def background(page: Page, pair: str) -> str:
    script = "e => getComputedStyle(e).backgroundColor"
    return str(page.own.locator(f"#matrix-table button[aria-label^='{pair}:']").evaluate(script))


def test_the_address_holds_every_choice(open_page: Open) -> None:
    runs = document(), copy.deepcopy(document())
    page = open_page(*runs)
    page.own.select_option("#choice select[name=run]", "0")
    page.own.select_option("#choice select[name=protocol]", "convert")
    page.own.select_option("#choice select[name=bytes]", "65536")
    page.own.select_option("#matrix-choice select[name=color]", "ratio")
    page.own.select_option("#matrix-choice select[name=sort]", "time")
    page.own.fill("#matrix-choice input", "numpy jax")
    page.own.fill("#refusals-choice input", "torch")
    page.own.locator("#scaling-chart").scroll_into_view_if_needed()
    page.own.wait_for_selector("#scaling-chart .legend button")
    page.own.select_option("#scaling-choice select[name=name]", "torch")
    page.own.click("#matrix-table button[aria-label^='numpy to jax']")
    page.own.wait_for_selector("dialog[open]")

    again = open_page(*runs, anchor=anchor(page))
    assert again.text("dialog h2") == page.text("dialog h2")
    again.press("Escape")
    assert again.own.input_value("#choice select[name=run]") == "0"
    assert again.text("#matrix-caption") == page.text("#matrix-caption")
    assert "convert \u00b7 f32 \u00b7 64 KiB" in again.text("#matrix-caption")
    assert again.texts("#matrix-table button") == page.texts("#matrix-table button")
    assert again.own.input_value("#refusals-choice input") == "torch"
    again.own.locator("#scaling-chart").scroll_into_view_if_needed()
    again.own.wait_for_selector("#scaling-chart .legend button")
    assert again.own.input_value("#scaling-choice select[name=name]") == "torch"
    assert "cell=" not in anchor(again)


def test_a_link_to_a_section_leaves_the_choices_in_the_address(open_page: Open) -> None:
    page = open_page(document())
    page.own.select_option("#choice select[name=bytes]", "65536")
    before = anchor(page)
    assert "bytes=65536" in before
    page.own.click("nav a[href='#machine']")
    assert anchor(page) == before
    assert page.own.evaluate("document.activeElement.id") == "machine"


def test_an_address_with_values_of_another_run_is_a_page_too(open_page: Open) -> None:
    page = open_page(document(), anchor="#run=7&bytes=3&color=none&protocol=convert&cell=no/such")
    assert page.texts("#matrix-table button")


def test_an_address_that_was_cut_off_is_a_page_too(open_page: Open) -> None:
    page = open_page(document(), anchor="#exchange/producer%")
    assert page.texts("#matrix-table button")


def test_libraries_filter_rows_and_columns(open_page: Open) -> None:
    page = open_page(document())
    page.own.fill("#matrix-choice input", "num, jax")
    assert headers(page, "row") == headers(page, "col") == ["jax", "numpy"]
    page.own.fill("#matrix-choice input", "")
    assert len(headers(page, "row")) == len(LIBRARIES)


def test_rows_and_columns_are_sorted_by_time(open_page: Open) -> None:
    page = open_page(document())
    assert headers(page, "col") == ["native", "jax", "numpy", "torch"]
    page.own.select_option("#matrix-choice select[name=sort]", "time")
    assert headers(page, "col") == ["native", "numpy", "torch", "jax"]


def test_cells_are_colored_by_time_ratio_or_outcome(open_page: Open) -> None:
    page = open_page(samples.document(
        samples.measured("native", "native", 40.0),
        samples.measured("numpy", "native", 500.0),
        samples.measured("native", "numpy", 1000.0, outcome="copy", gb_per_s=4.0),
    ))  # fmt: skip
    pairs = ("native to native", "numpy to native", "native to numpy")
    page.own.select_option("#matrix-choice select[name=color]", "ratio")
    assert sorted(page.texts("#matrix-table button")) == ["1.00x", "12.5x", "25.0x"]
    assert "relative to native \u2192 native: 40.0 ns" in page.text("#matrix-legend")
    page.own.select_option("#matrix-choice select[name=color]", "outcome")
    colors = [background(page, pair) for pair in pairs]
    assert colors[0] == colors[1] != colors[2]
    assert "zero-copy" in page.text("#matrix-legend")


def test_times_that_differ_little_have_nearly_one_color(open_page: Open) -> None:
    page = open_page(samples.document(
        samples.measured("numpy", "torch", 3060.0), samples.measured("torch", "numpy", 3410.0)
    ))  # fmt: skip
    found = [background(page, pair) for pair in ("numpy to torch", "torch to numpy")]
    first, last = ([int(part) for part in one[4:-1].split(",")] for one in found)
    assert max(abs(a - b) for a, b in zip(first, last, strict=True)) < 60
    assert "30.6 us" in page.text("#matrix-legend")


def test_the_interval_is_on_hover_and_focus(open_page: Open) -> None:
    page = open_page(samples.document(samples.measured("numpy", "torch", 1000.0)))
    label = "numpy to torch: 1.00 us, zero-copy; interval 990 ns .. 1.02 us"
    button = page.own.locator("#matrix-table tbody button")
    assert str(button.get_attribute("title")).startswith(label)
    assert str(button.get_attribute("aria-label")).startswith(label)
    assert page.text("#matrix-cell") == ""
    button.hover()
    assert page.text("#matrix-cell").startswith(label)


def test_times_have_the_digits_that_their_intervals_support(open_page: Open) -> None:
    exact = samples.measured("a", "a", 41.3, lo_ns=41.2, hi_ns=41.5, floor_ratio=9)
    wide = samples.measured("a", "b", 41.3, lo_ns=35.2, hi_ns=47.1, floor_ratio=9)
    page = open_page(samples.document(exact, wide))
    assert page.texts("#matrix-table button") == ["41.3 ns", "41 ns^"]
    legend = page.text("#matrix-legend")
    assert "^ interval wider than \u00b110 %" in legend
    assert "interval \u00b17.6 %, worst 15 %" in legend
    for entry, pair in ((exact, "a to a"), (wide, "a to b")):
        button = page.own.locator(f"#matrix-table button[aria-label^='{pair}:']")
        label = str(button.get_attribute("aria-label"))
        assert values.interval_ends(entry_of(entry)).split(" .. ")[1] in label
    random = Random(1)
    times = [[10 ** random.uniform(-2, 13), 10 ** random.uniform(-3, 13)] for _ in range(3000)]
    rows = [[kind, value, half] for kind, value, half, _ in formats()]
    rows += [[kind, sign * ns / scale, half] for kind, scale in (("duration", 1), ("number", 1),
             ("share", 1e3)) for ns, half in times for sign in (1, -1)]  # fmt: skip
    rows += [["bytes", random.randrange(1 << 12) << shift, 0] for shift in range(41)]
    rows += [["rate", 10 ** random.uniform(-4, 4), 0] for _ in range(500)]
    rows += [["rate", tie, 0] for tie in (2.25, 10.5, 12.5, 9.96, 0.125, 2.0, 100.0)]
    formatters = {**FORMATTERS, "rate": lambda value, _: f"{values.rate(value)} GB/s"}
    source = (Path(report.__file__).parent / "js/text.js").read_text(encoding="utf-8")
    script = f"""rows => {{ {source}
        const formatters = {{ duration, number, share: percent, bytes: size, rate }};
        return rows.map(([kind, ...row]) => formatters[kind](...row)); }}"""
    shown = [formatters[kind](value, half) for kind, value, half in rows]
    found = page.own.evaluate(script, rows)
    assert [row for row, one, two in zip(rows, shown, found, strict=True) if one != two] == []


def test_a_library_has_the_same_style_in_every_run(open_page: Open) -> None:
    for libraries in (("native", "torch"), ("jax", "mlx", "native", "numpy", "torch")):
        page = open_page(synthetic.document(libraries, failing=0.0), color_scheme="light")
        page.own.locator("#scaling-chart").scroll_into_view_if_needed()
        page.own.wait_for_selector("#scaling-chart .legend button")
        points = page.own.locator("#scaling-chart [data-name=torch] .point")
        assert points.first.get_attribute("fill") == library_styles.of("torch").color


def test_no_two_libraries_look_alike() -> None:
    found = [library_styles.of(name) for name in library_styles.ORDER]
    assert len({(style.color, style.marker) for style in found}) == len(library_styles.ORDER)
    others = library_styles.of_all(f"library{number}" for number in range(60))
    assert len({(style.color, style.marker) for style in others.values()}) == 60


def test_a_phone_shows_a_row_below_the_other(open_page: Open) -> None:
    page = open_page(
        samples.document(samples.missing("numpy", "torch", "refused", "not writable " * 20)),
        viewport={"width": 390, "height": 800},
    )
    row = page.own.locator("#refusals-table tbody tr").bounding_box()
    reason = page.own.locator("#refusals-table tbody td:last-child").bounding_box()
    assert reason["width"] > 300
    assert row["height"] - reason["height"] < 200
    assert page.own.evaluate("document.documentElement.scrollWidth") <= 390
