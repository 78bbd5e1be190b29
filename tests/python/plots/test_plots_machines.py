"""Figures of merged documents: all machines in one figure, or a figure for each machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import samples
import synthetic
from dlbench import cli
from dlbench.document import Document
from dlbench.plots import drawing, machines, matrix
from dlbench.plots.figures import FIGURES, OF_ALL_MACHINES, draw
from typed import merged_of

pytestmark = pytest.mark.process

LIBRARIES = ("native", "numpy", "torch", "jax")


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with drawing.style():
        yield


def run(times: float) -> dict[str, Any]:
    """A run with data for every figure, whose times are so many times the usual."""
    made = synthetic.document(LIBRARIES, (4096, 65536), failing=0.1)
    made = synthetic.with_case_sweep(synthetic.with_phases(made))
    for entry in made["benchmarks"]:
        for key in ("real_time", "lo_ns", "hi_ns"):
            entry[key] *= times
    return made


def merged(**machines: float) -> Document:
    return merged_of((name, run(times)) for name, times in machines.items())


def texts(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(mpl.text.Text))


def test_no_figure_mixes_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[str, str, str]] = []

    def save(figure: Figure, folder: Path, name: str) -> list[Path]:
        drawn.append((folder.relative_to(tmp_path).as_posix(), name, texts(figure)))
        return [folder / f"{name}.png"]

    monkeypatch.setattr(drawing, "save", save)
    draw(merged(laptop=1.0, h100=2.0), tmp_path)
    made = {(folder, name): text for folder, name, text in drawn}
    assert {name for _, name in made} == set(FIGURES) - {"calls", "sync", "versions"}
    for (folder, name), text in made.items():
        if folder == ".":
            assert name in OF_ALL_MACHINES
            assert "laptop" in text
            assert "h100" in text
        else:
            other = {"laptop": "h100", "h100": "laptop"}[folder]
            assert f"machine {folder}" in text, name
            assert other not in text, name


def test_the_matrix_has_panels_of_each_machine_with_its_own_times_and_versions() -> None:
    parts = [("laptop", run(1.0)), ("h100", run(50.0))]
    libraries = parts[1][1]["context"]["dlbench"]["environments"]["default"]["libraries"]
    libraries["numpy"] = "9.9.9"
    document = merged_of(parts)
    text = texts(matrix.figure(document))
    assert "laptop \u00b7 cpu" in text
    assert "h100 \u00b7 cpu" in text
    assert text.count("9.9.9") == 1
    alone = {name: texts(matrix.figure(part)) for name, part in document.shares()}
    for name, own in alone.items():
        shown = [line for line in own.splitlines() if line.endswith((" ns", " us", " ms"))]
        assert shown, name
        assert set(shown) <= set(text.splitlines()), name


def test_ratios_are_to_the_chosen_machine() -> None:
    document = merged(laptop=1.0, h100=2.0, slow=8.0)
    figure = machines.figure(document)
    assert "relative to h100" in texts(figure)
    axes = figure.axes[1]
    ratios = {round(float(line.get_xdata()[0]), 6) for line in axes.lines if line.get_marker()}
    assert {0.5, 4.0} <= ratios
    figure = machines.figure(document, "slow")
    assert "relative to slow" in texts(figure)
    ratios = {round(float(line.get_xdata()[0]), 6) for line in figure.axes[1].lines}
    assert {0.125, 0.25} <= ratios


def test_another_clock_is_no_ratio() -> None:
    parts = [
        ("a", samples.document(samples.measured("numpy", "torch", 10.0))),
        ("b", samples.document(samples.measured("numpy", "torch", 90.0, clock="ready"))),
    ]
    document = merged_of(parts)
    assert not machines.has_machines(document)
    assert "no exchange was measured on two machines" in texts(machines.figure(document))


def test_many_machines_fit(tmp_path: Path) -> None:
    document = merged(**{f"node{number:02}": 1.0 + number / 10 for number in range(20)})
    figure = machines.figure(document)
    assert "more" in texts(figure)
    FigureCanvasAgg(figure).draw()
    frame = figure.bbox.padded(1)
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1, text.get_text()
    assert "8 more machines are not shown" in texts(matrix.figure(document))


def test_the_verbs_take_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, document in (("all", merged(laptop=1.0, h100=2.0).to_json()), ("one", run(1.0))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "results.json").write_text(json.dumps(document))
    assert cli.main(["plot", "all", "--figure", "machines", "--relative-to", "h100"]) == 0
    assert capsys.readouterr().out.split() == ["all/machines.svg", "all/machines.png"]
    assert cli.main(["show", "all", "--relative-to", "h100"]) == 0
    assert "machines, relative to h100" in capsys.readouterr().out
    for words, message in (
        (["plot", "all", "--relative-to", "h10"], "unknown machine 'h10'"),
        (["show", "one", "--relative-to", "laptop"], "--relative-to is for merged runs"),
        (["plot", "one", "--figure", "machines"], "the figure machines needs a merged run"),
    ):
        assert cli.main(words) == 2
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1
