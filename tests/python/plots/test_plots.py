"""The figures: their content and marks, and that they are reproducible."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

import samples
import synthetic
from dlbench import values
from dlbench.plots import choosing, drawing, figures, library_styles, phases
from dlbench.plots.figures import FIGURES, draw
from typed import doc

pytestmark = pytest.mark.process

LONG = "a_library_with_a_very_long_name_indeed"
#: Libraries whose exchanges are long enough for shares of phases.
SLOW = ("torch", "jax", "tensorflow", "paddle", "warp")
SHAPES = {
    "twelve": synthetic.document(),
    "one": synthetic.document(("numpy",), (4096,), failing=0.0),
    "none": synthetic.document(()),
    "only failures": synthetic.document(("numpy", "torch"), failing=1.0),
    "fifteen": synthetic.document((*synthetic.TWELVE, LONG, "x", "cupy")),
    "two devices": synthetic.document(("numpy", "torch"), devices=("cpu", "cuda:0")),
    "only convert": synthetic.document(("numpy", "torch"), protocols=("convert",)),
    "phases": synthetic.with_phases(synthetic.document(SLOW, failing=0.0)),
    "case_sweep": synthetic.with_case_sweep(synthetic.document(synthetic.TWELVE[:5])),
    "many phases": synthetic.with_phases(synthetic.document((*synthetic.TWELVE, LONG))),
}


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with drawing.style():
        yield


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


def joined(figure: Figure) -> str:
    return "\n".join(texts(figure))


def entry(document: dict[str, Any], producer: str, consumer: str) -> dict[str, Any]:
    return next(e for e in document["benchmarks"]
                if (e["producer"], e["consumer"], e["bytes"], e["protocol"], e["clock"])
                == (producer, consumer, 4096, "dlpack", "call"))  # fmt: skip


def patches(figure: Figure, kind: type) -> list[Any]:
    return [patch for patch in figure.axes[0].patches if type(patch) is kind]


# The test below draws every document on the screen's canvas; here the files are looked at.
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("shape", ["one", "none", "phases"])
def test_a_figure_is_two_files(name: str, shape: str, tmp_path: Path) -> None:
    svg, png = draw(doc(SHAPES[shape]), tmp_path, name)
    assert (svg.name, png.name) == (f"{name}.svg", f"{name}.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == [png.name, svg.name]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert svg.read_bytes().rstrip().endswith(b"</svg>")


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_text_leaves_the_figure(name: str, shape: str) -> None:
    figure = FIGURES[name](doc(SHAPES[shape]))
    FigureCanvasAgg(figure).draw()
    frame = figure.bbox.padded(1)
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1, text.get_text()
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1, text.get_text()


def test_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    """Also in another process, whose hashes and settings differ."""
    script = (
        "import sys, matplotlib; matplotlib.rcParams['font.size'] = 20; import synthetic\n"
        "from pathlib import Path; from dlbench.plots.figures import draw\n"
        "document = synthetic.with_phases(synthetic.document(synthetic.TWELVE[:4]))\n"
        "document = synthetic.with_case_sweep(document)\n"
        "import typed; draw(typed.doc(document), Path(sys.argv[1]))"
    )
    contents = []
    for run in ("1", "2"):
        folder = tmp_path / run
        folder.mkdir()
        subprocess.run([sys.executable, "-c", script, str(folder)], check=True,
                       env={"PYTHONHASHSEED": run, "PYTHONPATH": ":".join(filter(None, sys.path)),
                            "HOME": str(tmp_path)})  # fmt: skip
        contents.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert len(contents[0]) == 2 * len(set(FIGURES) - {"calls", "sync", "versions", "machines"})
    assert contents[0] == contents[1]


def test_drawing_leaves_matplotlib_as_it_was(tmp_path: Path) -> None:
    mpl.rcParams["font.size"] = 17.0
    before = dict(mpl.rcParams)
    draw(doc(SHAPES["one"]), tmp_path)
    assert dict(mpl.rcParams) == before
    assert not mpl._pylab_helpers.Gcf.figs


def test_an_unknown_figure_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"unknown figure 'matrx'.*'matrix'"):
        draw(doc(SHAPES["one"]), tmp_path, "matrx")


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_measured_is_reported(name: str) -> None:
    for shape in ("none", "only failures"):
        assert "nothing was measured" in texts(FIGURES[name](doc(SHAPES[shape])))
    assert "nothing was measured" not in texts(FIGURES[name](doc(SHAPES["one"])))


def test_matrix_writes_values_and_reasons() -> None:
    document = synthetic.document(("numpy", "torch"), (4096, 65536), failing=0.0)
    entry(document, "numpy", "torch").update(real_time=16_600.0, lo_ns=16_500.0, hi_ns=16_700.0)
    entry(document, "torch", "torch").update(real_time=112.4, lo_ns=90.0, hi_ns=115.0)
    lost = entry(document, "numpy", "numpy")
    document["benchmarks"].remove(lost)
    del lost["real_time"]
    document["not_measured"].append(
        lost | {"outcome": "timed-out", "code": "timed-out", "reason": "30 s"}
    )
    found = texts(FIGURES["matrix"](doc(document)))
    for word in ("16.6 us", "110 ns^", "timed-out", "cpu \u00b7 dlpack \u00b7 f32 \u00b7 4 KiB"):
        assert word in found
    assert "without a number: 1 timed-out" in joined(FIGURES["matrix"](doc(document)))


def test_matrix_marks_copies_the_floor_and_itself() -> None:
    document = synthetic.document(("numpy", "torch"), (4096,), failing=0.0)
    plain = FIGURES["matrix"](doc(document))
    assert patches(plain, Polygon) == []
    outlined = [p for p in patches(plain, Rectangle) if p.get_linewidth() == 1.5]
    assert len(outlined) == 2 + 1  # numpy, torch, and the legend's
    entry(document, "numpy", "torch")["outcome"] = "copy"
    entry(document, "torch", "torch")["outcome"] = "unproven"
    entry(document, "numpy", "torch")["changed"] = ["unit"]
    near = entry(document, "numpy", "numpy")
    near["floor_ratio"] = 1.9
    marked = FIGURES["matrix"](doc(document))
    assert len(patches(marked, Polygon)) == 1 + 1
    text = next(
        t for t in marked.axes[0].texts if t.get_text().startswith("~") and t.get_text()[1:]
    )
    assert text.get_style() == "italic"
    assert any(t.endswith("ns?") or t.endswith("us?") for t in texts(marked))
    assert any(t.endswith("ns!") or t.endswith("us!") for t in texts(marked))
    for word in ("copied", "not proven", "overhead floor", "drops or converts"):
        assert word in joined(marked)
        assert word not in joined(plain)


def test_matrix_hatches_what_has_no_number() -> None:
    hatched = [p for p in patches(FIGURES["matrix"](doc(SHAPES["only failures"])), Rectangle)
               if p.get_hatch()]  # fmt: skip
    assert len(hatched) == 4 + 1
    figure = FIGURES["matrix"](doc(SHAPES["one"]))
    assert not [p for p in patches(figure, Rectangle) if p.get_hatch()]


def test_matrix_is_darker_where_it_is_slower() -> None:
    document = synthetic.document(("numpy", "torch"), (4096,), failing=0.0)
    times = {"numpy": 50.0, "torch": 90_000.0}
    for name, time in times.items():
        entry(document, name, "numpy")["real_time"] = time
    cells = [
        p for p in patches(FIGURES["matrix"](doc(document)), Rectangle) if p.get_linewidth() == 1.2
    ]
    assert len(cells) == 4
    brightness = {to_hex(c.get_facecolor()): sum(c.get_facecolor()[:3]) for c in cells}
    assert max(brightness, key=brightness.__getitem__) == "#fde725"
    assert min(brightness, key=brightness.__getitem__) == "#440154"


def test_matrix_has_a_panel_for_each_device_and_falls_back_to_what_was_measured() -> None:
    titles = [t for t in texts(FIGURES["matrix"](doc(SHAPES["two devices"]))) if "f32" in t]
    assert [title.split()[0] for title in titles] == ["cpu", "cuda:0"]
    assert "convert" in joined(FIGURES["matrix"](doc(SHAPES["only convert"])))


def test_matrix_leaves_out_empty_libraries_but_names_them() -> None:
    document = synthetic.document(("numpy",), (4096,), failing=0.0)
    absent = synthetic.axes("cupy", "numpy", "dlpack", "cpu", 4096, "call")
    document["not_measured"].append(
        absent | {"outcome": "not-installed", "code": "not-installed", "reason": "pip"}
    )
    figure = FIGURES["matrix"](doc(document))
    assert "cupy" not in texts(figure)
    assert "not shown: cupy" in joined(figure)


def panels(figure: Figure) -> dict[str, Any]:
    return {axes.get_title(loc="left"): axes for axes in figure.axes[1:]}


def test_scaling_has_a_panel_for_each_consumer_with_the_same_axes() -> None:
    drawn = panels(FIGURES["scaling"](doc(SHAPES["twelve"])))
    assert set(drawn) == {f"\u2192 {name}" for name in synthetic.TWELVE}
    assert len({axes.get_ylim() for axes in drawn.values()}) == 1
    assert all(axes.get_yscale() == axes.get_xscale() == "log" for axes in drawn.values())


def test_scaling_dashes_copies_alone() -> None:
    drawn = panels(FIGURES["scaling"](doc(synthetic.document(("mlx", "numpy"), failing=0.0))))
    solid = [x for x in drawn["\u2192 numpy"].lines if x.get_linewidth() == 1.3]
    dashed = [x for x in drawn["\u2192 mlx"].lines if x.get_linewidth() == 1.3]
    segments = 2 * (len(synthetic.SIZES) - 1)
    assert len(solid) >= segments
    assert len(dashed) >= segments
    assert {x.get_linestyle() for x in solid if len(x.get_xdata()) == 2} == {"-"}
    assert {x.get_linestyle() for x in dashed if len(x.get_xdata()) == 2} == {"--"}


def test_scaling_takes_ready_where_it_is_present() -> None:
    document = synthetic.document(("mlx", "numpy"), failing=0.0)
    ready = max(e["real_time"] for e in document["benchmarks"] if e["clock"] == "ready"
                and e["producer"] == "numpy" and e["protocol"] == "dlpack")  # fmt: skip
    axes = panels(FIGURES["scaling"](doc(document)))["\u2192 mlx"]
    assert any(ready in line.get_ydata() for line in axes.lines)
    assert axes.get_title(loc="right") == "until ready"
    assert panels(FIGURES["scaling"](doc(document)))["\u2192 numpy"].get_title(loc="right") == ""


def test_scaling_draws_the_floors() -> None:
    with_floors = synthetic.document(("numpy", "torch"), failing=0.0)
    axes = panels(FIGURES["scaling"](doc(with_floors)))["\u2192 numpy"]
    slopes = [x for x in axes.lines if x.get_color() == "#9a9a9a"]
    rates = {round(float(x.get_xdata()[0]) / float(x.get_ydata()[0]), 6) for x in slopes}
    assert rates == {16.0, 0.5}
    assert any(set(x.get_ydata()) == {21.0} for x in axes.lines)
    without = synthetic.document(("numpy", "torch"), failing=0.0, copy_floors=False)
    assert "a plain copy" not in joined(FIGURES["scaling"](doc(without)))


def test_scaling_has_a_band_as_wide_as_the_interval() -> None:
    document = synthetic.document(("numpy",), failing=0.0)
    largest = max((e for e in document["benchmarks"] if e["protocol"] == "dlpack"),
                  key=lambda e: int(e["bytes"]))  # fmt: skip
    axes = panels(FIGURES["scaling"](doc(document)))["\u2192 numpy"]
    points = axes.collections[0].get_paths()[0].vertices
    at_largest = {y for x, y in points if x == largest["bytes"]}
    assert at_largest == {largest["lo_ns"], largest["hi_ns"]}
    assert axes.get_ylim()[0] < largest["lo_ns"] < largest["hi_ns"] < axes.get_ylim()[1]


def test_scaling_tells_fifteen_producers_apart() -> None:
    names = list(library_styles.ORDER[:15])
    styles = library_styles.of_all(names)
    assert len(set(styles.values())) == 15
    assert len({look.color for look in styles.values()}) == 15


def widths(figure: Figure, color: str) -> list[float]:
    """Of the bars' pieces of a color."""
    return [p.get_width() for p in figure.axes[1].patches if to_hex(p.get_facecolor()) == color]


