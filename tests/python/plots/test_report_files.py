"""The report as a file: its place, refused paths, and that it loads nothing else."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import comparisons
import samples
from dlbench import cli
from dlbench.plots import report
from dlbench.plots.report import packing
from dlbench.running import reporting, run, rundir
from typed import comparison_of, doc

Captured = pytest.CaptureFixture[str]


def page(*documents: dict[str, Any], comparison: dict[str, Any] | None = None) -> str:
    out = io.BytesIO()
    report.write(out, [report.pack(doc(d), f"run{i}", "latest") for i, d in enumerate(documents)],
                 comparison_of(comparison) if comparison else None)  # fmt: skip
    return out.getvalue().decode()


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    for second, name in enumerate(("base", "head")):
        (tmp_path / name).mkdir()
        made = samples.pair()
        made["context"]["date"] = f"2026-01-01T00:00:0{second}+00:00"
        (tmp_path / name / "results.json").write_text(json.dumps(made))
    return [tmp_path / "base", tmp_path / "head"]


@pytest.fixture
def no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def without(name: str, *more: Any) -> Any:
        return None if name in ("jinja2", "matplotlib") else find(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", without)


def test_the_same_documents_give_the_same_bytes() -> None:
    both = comparisons.of(samples.pair(), samples.matrix())
    first = page(samples.pair(), samples.matrix(), comparison=both)
    assert first == page(samples.pair(), samples.matrix(), comparison=both)


def test_nothing_is_loaded_from_elsewhere() -> None:
    text = page(samples.pair())
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", text)
    assert "@import" not in text
    assert "url(" not in text.replace("url(#", "")


def blob(text: str, name: str) -> Any:
    (packed,) = re.findall(f'<script type="text/plain" id="{name}">([^<]+)</script>', text)
    return json.loads(packing.zlib.decompress(packing.base64.b64decode(packed), 31))


def test_every_cell_is_in_the_page() -> None:
    document = samples.matrix()
    text = page(document)
    index = blob(text, "index-0")
    entries = document["benchmarks"] + document["not_measured"]
    names = [cell["name"] for place in range(-(-len(entries) // index["chunk"]))
             for cell in blob(text, f"cells-0-{place}")]  # fmt: skip
    assert names == [entry["name"] for entry in entries]
    assert index["median_ns"] == [entry["real_time"] for entry in document["benchmarks"]]
    outcomes = index["axes"]["outcome"]
    assert [outcomes["levels"][code] for code in outcomes["codes"]] == [
        entry["outcome"] for entry in entries
    ]


def test_changes_come_in_the_order_in_which_they_matter() -> None:
    base = samples.document(*(samples.measured(name, "torch", 100.0) for name in "abcd"))
    head = samples.document(
        samples.measured("a", "torch", 101.0),
        samples.measured("b", "torch", 50.0),
        samples.measured("c", "torch", 130.0),
        samples.measured("d", "torch", 100.0, outcome="copy"),
        samples.measured("e", "torch", 1.0),
    )
    rows = report.changes.rows(comparison_of(comparisons.of(base, head)))
    name = report.changes.KEYS.index("name")
    producers = [row[name].partition("producer:")[2][0] for row in rows]
    assert producers == ["d", "c", "b", "e", "a"]


def test_the_verb_writes_into_the_last_runs_folder(runs: list[Path], capsys: Captured) -> None:
    assert cli.main(["report", str(runs[0])]) == 0
    assert capsys.readouterr().out == f"{runs[0] / 'report.html'}\n"
    assert cli.main(["report", str(runs[0])]) == 0
    assert "base" in (runs[0] / "report.html").read_text()
    capsys.readouterr()
    assert cli.main(["report", *map(str, runs)]) == 0
    assert capsys.readouterr().out == f"{runs[1] / 'change.html'}\n"
    assert sorted(path.name for path in runs[1].iterdir()) == ["change.html", "results.json"]


def test_a_named_file_is_not_overwritten(runs: list[Path], capsys: Captured) -> None:
    target = runs[0] / "mine.html"
    target.write_text("mine")
    line = ["report", str(runs[0]), "--output", str(target)]
    assert cli.main(line) == 2
    assert "exists already; --force replaces it" in capsys.readouterr().err
    assert target.read_text() == "mine"
    assert cli.main([*line, "--force"]) == 0
    assert target.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("words", [["no/such/run"], []])
def test_bad_use_is_one_line(words: list[str], capsys: Captured) -> None:
    assert cli.main(["report", *words]) == 2
    reported = capsys.readouterr()
    assert (reported.out, reported.err.count("\n")) == ("", 1)


def test_without_the_extra_it_says_what_to_install(
    runs: list[Path], no_extra: None, capsys: Captured
) -> None:
    install = "pip install 'dlbench[report]'"
    assert cli.main(["report", str(runs[0])]) == 2
    assert capsys.readouterr().err == f"dlbench: the report needs jinja2: {install}\n"
    for more in ([], ["--base", str(runs[1])]):
        assert cli.main(["plot", str(runs[0]), *more]) == 2
        assert capsys.readouterr().err == f"dlbench: a figure needs matplotlib: {install}\n"
    # A run that ends does not mind.
    assert reporting.at_the_end(doc(samples.pair()), runs[0]) == ()
    assert run.draw_at_the_end(doc(samples.pair()), runs[0]) == ()
    assert [path.name for path in runs[0].iterdir()] == ["results.json"]


def test_a_run_leaves_its_report(runs: list[Path]) -> None:
    assert reporting.at_the_end(doc(samples.pair()), runs[0]) == ("report.html",)
    assert (runs[0] / "report.html").stat().st_size < 400_000


@pytest.fixture
def stamped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in its usual place, which is the latest."""
    monkeypatch.chdir(tmp_path)
    folder = Path("dlbench-results/20260101T000000Z")
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps(samples.pair()))
    rundir.link_latest(folder)
    return folder


