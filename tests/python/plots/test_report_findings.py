"""The report's tables in a real browser: the summary, findings, copies, refusals and cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import samples
import synthetic
from browser import Open

pytestmark = pytest.mark.browser

ARROW = "\u2192"
KIB = 1024
ROOT = Path(__file__).parents[3]


def copied() -> dict[str, Any]:
    """Two pairs that copy, one over two protocols, and one that shares memory."""
    facts: dict[str, Any] = {"outcome": "copy", "copied_by": "consumer", "bytes": 64 * KIB}
    return samples.document(
        samples.measured("numpy", "mlx", 9e3, gb_per_s=4.0, **facts),
        samples.measured("numpy", "mlx", 9e3, gb_per_s=5.0, **facts, protocol="convert"),
        samples.measured("torch", "mlx", 9e3, gb_per_s=8.0, **facts),
        samples.measured("torch", "numpy", 900.0),
    )


def test_the_page_begins_with_the_answer(open_page: Open) -> None:
    entry = samples.missing("numpy", "torch", "crashed", "died in call", signal="SIGSEGV")
    page = open_page(
        samples.document(
            entry, samples.missing("a", "b", "refused", "no"), samples.measured("c", "d", 900.0)
        )
    )
    sections = [each.get_attribute("id") for each in page.own.locator("main section").all()]
    assert sections[:3] == ["summary", "matrix", "findings"]
    assert page.own.title() == "dlbench: c, d"
    rows = page.texts("#summary-table tbody tr")
    assert rows[0].startswith(f"speeddlpack: fastest c {ARROW} d 900 nsdlbench show")
    counted = "fails1 crashed, 1 refused; crashed"
    assert rows[2].startswith(f"{counted} numpy {ARROW} torch: SIGSEGV: died in call")
    rows = page.texts("#findings-table tbody tr")
    assert rows[0].startswith(f"crashednumpy {ARROW} torch: SIGSEGV: died in calldlbench debug")
    assert rows[1].startswith(f"refuseda {ARROW} b: nodlbench repro")


def test_calls_have_a_table_for_each_producer(open_page: Open) -> None:
    made = samples.document(
        *(synthetic.call("nanobind", n, 50 + 10 * n, name) for name in ("numpy", "torch")
          for n in (1, 8))
    )  # fmt: skip
    page = open_page(made)
    assert page.texts("#calls caption") == [
        f"calls with arrays of {name}   1 KiB" for name in ("numpy", "torch")
    ]
    (row, _) = page.texts("#calls tbody tr")
    assert row.startswith("nanobind60")
    command = "dlbench check --calls --run runs/0 && dlbench report runs/0"
    assert page.texts("#calls-command") == [command]
    assert page.texts("#boundary-table") == [""]
    assert page.own.locator("nav a[href='#calls']").is_visible()
    page.own.locator("#scaling-chart").scroll_into_view_if_needed()
    page.own.wait_for_selector("#scaling-chart [data-name=nanobind] .point")
    assert page.texts("#scaling-title") == ["Time by number of arrays"]
    assert page.own.locator("#scaling-chart [data-name=nanobind] .point").count() == 2
    assert page.texts("#scaling-chart .x-tick") == ["1", "8"]
    page = open_page(samples.document(synthetic.call("nanobind", 8, 130)))
    page.own.locator("#scaling-title").scroll_into_view_if_needed()
    page.own.wait_for_selector("#scaling-caption:has-text('dlbench --calls --arrays 0,1,8')")
    page = open_page(copied())
    assert not page.own.locator("#calls").is_visible()
    assert not page.own.locator("nav a[href='#calls']").is_visible()


def test_calls_have_the_table_that_check_kept(open_page: Open) -> None:
    rows = [{"binding": name, "float64": f"{name} <b>"} for name in ("cffi", "ctypes")]
    boundary = {"command": "dlbench check --calls cffi", "libraries": "cffi 2.1", "rows": rows}
    page = open_page(samples.document(synthetic.call("cffi", 8, 130)), boundary=boundary)
    assert page.texts("#calls-command") == ["dlbench check --calls cffi"]
    assert page.texts("#boundary-table caption") == ["What they do with other arguments: cffi 2.1"]
    assert page.texts("#boundary-table th[scope=col]") == ["binding", "float64"]
    assert page.texts("#boundary-table tbody tr") == ["cfficffi <b>", "ctypesctypes <b>"]


@pytest.mark.parametrize(("width", "height", "most"), [(1400, 900, 800), (390, 844, 1100)])
def test_the_matrix_is_on_the_first_screens(
    open_page: Open, width: int, height: int, most: int
) -> None:
    made = json.loads((ROOT / "docs/site/sample/results.json").read_text())
    page = open_page(made, viewport={"width": width, "height": height})
    options = page.own.locator(".option")
    assert options.count() > 0
    lines = "all => all.map((one) => [one.textContent, one.getClientRects().length])"
    assert options.evaluate_all(lines) == [[text, 1] for text in options.all_text_contents()]
    box = page.own.locator("#matrix-table table").bounding_box()
    assert box is not None
    assert box["y"] < most
    widest = page.own.evaluate("document.documentElement.scrollWidth")
    assert widest <= width


def test_copies_name_the_library_and_the_rate(open_page: Open) -> None:
    page = open_page(copied())
    assert page.texts("#copies-table tbody tr") == [
        f"numpy, torch {ARROW} mlxmlx4 .. 8 GB/s64 KiBdlpack, convertf32cpu"
    ]
    page.own.click("#copies-table tbody button")
    page.own.wait_for_selector("dialog[open]")
    assert page.text("dialog h2") == f"numpy {ARROW} mlx"


def test_a_run_without_copies_has_a_line_for_it(open_page: Open) -> None:
    page = open_page(samples.document(samples.measured("torch", "numpy", 900.0)))
    assert page.text("#copies-table") == "No exchange copies a plain array (case f32)."


def test_a_refusal_is_one_row_for_all_protocols_and_devices(open_page: Open) -> None:
    places = [(p, d) for p in ("dlpack", "convert", "buffer") for d in ("cpu", "cuda:0", "cuda:1")]
    page = open_page(samples.document(*(
        samples.missing("numpy", "torch", "refused", "not writable", protocol=one, device=device)
        for one, device in places
    )))  # fmt: skip
    assert page.texts("#refusals-table tbody tr") == [
        f"numpy {ARROW} torchrefuseddlpack, convert, buffercpu, cuda:0, cuda:19not writable"
    ]


def test_what_two_libraries_do_not_have_in_common_is_folded(open_page: Open) -> None:
    page = open_page(samples.document(
        samples.missing("numpy", "torch", "no-protocol", "no", code="not-imported",
                        protocol="dlpack_c"),
        samples.missing("numpy", "torch", "no-device", "no GPU", device="cuda:0"),
        samples.missing("numpy", "torch", "refused", "not writable"),
    ))  # fmt: skip
    assert len(page.texts("#refusals-table tbody tr")) == 1
    assert "1 no-protocol, 1 no-device" in page.text("#refusals-folded summary")
    assert page.own.locator("#refusals-folded li").first.is_hidden()
    page.own.click("#refusals-folded summary")
    folded = page.texts("#refusals-folded li")
    assert any("dlpack_c: not imported by torch" in text for text in folded)


def test_a_case_sweep_is_a_table(open_page: Open) -> None:
    plain = synthetic.document(("numpy", "jax"), sizes=(4096,), failing=0.0)
    page = open_page(synthetic.with_case_sweep(plain))
    rows = page.texts("#cases-table tbody tr")
    assert rows
    assert all("refused" in row and row.endswith("f16") for row in rows)
    assert open_page(plain).own.locator("#cases").is_hidden()


def test_a_command_is_copied(open_page: Open) -> None:
    page = open_page(samples.document(samples.missing("numpy", "torch", "crashed", "died")))
    page.own.context.grant_permissions(["clipboard-read", "clipboard-write"])
    command = page.texts("#findings-table .copyable code")[0]
    page.own.click("#findings-table .copyable button")
    page.own.wait_for_function(
        "document.querySelector('#findings-table .copy').textContent === 'copied'"
    )
    assert page.own.evaluate("navigator.clipboard.readText()") == command


def test_a_refusal_holds_the_script_that_shows_it(open_page: Open) -> None:
    page = open_page(samples.document(
        samples.missing("numpy", "torch", "refused", "not writable", case="f32-readonly"),
        samples.missing("numpy", "notinstalled", "refused", "no"),
    ))  # fmt: skip
    page.own.click("#refusals-table tbody tr:has-text('torch') button")
    page.own.wait_for_selector("dialog[open]")
    page.own.click("dialog details summary:has-text('script')")
    script = page.text("dialog .copyable pre")
    assert "import numpy" in script
    assert "torch.from_dlpack" in script
    compile(script, "script", "exec")
    page.press("Escape")
    page.own.click("#refusals-table tbody tr:has-text('notinstalled') button")
    page.own.wait_for_selector("dialog[open]")
    assert page.own.locator("dialog .copyable pre").count() == 0


def test_findings_count_the_failures_of_a_case_sweep(open_page: Open) -> None:
    page = open_page(samples.document(
        samples.measured("numpy", "torch", 900.0, warnings=[samples.warned("drift")]),
        samples.measured("numpy", "mlx", 900.0, outcome="copy", gb_per_s=4.0),
        samples.missing("numpy", "torch", "crashed", "died", case="f32-reversed"),
        *(samples.missing("numpy", "torch", "refused", "no", exception=name) for name in "ABC"),
        request={"cases": ["all"]},
    ))  # fmt: skip
    labels = page.texts("#findings-table tbody th")
    assert labels == ["alignment", "crashed", "refused", "drift", "noise"]
    assert page.texts("#summary-table tbody th") == ["speed", "copies", "fails", "noise"]
    copies = f"copiesnumpy {ARROW} mlx: in 1 of 1 timed cell, 4 GB/s"
    assert any(row.startswith(copies) for row in page.texts("#summary-table tbody tr"))
    rows = page.texts("#findings-table tbody tr")
    assert any(row.startswith("refused3 cells, 3 reasonsdlbench repro") for row in rows)
    page.own.click("#findings-table a[href='#refusals'] >> nth=0")
    assert page.own.evaluate("document.activeElement.id") == "refusals"


def test_causes_that_read_the_same_are_one_row(open_page: Open) -> None:
    reason = "only signed integers"
    page = open_page(samples.document(
        samples.missing("torch", "numpy", "refused", reason, exception="BufferError"),
        samples.missing("torch", "jax", "refused", reason, exception="BufferError"),
    ))  # fmt: skip
    (row,) = page.texts("#refusals-table tbody tr")
    assert row.startswith(f"torch {ARROW} jax, numpyrefused")


def test_terms_are_defined_on_hover_and_in_a_list(open_page: Open) -> None:
    page = open_page(copied())
    assert page.own.locator("#definition").is_hidden()
    page.own.locator("#copies-table th", has_text="protocol").hover()
    meaning = page.text("#definition")
    assert "interface" in meaning
    page.own.locator("h1").hover()
    assert page.own.locator("#definition").is_hidden()
    assert page.own.locator("#glossary dl").is_hidden()
    page.own.locator("#glossary summary").press("Enter")
    assert meaning in page.text("#glossary dl")


def test_terms_are_defined_for_the_keyboard_and_for_screen_readers(open_page: Open) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    page = open_page(copied())
    link = page.own.locator("#copies-table th a", has_text="protocol")
    link.focus()
    meaning = page.text("#definition")
    assert "interface" in meaning
    expect(link).to_have_accessible_description(meaning)
    expect(page.own.locator("#choice select[name=protocol]")).to_have_accessible_description(
        meaning
    )
    box = page.own.locator("#definition").bounding_box()
    assert box["y"] >= link.bounding_box()["y"]
    assert box["x"] + box["width"] <= page.own.viewport_size["width"]
    page.press("Escape")
    assert page.own.locator("#definition").is_hidden()
    page.press("Enter")
    assert page.text("#glossary dt:focus") == "protocol"


def test_terms_of_a_cell_are_defined_above_its_dialog(open_page: Open) -> None:
    page = open_page(copied())
    page.own.locator("#matrix-table tbody button").first.click()
    page.own.wait_for_selector("dialog[open]")
    page.own.locator("dialog th a", has_text="outcome").focus()
    box = page.own.locator("#definition").bounding_box()
    on_top = "([x, y]) => document.elementFromPoint(x, y).id"
    assert page.own.evaluate(on_top, [box["x"] + 5, box["y"] + 5]) == "definition"
    page.press("Enter")
    assert page.own.locator("dialog[open]").count() == 0
    assert page.text("#glossary dt:focus") == "outcome"


def test_sections_and_the_dialog_have_names(open_page: Open) -> None:
    page = open_page(copied())
    for name in ("Findings", "Time of one exchange", "Cells without a number", "Glossary"):
        assert page.own.get_by_role("region", name=name, exact=True).count() == 1
    page.own.locator("#matrix-table tbody button").first.click()
    page.own.wait_for_selector("dialog[open]")
    assert page.own.get_by_role("dialog", name=page.text("dialog h2"), exact=True).count() == 1


def test_warnings_are_listed_by_code_with_their_cells(open_page: Open) -> None:
    few = {"code": "few-rounds", "text": "few rounds"}
    page = open_page(samples.document(
        samples.measured("numpy", "torch", 900.0, warnings=[few]),
        samples.measured("numpy", "jax", 900.0, protocol="convert", warnings=[few]),
        samples.measured("torch", "jax", 900.0,
                         warnings=[{"code": "deleter-never", "text": "deleter: never called"}]),
    ))  # fmt: skip
    first, second = page.texts("#warnings-table tbody tr")
    meaning = "the cell has fewer than six rounds"
    assert first.startswith(f"few-rounds{meaning}numpy {ARROW} jax, torch2 cells")
    assert second.startswith(f"deleter-neverdeleter: never calledtorch {ARROW} jax1 cell")
    page.own.click("#warnings-table summary >> nth=0")
    cells = page.own.locator("#warnings-table tbody tr >> nth=0 >> li")
    assert cells.all_text_contents() == [
        f"numpy {ARROW} torch, dlpack", f"numpy {ARROW} jax, convert",
    ]  # fmt: skip
    cells.nth(1).locator("button").click()
    page.own.wait_for_selector("dialog[open]")
    assert page.text("dialog h2") == f"numpy {ARROW} jax"
    assert f"few rounds: {meaning}" in page.text("dialog ul >> nth=0")