def test_phases_are_drawn_as_shares_and_what_is_left_is_hatched() -> None:
    figure = FIGURES["phases"](doc(SHAPES["phases"]))
    for phase, share in (("query", 0.1), ("export", 0.4), ("import", 0.3), ("release", 0.15)):
        found = widths(figure, phases.COLORS[phase])
        assert len(found) == 25
        assert found == pytest.approx([share] * 25)
    hatched = [p for p in figure.axes[1].patches if p.get_hatch()]
    assert [p.get_width() for p in hatched] == pytest.approx([0.05] * 25)
    assert [p.get_x() for p in hatched] == pytest.approx([0.95] * 25)


def test_the_time_beside_a_bar_is_that_of_which_its_phases_are_parts() -> None:
    document = synthetic.with_phases(synthetic.document(("torch",), (4096,), failing=0.0))
    own = entry(document, "torch", "torch")
    own["phases"]["exchange_ns"] = own["real_time"] / 2
    reported = joined(FIGURES["phases"](doc(document)))
    assert values.duration(own["phases"]["exchange_ns"]) in reported
    assert values.duration(own["real_time"]) not in reported


def test_phases_that_are_too_long_reach_back() -> None:
    document = synthetic.with_phases(synthetic.document(("torch",), (4096,), failing=0.0))
    whole = entry(document, "torch", "torch")
    whole["unexplained_ns"] = -0.05 * whole["real_time"]
    (left,) = [p for p in FIGURES["phases"](doc(document)).axes[1].patches if p.get_hatch()]
    assert left.get_x() == pytest.approx(0.90)
    assert left.get_width() == pytest.approx(0.05)


