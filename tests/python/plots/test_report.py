"""The report in a real browser: its content by pointer and keyboard, without errors."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import browser as browsers
import comparisons
import samples
import synthetic
from browser import Open
from typed import merged_of

pytestmark = pytest.mark.browser

LIBRARIES = ("native", "numpy", "torch", "jax", "mlx")
ARROW = "\u2192"


def whole() -> dict[str, Any]:
    document = synthetic.with_phases(synthetic.document(LIBRARIES, failing=0.0))
    lost = pick(document, "torch", "mlx")
    document["benchmarks"].remove(lost)
    refused = {axis: lost[axis] for axis in samples.axes("a", "b")} | {"name": lost["name"]}
    refused |= {
        "outcome": "crashed",
        "code": "crashed",
        "reason": "died in call",
        "signal": "SIGSEGV",
    }
    document["not_measured"].append(refused)
    pick(document, "numpy", "torch")["warnings"] = [samples.warned("drift")]
    return document


def pick(document: dict[str, Any], producer: str, consumer: str) -> dict[str, Any]:
    wanted = {"producer": producer, "consumer": consumer, "bytes": 4096, "protocol": "dlpack"}
    wanted |= {"clock": "call"}
    return next(
        e for e in document["benchmarks"] if all(e[key] == value for key, value in wanted.items())
    )


def button(producer: str, consumer: str) -> str:
    return f"#matrix-table button[aria-label^='{producer} to {consumer}:']"


def test_it_shows_the_matrix_with_real_headers(open_page: Open) -> None:
    document = whole()
    pick(document, "numpy", "torch").update(real_time=16_600.0, lo_ns=16_500.0, hi_ns=16_700.0)
    page = open_page(document)
    names = [name.rstrip("0123456789.") for name in page.texts("#matrix-table th[scope=col]")]
    assert names == ["native", "jax", "mlx", "numpy", "torch"]
    assert page.own.locator("#matrix-table th[scope=row]").count() == 5
    assert page.text(button("numpy", "torch")) == "16.6 us"
    assert page.text(button("torch", "mlx")) == "crashed"
    assert page.text(button("numpy", "mlx")).endswith("*")
    assert "cpu \u00b7 dlpack \u00b7 f32 \u00b7 4 KiB" in page.text("#matrix-caption")
    assert "* copied" in page.text("#matrix-legend")


def test_a_click_shows_the_cell(open_page: Open) -> None:
    page = open_page(whole())
    page.own.click(button("numpy", "torch"))
    page.own.wait_for_selector("dialog[open] .drawing")
    reported = page.text("dialog")
    for word in (f"numpy {ARROW} torch", "drift", "zero-copy", "__dlpack__(max_version=(1, 0))",
                 "interval", "address", "Phases, via proxy",
                 "dlbench show runs/0 numpy torch dlpack 4096"):  # fmt: skip
        assert word in reported
    rounds = pick(whole(), "numpy", "torch")["workers"][0]["samples_ns"]
    assert page.own.locator("dialog .point").count() == len(rounds)
    page.own.click("dialog .close")
    assert not page.own.locator("dialog[open]").count()


def test_processes_of_other_blocks_are_reported_of(open_page: Open) -> None:
    document = whole()
    cell = pick(document, "numpy", "torch")
    cell["workers"] += [cell["workers"][0] | {"iterations": 4000}]
    page = open_page(document)
    page.own.click(button("numpy", "torch"))
    page.own.wait_for_selector("dialog[open] .drawing")
    assert "4 of 1000 to 4000 exchanges, 2 processes" in page.text("dialog")


def test_a_cell_without_a_number_says_why(open_page: Open) -> None:
    page = open_page(whole())
    page.own.click(button("torch", "mlx"))
    page.own.wait_for_selector("dialog[open]")
    assert "died in call" in page.text("dialog")
    assert "SIGSEGV" in page.text("dialog")
    assert "dlbench repro runs/0 torch mlx" in page.text("dialog")
    page.press("Escape")
    assert page.texts("#refusals-table tbody tr") == [
        f"torch {ARROW} mlxcrasheddlpackcpu1SIGSEGV: died in call"
    ]
    page.own.fill("#refusals-choice input", "numpy")
    assert page.texts("#refusals-table tbody tr") == []


def test_reasons_of_one_cause_are_one_row(open_page: Open) -> None:
    reported = ("no 0x7f01 of [3., 10., ..., 93.] here", "no 0x7f02 of [3., 4.] here")
    missing = [
        samples.missing(name, "warp", "refused", why)
        for name, why in zip(("native", "numpy"), reported, strict=True)
    ]
    missing.append(samples.missing("torch", "warp", "refused", "no list here", exception="E"))
    page = open_page(samples.document(*missing))
    rows = page.texts("#refusals-table tbody tr")
    assert rows == [
        f"native, numpy {ARROW} warprefuseddlpackcpu2{reported[0]}",
        f"torch {ARROW} warprefuseddlpackcpu1E: no list here",
    ]


def test_the_keyboard_is_enough(open_page: Open) -> None:
    page = open_page(whole())
    page.press("Tab")
    assert page.focused() == "Skip to the matrix"
    for _ in range(40):
        page.press("Tab")
        if page.focused().startswith("native to native"):
            break
    page.press("ArrowRight", "ArrowDown", "ArrowDown", "End", "ArrowUp", "Home")
    assert page.focused().startswith("jax to native")
    page.press("ArrowLeft", "ArrowRight")
    assert page.focused().startswith("jax to jax")
    page.press("Enter")
    page.own.wait_for_selector("dialog[open]")
    assert page.focused() == "close"
    page.press("Escape")
    assert page.focused().startswith("jax to jax")
    page.press("Tab", "Shift+Tab")
    assert page.focused().startswith("jax to jax")


def test_choices_switch_the_matrix(open_page: Open) -> None:
    document = whole()
    page = open_page(document)
    form = page.texts("#choice label")
    assert [text.split("\n")[0][:4] for text in form] == ["prot", "size", "cloc"]
    page.own.select_option("#choice select[name=bytes]", "65536")
    assert "64 KiB" in page.text("#matrix-caption")
    page.own.select_option("#choice select[name=protocol]", "convert")
    assert "convert \u00b7 f32 \u00b7 64 KiB" in page.text("#matrix-caption")
    assert page.focused().startswith("convert") or "convert" in page.focused()
    # Only some consumers have the clock: the rest have no column then.
    page.own.select_option("#choice select[name=clock]", "ready")
    assert len(page.texts("#matrix-table th[scope=col]")) == 2


def test_an_exchange_that_is_too_short_has_no_shares_of_phases(open_page: Open) -> None:
    document = whole()
    pick(document, "numpy", "torch")["phases"]["exchange_ns"] = 120.0
    page = open_page(document)
    page.own.locator("#phases-chart").scroll_into_view_if_needed()
    page.own.wait_for_selector("#phases-chart .drawing .bar")
    # The others are those of native and numpy.
    assert "Not shown: 5 below 250 ns, too short for shares." in page.text("#phases-caption")


def test_charts_are_drawn_when_they_come_into_view(open_page: Open) -> None:
    page = open_page(whole(), viewport={"width": 1200, "height": 300})
    assert page.own.locator("#phases-chart .drawing").count() == 0
    page.own.locator("#phases-chart").scroll_into_view_if_needed()
    page.own.wait_for_selector("#phases-chart .drawing .bar")
    page.own.locator("#scaling-chart").scroll_into_view_if_needed()
    page.own.select_option("#scaling-choice select[name=name]", "torch")
    page.own.wait_for_selector("#scaling-chart .legend button")
    lines = set(page.texts("#scaling-chart .legend button"))
    assert {*LIBRARIES, "floor: an empty call", "a plain copy, warm: 16 GB/s"} <= lines
    ticks = page.texts("#scaling-chart .y-tick")
    assert "1 us" in ticks
    assert "100 ns" in ticks


def ratios(page: browsers.Page, selector: str) -> list[float]:
    """Contrasts of texts against what is behind them."""
    script = """elements => {
      const light = c => { const s = c / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; };
      const channels = text => text.match(/[\\d.]+/g).map(Number);
      const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
      const behind = element => { for (let e = element; e; e = e.parentElement) {
        const found = channels(getComputedStyle(e).backgroundColor);
        if (found.length === 3 || found[3] > 0) return found; }
        return [255, 255, 255]; };
      return elements.map(e => { const [a, b] = [channels(getComputedStyle(e).color), behind(e)].map(luminance);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); });
    }"""  # noqa: E501
    return list(page.own.locator(selector).evaluate_all(script))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_in_both_schemes(open_page: Open, scheme: str) -> None:
    page = open_page(whole(), color_scheme=scheme)
    page.own.click(button("numpy", "torch"))
    for selector in ("#matrix-table button span", ".note", "nav a", "th", "td", "dialog td", "p"):
        found = ratios(page, selector)
        assert found
        assert min(found) >= 4.5, selector


def test_the_scheme_is_the_persons_and_can_be_switched(open_page: Open) -> None:
    def paper(page: browsers.Page) -> str:
        return str(page.own.evaluate("getComputedStyle(document.body).backgroundColor"))

    dark = open_page(whole(), color_scheme="dark")
    light = open_page(whole(), color_scheme="light")
    assert paper(dark) != paper(light) == "rgb(255, 255, 255)"
    assert light.text("#theme") == "dark colors"
    light.own.click("#theme")
    assert paper(light) == paper(dark)


def test_a_narrow_page_scrolls_its_tables_not_itself(open_page: Open) -> None:
    page = open_page(whole(), viewport={"width": 380, "height": 700})
    page.own.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.own.wait_for_selector("#phases-chart .drawing .bar")
    assert page.own.evaluate("document.documentElement.scrollWidth") <= 380


def test_it_prints_with_its_charts(open_page: Open) -> None:
    page = open_page(whole())
    page.own.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.own.wait_for_selector("#phases-chart .drawing .bar")
    page.own.emulate_media(media="print", color_scheme="dark")
    assert page.own.locator("nav").is_hidden()
    assert page.own.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert page.own.pdf().startswith(b"%PDF")


def test_a_wide_matrix_fits_on_paper_and_is_as_it_was_afterwards(open_page: Open) -> None:
    names = [f"library_{number}" for number in range(20)]
    page = open_page(
        synthetic.document(names, failing=0.0), viewport={"width": 1200, "height": 800}
    )
    width = "document.querySelector('.grid').getBoundingClientRect().width"
    on_screen = page.own.evaluate(width)
    assert on_screen > 1200
    page.own.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.own.emulate_media(media="print")
    assert 800 < page.own.evaluate(width) <= 970
    page.own.evaluate("dispatchEvent(new Event('afterprint'))")
    page.own.emulate_media(media="screen")
    assert page.own.evaluate(width) == on_screen


def test_an_address_leads_to_a_cell(open_page: Open) -> None:
    name = pick(whole(), "numpy", "torch")["name"]
    page = open_page(whole(), anchor=f"#{name}")
    assert page.text("dialog h2") == f"numpy {ARROW} torch"


def test_foreign_text_stays_text(open_page: Open) -> None:
    evil = "<img src=x onerror=document.title='owned'>"
    document = samples.document(
        samples.measured(evil, "torch", 5.0, warnings=[samples.warned("drift", evil)]),
        samples.missing(evil, evil, "crashed", "</script>" + evil),
    )
    document["context"]["dlbench"]["machine"]["cpu"] = evil
    page = open_page(document)
    page.own.click("#matrix-table tbody button")
    page.own.wait_for_selector("dialog[open]")
    assert evil in page.text("dialog")
    assert page.own.title() == f"dlbench: {evil}, torch 2.13.0"
    assert page.own.locator("main img, dialog img, header img").count() == 0


@pytest.mark.parametrize("shape", ["no cells", "one", "no number", "no phases"])
def test_small_documents_are_pages_too(open_page: Open, shape: str) -> None:
    page = open_page({
        "no cells": samples.document(),
        "one": samples.document(samples.measured("numpy", "torch", 5.0)),
        "no number": samples.document(samples.missing("numpy", "torch", "refused", "no")),
        "no phases": samples.pair(),
    }[shape])  # fmt: skip
    assert page.own.locator("#phases").is_hidden()
    assert page.own.locator("#sync").is_hidden()
    message = page.text("#matrix-caption")
    assert ("no cells" in message) == (shape == "no cells")
    assert ("Nothing was measured" in message) == (shape == "no number")


def test_two_runs_are_switched_and_compared(open_page: Open) -> None:
    base, head = whole(), copy.deepcopy(whole())
    pick(head, "numpy", "torch")["real_time"] *= 2
    page = open_page(base, head, comparison=comparisons.of(base, head))
    before = page.text(button("numpy", "torch"))
    page.own.select_option("#choice select[name=run]", "0")
    assert page.text(button("numpy", "torch")) != before
    first = page.texts("#change-table tbody tr")[0]
    assert first.startswith(f"numpy {ARROW} torch dlpack 4 KiBSLOWzero-copySLOW2.000")
    page.own.locator("#change-chart").scroll_into_view_if_needed()
    page.own.wait_for_selector("#change-chart .drawing .point")
    assert "SLOW" in page.texts("#change-chart .legend button")
    page.own.click("#change-table tbody tr:first-child button")
    page.own.wait_for_selector("dialog[open]")
    assert page.text("dialog h2") == f"numpy {ARROW} torch"


def test_machines_are_switched(open_page: Open) -> None:
    other = copy.deepcopy(whole())
    pick(other, "numpy", "torch").update(real_time=16_600.0, lo_ns=16_500.0, hi_ns=16_700.0)
    other["context"]["dlbench"]["environments"]["default"]["libraries"]["numpy"] = "9.9"
    page = open_page(merged_of([("box", whole()), ("gpu", other)]))
    assert page.text(button("numpy", "torch")) != "16.6 us"
    page.own.select_option("#choice select[name=machine]", "gpu")
    assert page.text(button("numpy", "torch")) == "16.6 us"
    assert "numpy9.9" in page.texts("#matrix-table th[scope=row]")
    assert {title.strip() for title in page.texts("#machine h3")} == {"box", "gpu"}


def test_what_was_left_untimed_says_how_it_ended(open_page: Open) -> None:
    document = whole()
    lost = pick(document, "numpy", "torch")
    document["benchmarks"].remove(lost)
    untimed = {axis: lost[axis] for axis in samples.axes("a", "b")} | {"name": lost["name"]}
    untimed |= {"outcome": "not-run", "code": "untimed", "found": "copy", "reason": "as f32"}
    document["not_measured"].append(untimed | {"evidence": lost["evidence"], "changed": ["mask"]})
    page = open_page(document)
    assert page.text(button("numpy", "torch")) == "copy"
    page.own.click(button("numpy", "torch"))
    page.own.wait_for_selector("dialog[open]")
    assert "mask" in page.text("dialog")
    assert "as f32" not in page.text("#refusals")


def test_synchronization_is_a_table_where_the_document_has_it(open_page: Open) -> None:
    document = whole()
    pick(document, "numpy", "torch")["sync"] = [
        {"stream": None, "transfer_ns": 910.0, "export_blocked": 0.98, "import_blocked": 0.01,
         "gap_ns": 1200.0, "content": "new", "waits": "host", **samples.OWN_CALL},
        {"stream": -1, "transfer_ns": 80.0, "export_blocked": 0.0, "import_blocked": 0.0,
         "content": "old", "waits": "none", **samples.OWN_CALL},
    ]  # fmt: skip
    page = open_page(document)
    rows = page.texts("#sync-table tbody tr")
    assert [row.split("cpu")[1] for row in rows] == [
        "Noneownhostnew910 ns98 %1.0 %1.20 us", "-1ownnoneold80.0 ns0.0 %0.0 %",
    ]  # fmt: skip


def test_ten_thousand_cells_open_in_two_seconds(open_page: Open) -> None:
    names = [f"library{i:02}" for i in range(36)]
    document = synthetic.document(names, protocols=("dlpack", "convert"))
    assert len(document["benchmarks"]) > 9_000
    page = open_page(document)
    assert int(page.own.evaluate("document.documentElement.dataset.ready")) < 2000
