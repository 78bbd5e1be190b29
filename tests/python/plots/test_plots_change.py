"""The figures of what changed, and of synchronization."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import comparisons
import samples
from dlbench.plots import change, sync
from dlbench.plots.figures import AT_THE_END, FIGURES, draw, draw_change
from typed import comparison_of, doc

ARROW = "\u2192"


def document(**rounds: list[float]) -> dict[str, Any]:
    """Each producer's rounds of one exchange with torch."""
    made = []
    for producer, times in rounds.items():
        workers = [
            {"median_ns": sorted(times)[len(times) // 2], "first_ns": 1, "samples_ns": times}
        ]
        made.append(samples.measured(producer, "torch", workers[0]["median_ns"], workers=workers))
    return samples.document(*made)


def words(figure: Figure) -> str:
    return " ".join(text.get_text() for axes in figure.axes for text in axes.texts)


def compared(**ratios: float) -> dict[str, Any]:
    base = samples.document(*(samples.measured(name, "torch", 100.0) for name in ratios))
    head = copy.deepcopy(base)
    for entry in head["benchmarks"]:
        entry["real_time"] *= ratios[entry["producer"]]
    return comparisons.of(base, head)


def test_change_is_a_forest_with_the_slowest_above() -> None:
    figure = change.figure(comparison_of(compared(a=1.0, b=1.3, c=0.5, d=2.0)))
    labels = [t.get_text() for t in figure.axes[0].texts if ARROW in t.get_text()]
    assert [label.split()[0] for label in labels] == ["d", "b", "c", "a"]
    for word in ("x 2.0", "+30 %", "-50 %", "2 SLOW", "1 FAST", "1 SAME",
                 "SAME if the change is surely below 5.0 %", "base: base", "head: head",
                 "2026-"):  # fmt: skip
        assert word in words(figure)
    axes = figure.axes[1]
    points = [x for x in axes.lines if x.get_marker() not in ("None", "")]
    assert [x.get_xdata()[0] for x in points] == [2.0, 1.3, 0.5, 1.0]
    assert [x.get_marker() for x in points] == [">", ">", "<", "o"]
    bars = [list(x.get_xdata()) for x in axes.lines if x.get_linewidth() == 1.6]
    assert bars[0] == pytest.approx([2.0 * 0.98, 2.0 * 1.02])


def test_change_calls_no_two_cells_the_same() -> None:
    made = comparisons.alike_but_for_two_axes()
    figure = change.figure(comparison_of(made))
    labels = {t.get_text() for t in figure.axes[0].texts if ARROW in t.get_text()}
    assert len(labels) == len(made["cells"])
    FigureCanvasAgg(figure).draw()
    assert all(t.get_window_extent().x0 >= 0 for t in figure.axes[0].texts)


def test_change_names_machine_date_and_number_of_processes(tmp_path: Path) -> None:
    made = compared(a=1.0)
    made["cells"][0] |= {"base_workers": 2, "head_workers": 3}
    reported = words(change.figure(comparison_of(made), "A CPU"))
    for word in ("A CPU", "n: 2..3 processes for each cell and side", made["base"]["date"][:10]):
        assert word in reported


def test_change_of_counts_is_no_change_of_times() -> None:
    reported = words(change.figure(comparison_of(comparisons.of_instructions(1.012))))
    for word in ("What changed, in instructions", "instructions, head / base"):
        assert word in reported
    assert "95 %" not in reported
    assert "time, head / base" in words(change.figure(comparison_of(compared(a=1.0))))


def test_change_names_an_outcome_that_changed() -> None:
    made = compared(a=1.0)
    made["cells"][0] |= {"outcome_change": "worse", "head_outcome": "copy"}
    assert f"zero-copy {ARROW} copy" in words(change.figure(comparison_of(made)))


def test_change_without_a_common_cell_says_so(tmp_path: Path) -> None:
    one = samples.document(samples.measured("a", "torch", 1.0))
    other = samples.document(samples.measured("b", "torch", 1.0))
    made = comparisons.of(one, other)
    assert "no cell was measured on both sides" in words(change.figure(comparison_of(made)))
    names = [path.name for path in draw_change(comparison_of(made), tmp_path)]
    assert names == ["change.svg", "change.png"]


def with_streams() -> dict[str, Any]:
    made = document(numpy=[1.0, 2.0, 3.0])
    made["benchmarks"][0]["sync"] = [
        {"stream": None, "export_blocked": 0.9, "import_blocked": 0.05, "content": "new",
         "waits": "host", **samples.OWN_CALL},
        {"stream": -1, "export_blocked": 0.0, "import_blocked": 0.0, "waits": "none",
         **samples.OWN_CALL},
    ]  # fmt: skip
    return made


def test_sync_has_a_bar_for_each_side_that_held_the_host() -> None:
    figure = sync.figure(doc(with_streams()))
    bars = [p for p in figure.axes[1].patches if isinstance(p, Rectangle)]
    wide = [(to_hex(p.get_facecolor()), p.get_x(), p.get_width()) for p in bars]
    export, take = sync.COLORS["export"], sync.COLORS["import"]
    assert wide == [(export, 0, 0.9), (take, 0.9, 0.05), (export, 0, 0.0), (take, 0.0, 0.0)]
    for word in ("stream None", "stream -1", "host, new data read", "none"):
        assert word in words(figure)


def test_sync_calls_no_two_rows_the_same() -> None:
    row = {"stream": None, "waits": "stream", **samples.OWN_CALL}
    waits = {"device": "cuda:0", "sync": [row]}
    ways: list[dict[str, Any]] = [{}, {"protocol": "dlpack_c"}, {"environment": "old"}]
    made = [samples.measured("torch", "jax", 9.0, **waits, **way) for way in ways]
    labels = [t.get_text() for t in sync.figure(doc(samples.document(*made))).axes[0].texts]
    assert len({label for label in labels if ARROW in label}) == len(ways)
    (plain,) = (t for t in words(sync.figure(doc(samples.document(made[0])))).split("jax")[1:])
    assert plain.split()[:3] == ["cuda:0", "stream", "None"]


def test_what_is_drawn_at_the_end_and_what_on_request(tmp_path: Path) -> None:
    names = {path.stem for path in draw(doc(with_streams()), tmp_path, among=AT_THE_END)}
    assert names == {"matrix", "scaling", "sync"}
    names = {path.stem for path in draw(doc(document(numpy=[1.0, 2.0])), tmp_path)}
    assert names == {"matrix", "scaling"}


def test_sync_without_rows_says_what_to_do_only_where_it_was_not_done() -> None:
    empty = document(numpy=[1.0])
    assert "no streams were tested: use --sync" in words(sync.figure(doc(empty)))
    empty["context"]["dlbench"]["request"] = {"sync": True}
    assert "no exchange had a queue to test" in words(sync.figure(doc(empty)))


def test_the_key_of_fallbacks_does_not_cover_the_notes() -> None:
    figure = FIGURES["fallbacks"](doc(document(numpy=[1.0, 2.0, 3.0])))
    boxes = [patch.get_y() for patch in figure.axes[0].patches]
    notes = [text for text in figure.axes[0].texts if "copy rate in GB/s" in text.get_text()]
    FigureCanvasAgg(figure).draw()
    high = notes[0].get_window_extent().y1 / figure.dpi
    assert min(boxes) > high