def named(path: Path) -> list[str]:
    """What the page's commands call its run, as a shell reads it."""
    return shlex.split(blob(path.read_text(), "index-0")["name"])


@pytest.mark.parametrize("run", ["latest", "dlbench-results/latest"])
def test_a_page_calls_its_run_by_no_name_that_moves_on(run: str, stamped: Path) -> None:
    assert cli.main(["report", run]) == 0
    assert named(stamped / "report.html") == [str(stamped)]
    reporting.at_the_end(doc(samples.pair()), stamped)
    assert named(stamped / "report.html") == [str(stamped)]


def test_the_name_of_a_run_is_one_word_to_a_shell(runs: list[Path]) -> None:
    spaced = runs[0].rename(runs[0].parent / "of a machine")
    assert cli.main(["report", str(spaced)]) == 0
    assert named(spaced / "report.html") == [spaced.name]
    (spaced / "results.json").rename(spaced / "other.json")
    assert cli.main(["report", str(spaced / "other.json"), "--force"]) == 0
    assert named(spaced / "report.html") == ["of a machine/other.json"]


def test_a_page_does_not_hold_the_folders_of_its_sender(tmp_path: Path) -> None:
    folder = tmp_path / "dlbench-results" / "20260101T000000Z"
    folder.mkdir(parents=True)
    made = samples.matrix()
    environments = made["context"]["dlbench"]["environments"]
    environments["default"]["executable"] = "/home/someone/venv/bin/python"
    made["context"]["dlbench"]["command"] = [
        "dlbench", "--matrix", "--env", "old=/home/someone/venv/bin/python",
    ]  # fmt: skip
    (folder / "results.json").write_text(json.dumps(made))
    assert reporting.at_the_end(doc(made), folder)
    text = (folder / "report.html").read_text()
    assert named(folder / "report.html") == ["dlbench-results/20260101T000000Z"]
    held = text + json.dumps(blob(text, "index-0"))
    assert str(tmp_path) not in held
    assert "--env old=PYTHON" in held
    assert "/home/someone" not in held