def test_phases_show_the_longest_and_say_how_many_are_not_shown() -> None:
    figure = FIGURES["phases"](doc(SHAPES["many phases"]))
    hatched = [p for p in figure.axes[1].patches if p.get_hatch()]
    assert len(hatched) == phases.MOST_BARS
    assert "shorter exchanges are not shown" in joined(figure)


@pytest.mark.parametrize(("name", "limit"), [("scaling", "MOST_LINES"), ("fallbacks", "MOST_ROWS")])
def test_a_figure_of_too_many_consumers_says_how_many_are_not_shown(
    name: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = doc(SHAPES["case_sweep"])
    assert "are not shown" not in joined(FIGURES[name](document))
    # Two of five panels of five producers each.
    monkeypatch.setattr(f"dlbench.plots.{name}.{limit}", 10)
    figure = FIGURES[name](document)
    assert "3 more consumers are not shown: dlbench show RUN has all" in joined(figure)


def test_an_exchange_that_is_too_short_has_no_shares(tmp_path: Path) -> None:
    document = synthetic.with_phases(synthetic.document(("torch", "jax"), failing=0.0))
    entry(document, "torch", "torch")["phases"]["exchange_ns"] = 249.0
    figure = FIGURES["phases"](doc(document))
    assert len([p for p in figure.axes[1].patches if p.get_hatch()]) == 3
    assert "not shown, below 250 ns, too short for shares: 1" in joined(figure)
    for one in document["benchmarks"]:
        one.get("phases", {})["exchange_ns"] = 120.0
    assert "every exchange takes less than 250 ns" in joined(FIGURES["phases"](doc(document)))
    assert "phases.png" not in {path.name for path in draw(doc(document), tmp_path)}


def test_phases_are_drawn_only_where_they_were_measured(tmp_path: Path) -> None:
    names = {path.name for path in draw(doc(SHAPES["one"]), tmp_path)}
    assert "phases.png" not in names
    assert "no phases were measured: use --phases all" in joined(
        FIGURES["phases"](doc(SHAPES["one"]))
    )
    assert "phases.png" in {path.name for path in draw(doc(SHAPES["phases"]), tmp_path)}


def test_a_hundred_unknown_libraries_have_styles_too() -> None:
    names = [f"library{number}" for number in range(100)]
    found = library_styles.of_all([*library_styles.ORDER, *names])
    assert set(found) == {*library_styles.ORDER, *names}
    assert all(found[name] == library_styles.of(name) for name in library_styles.ORDER)


@pytest.mark.parametrize("name", ["matrix", "scaling"])
def test_a_figure_names_its_origin_and_its_numbers_of_samples(name: str) -> None:
    made = samples.document(*samples.pair()["benchmarks"])
    for cell in made["benchmarks"]:
        cell["workers"] = [{"median_ns": 100.0, "samples_ns": [99.0, 100.0, 101.0]}] * 2
    origin = choosing.provenance(doc(made))
    assert "n: 2 processes for each cell, 6 rounds in all" in origin
    for part in ("dlbench", "CPython", made["context"]["date"][:10]):
        assert any(part in text for text in origin)
    shown = joined(FIGURES[name](doc(made)))
    assert all(text in shown for text in origin)


def of_versions(slower: float) -> dict[str, Any]:
    """Six releases of a library, of which the last three take longer by this factor."""
    document = synthetic.document(("numpy",), (4096,), protocols=("dlpack",), failing=0.0)
    (item,) = document["benchmarks"]
    names = [f"1.{minor}" for minor in range(6)]
    random = np.random.default_rng(3)
    document["benchmarks"] = [
        item
        | {"environment": name, "name": f"{item['name']}/environment:{name}"}
        | {"workers": [{"median_ns": ns, "samples_ns": [ns, ns * 1.2]}
                       for ns in random.normal(100, 0.5, 10) * (slower if name > "1.2" else 1)]}
        for name in names
    ]  # fmt: skip
    own = document["context"]["dlbench"]
    own["environments"] = dict.fromkeys(names, next(iter(own["environments"].values())))
    own["request"] = {"env": [f"{name}=/x/{name}/bin/python" for name in names]}
    return document


@pytest.mark.parametrize(("slower", "steps"), [(1.2, 1), (1.0, 0)])
def test_versions_show_a_step_only_where_there_is_one(slower: float, steps: int) -> None:
    figure = FIGURES["versions"](doc(of_versions(slower)))
    assert texts(figure).count("time") == steps
    assert "1.0" in texts(figure)
    axes = figure.axes[1]
    lines = [line for line in axes.lines if list(line.get_xdata()) == [2.5, 2.5]]
    assert len(lines) == steps


def test_versions_are_drawn_of_a_run_of_track_alone() -> None:
    assert figures.has(doc(of_versions(1.2)), "versions")
    assert not figures.has(doc(SHAPES["one"]), "versions")
    broken = of_versions(1.0)
    entry = broken["benchmarks"].pop(2)
    left = {"reason": "no", "outcome": "refused", "code": "refused"}
    keys = ("name", "producer", "consumer", "protocol", "device", "case", "bytes", "environment",
            "phase", "clock")  # fmt: skip
    broken["not_measured"].append({key: entry[key] for key in keys if key in entry} | left)
    figure = FIGURES["versions"](doc(broken))
    assert texts(figure).count("outcome") == 2
    assert "refused" in texts(figure)
