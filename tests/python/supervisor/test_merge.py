"""`dlbench merge`: one document of several machines, and the output of the verbs for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import samples
import synthetic
from dlbench import cli
from dlbench.analysis import cells
from dlbench.check import section
from dlbench.counting import explain
from dlbench.document import read_document
from dlbench.terminal import pair
from typed import doc, merged_of

pytestmark = pytest.mark.process

SCHEMA = json.loads((Path(__file__).parents[3] / "results/schema.json").read_text())


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
    for place in (".", "box", "rocm"):
        assert (folder / "all" / place / "matrix.svg").stat().st_size > 1000


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
    ("words", "message"),
    [
        (["box"], "at least two runs"),
        (["box", "nowhere"], "no run 'nowhere'"),
        (["box", "box"], "two runs have the machine name 'box': name them"),
        (["box", "rocm", "--out", "box"], "is not empty"),
    ],
)
def test_bad_use_is_one_line(
    words: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "box" / "results.json").read_bytes()
    words = words if "--out" in words else [*words, "--out", "new"]
    assert cli.main(["merge", *words]) == 2
    err = capsys.readouterr().err
    assert message in err
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
    merged = merged_of(zip(("box", "rocm"), parts, strict=True))
    entry = cells.single(doc(merged), ["numpy", "torch", "rocm"])
    found = explain.phases_of(merged.entries, entry)
    assert [(each.machine, each.median_ns) for each in found] == [("rocm", 200.0)]


def checked(folder: Path, name: str, outcome: str) -> None:
    """A document of `dlbench check` of that name."""
    check = {"library": "numpy", "version": "2.4.6", "rule": "export.flags", "role": "producer"}
    check |= {
        "device": "cpu",
        "level": "must",
        "section": "DLPack",
        "outcome": outcome,
        "observed": "x",
    }
    made = section.document([check], ["dlbench", "check", "numpy"], 0.0)
    (folder / name).mkdir()
    (folder / name / "results.json").write_text(json.dumps(made))


def test_checks_of_machines_are_merged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checked(folder, "first", "holds")
    checked(folder, "second", "unclear")
    assert cli.main(["merge", "a=first", "b=second", "box", "--out", "all"]) == 0
    merged = read_document(folder / "all" / "results.json")
    assert merged.machines == ["a", "b", "box"]
    assert [(check.machine, check.outcome) for check in merged.checks] == [
        ("a", "holds"), ("b", "unclear"),
    ]  # fmt: skip
    assert merged.of_machine("b").to_json() == json.loads(
        (folder / "second" / "results.json").read_text()
    )
    assert not merged.of_machine("box").is_of_checks
    capsys.readouterr()
    assert cli.main(["show", "all"]) == 0
    out = capsys.readouterr().out
    assert out.index("machine a") < out.index("1 rule: 1 holds") < out.index("machine b")
    assert out.index("1 rule: 1 unclear") < out.index("machine box")
    # A rule is checked once on each machine.
    path = folder / "all" / "results.json"
    again = json.loads(path.read_text())
    again["checks"].append(again["checks"][0])
    path.write_text(json.dumps(again))
    assert cli.main(["show", "all"]) == 2
    assert "a rule that no earlier item has" in capsys.readouterr().err


def test_other_versions_of_dlbench_are_kept_apart_with_a_word(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "rocm" / "results.json"
    made = json.loads(path.read_text())
    made["context"]["dlbench"]["version"] = "9.9"
    path.write_text(json.dumps(made))
    assert cli.main(["merge", "box", "rocm", "--out", "all"]) == 0
    assert "different versions of dlbench: box: " in capsys.readouterr().err


def test_other_options_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(folder, "third", "A third", ("native", "numpy"))
    for name, request in (
        ("box", {"replicas": 3, "sizes": ["4KiB"], "jobs": 1}),
        ("rocm", {"replicas": 3, "sizes": ["4KiB"], "jobs": 2, "phases": []}),
        ("third", {"replicas": 5, "sizes": ["4KiB", "1MiB"]}),
    ):
        path = folder / name / "results.json"
        made = json.loads(path.read_text())
        made["context"]["dlbench"]["request"] = request
        path.write_text(json.dumps(made))
    assert cli.main(["merge", "box", "rocm", "--out", "two"]) == 0
    assert capsys.readouterr().err == ""
    checked(folder, "rules", "holds")
    assert cli.main(["merge", "box", "third", "checks=rules", "--out", "all"]) == 0
    assert capsys.readouterr().err == (
        "dlbench: the machines were measured with different options: --replicas, --sizes\n"
    )


def test_machines_are_shown_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "rocm" / "results.json"
    made = json.loads(path.read_text())
    for entry in made["benchmarks"]:
        for key in ("real_time", "lo_ns", "hi_ns", "cpu_time", "mad_ns"):
            entry[key] *= 2
    path.write_text(json.dumps(made))
    assert cli.main(["merge", "box", "rocm", "--out", "all"]) == 0
    capsys.readouterr()
    assert cli.main(["show", "all"]) == 0
    out = capsys.readouterr().out
    assert "machines, relative to box" in out
    row = next(line.split() for line in out.splitlines() if line.startswith(" rocm "))
    assert row[2:5] == ["2.00", "2.00", "2.00"]
    assert int(row[1]) > 5
    assert cli.main(["show", "all", "numpy", "native", "dlpack", "4KiB"]) == 0
    head, first, second = capsys.readouterr().out.splitlines()[:3]
    assert "times" in head.split()
    assert "1.00" in first.split()
    assert "2.00" in second.split()
    words = ["show", "all", "numpy", "native", "dlpack", "4KiB", "--relative-to", "rocm"]
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    _, first, second = out.splitlines()[:3]
    assert "0.50" in first.split()
    assert "1.00" in second.split()
    assert "times: relative to rocm" in out


def test_a_cell_that_the_base_machine_lacks_has_no_ratio() -> None:
    cells_of = {
        "box": [samples.measured("numpy", "torch", 100.0)],
        "rocm": [samples.measured("numpy", "torch", 300.0),
                 samples.measured("numpy", "torch", 500.0, bytes=65536)],
    }  # fmt: skip
    made = merged_of((name, samples.document(*of)) for name, of in cells_of.items())
    lines = [line.plain for line in pair.table(made.entries, 200)]
    column = lines[0].index("times")
    assert [line[column : column + 5].strip() for line in lines[1:4]] == ["1.00", "3.00", ""]
