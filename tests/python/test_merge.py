"""`dlbench merge`: one document of several machines, and what the verbs make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import samples
import synthetic
from dlbench import cli
from dlbench.check import section
from dlbench.command import cells, merge
from dlbench.counting import explain
from typed import doc, parts_of

pytestmark = pytest.mark.process

SCHEMA = json.loads((Path(__file__).parents[2] / "results/schema.json").read_text())


def plant(folder: Path, name: str, cpu: str, libraries: tuple[str, ...]) -> dict[str, Any]:
    """A run of that name on a machine of its own."""
    made = synthetic.document(libraries, (4096, 65536), failing=0.1)
    made["context"]["dlbench"]["machine"]["cpu"] = cpu
    made["context"]["host_name"] = name
    (folder / name).mkdir()
    (folder / name / "results.json").write_text(json.dumps(made))
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    plant(tmp_path, "box", "A CPU", ("native", "numpy", "mlx"))
    plant(tmp_path, "rocm", "Another CPU", ("native", "numpy", "torch"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_row_knows_its_machine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["merge", "box", "big=rocm", "--out", "all"]) == 0
    path = folder / "all" / "results.json"
    assert capsys.readouterr().out == "all/results.json\n"
    merged = json.loads(path.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(merged)
    assert doc(merged).machines == ["big", "box"]
    names = [entry.name for entry in doc(merged).entries]
    assert len(names) == len(set(names))
    for entry in doc(merged).entries:
        assert entry.name.endswith(f"/machine:{entry.machine}")
    for name, source in (("box", "box"), ("big", "rocm")):
        own = json.loads((folder / source / "results.json").read_text())
        assert doc(merged).of_machine(name).to_json() == own


def test_the_verbs_fold_by_machine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["merge", "box", "rocm", "--out", "all"]) == 0
    capsys.readouterr()
    assert cli.main(["show", "all"]) == 0
    out = capsys.readouterr().out
    assert out.index("machine box") < out.index("A CPU") < out.index("machine rocm")
    assert out.index("machine rocm") < out.index("Another CPU")
    assert cli.main(["show", "all", "numpy", "native", "dlpack", "4KiB"]) == 0
    out = capsys.readouterr().out
    assert "machine" in out.splitlines()[0]
    assert cli.main(["show", "all", "numpy", "native", "dlpack", "4KiB", "rocm"]) == 0
    assert "/machine:rocm" in capsys.readouterr().out
    assert cli.main(["plot", "all", "--figure", "matrix"]) == 0
    for name in ("box", "rocm"):
        assert (folder / "all" / name / "matrix.svg").stat().st_size > 1000


def test_merged_runs_are_merged_and_compared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(folder, "third", "A third", ("native", "numpy"))
    assert cli.main(["merge", "box", "rocm", "--out", "two"]) == 0
    assert cli.main(["merge", "two", "third", "--out", "three"]) == 0
    merged = json.loads((folder / "three" / "results.json").read_text())
    assert doc(merged).machines == ["box", "rocm", "third"]
    capsys.readouterr()
    assert cli.main(["compare", "two", "three", "--json", "--fail-on", "slow,outcome,lost"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert counts["lost"] == 0
    assert counts["gained"] > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["box"], "at least two runs"),
        (["box", "nowhere"], "no run 'nowhere'"),
        (["box", "box"], "two machines are called 'box': name the runs"),
        (["box", "rocm", "--out", "box"], "is not empty"),
    ],
)
def test_bad_use_is_one_line(
    words: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "box" / "results.json").read_bytes()
    words = words if "--out" in words else [*words, "--out", "new"]
    assert cli.main(["merge", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert (folder / "box" / "results.json").read_bytes() == before
    assert not (folder / "new").exists()


def test_one_cell_goes_with_the_facts_of_its_own_machine(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, version in (("box", "1.26.4"), ("rocm", "2.4.6")):
        path = folder / name / "results.json"
        made = json.loads(path.read_text())
        environment = made["context"]["dlbench"]["environments"]["default"]
        environment["libraries"]["numpy"] = version
        path.write_text(json.dumps(made))
    assert cli.main(["merge", "box", "rocm", "--out", "all"]) == 0
    capsys.readouterr()
    for name, version in (("box", "1.26.4"), ("rocm", "2.4.6")):
        assert cli.main(["repro", "all", "numpy", "native", name]) == 0
        assert version in capsys.readouterr().out


def test_phases_are_of_the_cells_own_machine() -> None:
    parts = [
        samples.document(
            samples.measured("numpy", "torch", ns),
            samples.measured("numpy", "torch", ns / 2, phase="import"),
        )
        for ns in (900.0, 400.0)
    ]
    merged = merge.of_parts(parts_of(zip(("box", "rocm"), parts, strict=True)))
    entry = cells.single(doc(merged), ["numpy", "torch", "rocm"])
    found = explain.phases_of(merged.entries, entry)
    assert [(each.machine, each.real_time) for each in found] == [("rocm", 200.0)]


def test_a_check_has_no_rows_to_merge(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "checked").mkdir()
    checked = section.document([], ["dlbench", "check", "numpy"], 0.0)
    (folder / "checked" / "results.json").write_text(json.dumps(checked))
    assert cli.main(["merge", "box", "mine=checked", "--out", "new"]) == 2
    assert "mine=checked is of 'dlbench check'" in capsys.readouterr().err
    assert not (folder / "new").exists()
