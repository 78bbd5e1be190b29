"""The site in a browser: filter, sort, comparison, charts, keyboard, theme, sizes of screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import histories
import pytest

import browser as browsers
from dlbench import cli

pytestmark = [pytest.mark.browser, pytest.mark.process]
ROWS = "#diff-table tbody tr"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dates with a copy planted between them, an honest twin, and several versions."""
    folder = tmp_path_factory.mktemp("site")
    runs = histories.write(
        folder / "runs", histories.pair(1, False, "2.12.0"), histories.pair(2, True, "2.13.0"),
        histories.pair(3, True, "2.13.0", ns=1000.0), histories.over_versions(4),
    )  # fmt: skip
    assert cli.main(["site", *runs, "--out", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture
def opened(chromium: Any, site: Path) -> Iterator[Callable[..., browsers.Page]]:
    pages: list[browsers.Page] = []

    def open_(name: str, anchor: str = "", of: Path = site, **options: Any) -> browsers.Page:
        pages.append(browsers.Page(chromium, of / name, anchor, **options))
        return pages[-1]

    yield open_
    for page in pages:
        page.close()


Open = Callable[..., browsers.Page]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_no_page_is_wider_than_the_screen(
    opened: Open, site: Path, width: int, scheme: Any
) -> None:
    names = ["index.html", "calls.html", "machines.html", "diff.html", "data.html",
             "library/numpy.html", "pair/numpy--torch.html"]  # fmt: skip
    for name in names:
        page = opened(name, viewport={"width": width, "height": 844}, color_scheme=scheme)
        assert page.own.evaluate("document.documentElement.scrollWidth") <= width, name
        assert (site / name).stat().st_size < 300_000


def test_a_text_can_be_read_on_its_color(opened: Open) -> None:
    """At least 4.5 to 1, in both themes."""
    contrast = """() => {
      const channel = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
      const light = (text) => {
        const [r, g, b] = text.match(/[\\d.]+/g).map((v) => channel(v / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      return [...document.querySelectorAll(".matrix td a small")].map((e) => {
        const cell = getComputedStyle(e.closest("td"));
        const [a, b] = [getComputedStyle(e).color, cell.backgroundColor].map(light);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); });
    }"""
    for scheme in ("light", "dark"):
        found = opened("index.html", color_scheme=scheme).own.evaluate(contrast)
        assert found
        assert min(found) > 4.5


def test_the_filter_is_in_the_address(opened: Open) -> None:
    page = opened("index.html")
    assert page.texts("#matrix tbody tr:visible th > a:first-child") == ["native", "numpy", "torch"]
    page.own.fill("input[name=libraries]", "torch")
    page.own.select_option("select[name=state]", "refused")
    assert page.own.url.endswith("#libraries=torch&state=refused")
    assert page.texts("#matrix tbody tr:visible th > a:first-child") == ["torch"]
    linked = opened("index.html", "#libraries=torch&state=refused")
    assert linked.texts("#matrix tbody td:visible") == page.texts("#matrix tbody td:visible")
    assert len(linked.texts("#matrix tbody td:visible")) == 1
    none = opened("index.html", "#libraries=cupy")
    assert none.text("#none") == "No pair fits this filter."


def test_rows_are_sorted_by_cost_and_date(opened: Open) -> None:
    page = opened("index.html", "#sort=cost")
    assert page.texts("#matrix tbody th > a:first-child") == ["native", "numpy", "torch"]
    page.own.select_option("select[name=sort]", "date")
    assert page.texts("#matrix tbody th > a:first-child")[0] == "native"
    assert page.own.url.endswith("#sort=date")


def test_the_arrows_move_between_cells(opened: Open) -> None:
    page = opened("index.html")
    page.own.focus("#numpy td a")
    page.press("ArrowRight")
    assert page.own.evaluate("document.activeElement.href").endswith("numpy--torch.html#dlpack")
    page.press("ArrowDown", "Enter")
    page.own.wait_for_url("**/pair/torch--torch.html#dlpack")
    assert "needs <grad>" in page.text("article")


@pytest.mark.parametrize("link", ["?a=2026-01-01&b=2026-02-01", "?a=torch@2.12.0&b=2026-02-01"])
def test_a_planted_copy_is_in_the_comparison(opened: Open, link: str) -> None:
    page = opened("diff.html", link)
    [row] = page.texts(ROWS)
    assert "numpy → torch" in row
    assert "dlpack, 4 KiB" in row
    assert "shared → copy by torch" in row
    assert "worse" in row
    assert "torch 2.12.0 → 2.13.0" in page.text("#diff-summary")


def test_a_difference_of_time_between_runs_has_no_color(opened: Open) -> None:
    page = opened("diff.html", "?a=2026-02-01&b=2026-03-01")
    assert page.text("#diff-table") == "Nothing changed significantly."
    assert "1 differ in time without significance" in page.text("#diff-summary")
    page.own.check("input[name=all]")
    page.own.wait_for_selector(ROWS)
    [row] = page.texts(ROWS)
    assert "layout" in row
    assert "+11 % time" in row
    assert page.own.locator(".worse, .better").count() == 0


def test_two_versions_of_one_run_are_compared(opened: Open) -> None:
    page = opened("diff.html", "?a=numpy@2.3.0&b=numpy@2.4.0")
    [row] = page.texts(ROWS)
    assert "+30 % instructions" in row
    assert "code, worse" in row
    honest = opened("diff.html", "?a=numpy@2.1.0&b=numpy@2.3.0")
    assert honest.text("#diff-table") == "Nothing changed significantly."


def test_the_lowest_rounds_decide_what_is_worse(opened: Open, tmp_path: Path) -> None:
    """While the median falls, as on a machine that was busy before."""
    page = opened("diff.html", of=one_run(
        tmp_path, histories.timed("native", "numpy", 100.0, lowest=75.0),
        histories.timed("native", "numpy", 85.0, lowest=84.0)))  # fmt: skip
    [row] = page.texts(ROWS)
    assert "time, worse" in row
    assert "+12 % time; lowest 75.0 ns → 84.0 ns" in row


@pytest.mark.parametrize(("ns", "kinds"), [(400.0, ["layout, worse"]), (108.0, [])])
def test_a_time_changes_without_instructions(
    opened: Open, tmp_path: Path, ns: float, kinds: list[str]
) -> None:
    page = opened("diff.html", of=one_run(
        tmp_path, histories.timed("native", "numpy", 100.0, instructions=2000.0),
        histories.timed("native", "numpy", ns, instructions=2000.0)))  # fmt: skip
    assert page.texts(f"{ROWS} td:nth-child(3)") == kinds
    assert f"{len(kinds)} changed, 0 differ" in page.text("#diff-summary")


def test_two_machines_are_compared_in_outcomes_alone(opened: Open, tmp_path: Path) -> None:
    """The usual pair is of one machine, and what is not compared is not counted."""
    runs = histories.write(
        tmp_path / "runs", histories.pair(1, False, "2.13.0"),
        histories.pair(2, False, "2.13.0", ns=5000.0, host="other"),
        histories.pair(3, False, "2.13.0"),
    )  # fmt: skip
    assert cli.main(["site", *runs, "--out", str(tmp_path / "out")]) == 0
    page = opened("diff.html", of=tmp_path / "out")
    assert page.own.locator("select[name=a] option:checked").inner_text().startswith("2026-01-01")
    page = opened("diff.html", "?a=2026-01-01&b=2026-02-01", of=tmp_path / "out")
    assert "0 changed, 0 differ" in page.text("#diff-summary")


def one_run(tmp_path: Path, *entries: dict[str, Any]) -> Path:
    """The site of one run, with an environment for each of these cells of one pair."""
    made = histories.run(1)
    environments = made["context"]["dlbench"]["environments"]
    facts = environments.pop("default")
    for minor, entry in enumerate(entries):
        environment = f"2.{minor}.0"
        environments[environment] = {**facts, "libraries": {"numpy": environment}}
        name = f"{entry['name']}/environment:{environment}"
        names = {"name": name, "run_name": name, "environment": environment}
        made["benchmarks"].append(entry | names)
    [path] = histories.write(tmp_path / "runs", made)
    assert cli.main(["site", path, "--out", str(tmp_path / "out")]) == 0
    return tmp_path / "out"


def test_an_address_without_such_a_run_says_so(opened: Open) -> None:
    page = opened("diff.html", "?a=2025-01-01&b=numpy@9")
    assert page.text("#diff-summary") == "No run, date or version here is 2025-01-01 or numpy@9."
    page.own.select_option("select[name=a]", index=0)
    page.own.wait_for_function(
        "document.querySelector('#diff-summary').innerText.includes('cells in both')"
    )


def test_a_history_is_drawn_with_its_step(opened: Open) -> None:
    page = opened("library/numpy.html")
    chart = page.own.locator(".chart").first
    chart.scroll_into_view_if_needed()
    assert chart.locator("svg .point").count() == 8
    assert chart.locator("[data-name=code]").count() == 1
    assert "numpy 2.3.0 → 2.4.0" in page.text("#history table")


def test_the_theme_is_kept(opened: Open) -> None:
    page = opened("index.html", color_scheme="light")
    page.own.click("#theme")
    assert page.own.evaluate("document.documentElement.dataset.theme") == "dark"
    page.own.reload()
    assert page.text("#theme") == "light colors"


def test_the_pages_say_what_they_can_without_scripts(chromium: Any, site: Path) -> None:
    page = chromium.new_page(java_script_enabled=False)
    page.goto((site / "index.html").as_uri())
    assert page.locator("#matrix td a").count() > 3
    assert not page.locator("#filter").is_visible()
    page.close()