def test_a_comparison_does_not_hold_the_folders_of_its_sender() -> None:
    made = comparisons.of(samples.pair(), samples.pair())
    made["base"]["runs"] = ["/home/someone/dlbench-results/first"]
    for labels, shown in ((["one"], "first"), (["old", "new"], "old")):
        packed = report.changes.packed(comparison_of(made), labels)
        held = packing.zlib.decompress(packing.base64.b64decode(packed), 31).decode()
        assert "/home/someone" not in held
        assert f'"runs":["{shown}"]' in held


def test_what_a_run_of_two_sides_kept_is_its_view_of_changes(runs: list[Path]) -> None:
    made = comparisons.of(samples.pair(), samples.pair())
    (runs[0] / "comparison.json").write_text(json.dumps(made))
    assert cli.main(["report", str(runs[0])]) == 0
    assert 'id="change-data"' in (runs[0] / "report.html").read_text()
    assert cli.main(["plot", str(runs[0]), "--figure", "change"]) == 0
    assert (runs[0] / "change.png").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"dlbench_comparison": 2}'])
def test_a_damaged_comparison_is_named(text: str, runs: list[Path], capsys: Captured) -> None:
    (runs[0] / "comparison.json").write_text(text)
    assert cli.main(["report", str(runs[0])]) == 2
    reported = capsys.readouterr().err
    assert "comparison.json: " in reported
    assert reported.count("\n") == 1


def test_the_figure_of_changes_needs_two_sides(runs: list[Path], capsys: Captured) -> None:
    assert cli.main(["plot", str(runs[1]), "--figure", "change"]) == 2
    assert (
        capsys.readouterr().err
        == "dlbench: missing --base RUN: the figure `change` shows changes since that run\n"
    )
    assert cli.main(["plot", str(runs[1]), "--base", str(runs[0])]) == 0
    assert capsys.readouterr().out.endswith("change.png\n")
    assert cli.main(["plot", str(runs[1]), "--figure", "scaling", "--base", str(runs[0])]) == 2
    assert "--base is for the figure change: scaling shows one run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("figure", "brought_by"),
    [("phases", "--phases all"), ("fallbacks", "--cases all"), ("sync", "--sync")],
)
def test_a_figure_without_data_names_what_brings_it(
    figure: str, brought_by: str, runs: list[Path], capsys: Captured
) -> None:
    assert cli.main(["plot", str(runs[0]), "--figure", figure]) == 2
    reported = capsys.readouterr()
    assert (reported.out, reported.err.count("\n")) == ("", 1)
    assert brought_by in reported.err
    assert [path.name for path in runs[0].iterdir()] == ["results.json"]


def test_runs_of_two_machines_have_no_view_of_changes(runs: list[Path], capsys: Captured) -> None:
    other = samples.pair()
    other["context"]["dlbench"]["machine"]["cpu"] = "another"
    (runs[1] / "results.json").write_text(json.dumps(other))
    assert cli.main(["report", *map(str, runs)]) == 0
    assert "the report is written without changes: " in capsys.readouterr().err
    assert 'id="change-data"' not in (runs[1] / "change.html").read_text()


def test_runs_with_the_same_name_are_distinguished(tmp_path: Path) -> None:
    one, two = tmp_path / "a/run/results.json", tmp_path / "b/run/results.json"
    assert reporting.labels([one]) == ["run"]
    assert reporting.labels([one, two]) == ["1: run/results.json", "2: run/results.json"]
    assert reporting.labels([one, tmp_path / "a/run/other.json"]) == [
        "run/results.json", "run/other.json",
    ]  # fmt: skip


def test_a_run_below_the_current_folder_keeps_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, name in (("runs/head", "runs/head"), (str(tmp_path / "runs/head"), "head")):
        assert reporting.lasting_name(Path(folder, "results.json")) == name
