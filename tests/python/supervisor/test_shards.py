"""Parts of a matrix (`--shard`), and the document that `dlbench merge` makes of them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import synthetic
from dlbench import cli
from dlbench.command import shards
from dlbench.document import read_document
from typed import doc

LIBRARIES = ("native", "numpy", "torch", "jax")


def parts(of: int, **facts: Any) -> list[dict[str, Any]]:
    """A synthetic run, divided by pairs of libraries as shards are."""
    whole = synthetic.document(LIBRARIES, (4096, 65536), failing=0.1)
    entries = [*whole["benchmarks"], *whole["not_measured"]]
    pairs = sorted({frozenset((e["producer"], e["consumer"])) for e in entries}, key=sorted)
    made = []
    for number in range(1, of + 1):
        part = copy.deepcopy(whole)
        own = part["context"]["dlbench"]
        own["shard"] = {"of": of, "numbers": [number], "plan": "0123456789abcdef"}
        own["request"] = {"replicas": 3, "shard": f"{number}/{of}"}
        own["wall_s"] = 10.0 * number
        own |= facts
        part["context"]["host_name"] = f"node{number}"
        chosen = pairs[number - 1 :: of]
        for key in ("benchmarks", "not_measured"):
            part[key] = [
                e for e in part[key] if frozenset((e["producer"], e["consumer"])) in chosen
            ]
        made.append(part)
    return made


def plant(folder: Path, documents: list[dict[str, Any]], prefix: str = "s") -> list[str]:
    names = []
    for number, document in enumerate(documents, 1):
        name = f"{prefix}{number}"
        (folder / name).mkdir()
        (folder / name / "results.json").write_text(json.dumps(document))
        names.append(name)
    return names


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_shards_become_the_document_of_the_whole_run(folder: Path) -> None:
    names = plant(folder, parts(3))
    assert cli.main(["merge", *reversed(names), "--out", "all"]) == 0
    merged = read_document(folder / "all/results.json")
    whole = synthetic.document(LIBRARIES, (4096, 65536), failing=0.1)
    assert [e.to_json() for e in merged.measured] == whole["benchmarks"]
    assert [e.to_json() for e in merged.not_measured] == whole["not_measured"]
    assert merged.machines == []
    assert merged.run.wall_s == 60.0
    assert merged.run.request.words("shard") == ""
    assert merged.run.shard.missing == []
    assert merged.run.shard.hosts == {"1": "node1", "2": "node2", "3": "node3"}


@pytest.mark.parametrize(
    ("series", "lengths"), [((2, 4), [64.0]), ((2, 3), [64.0, 256.0])], ids=["six", "five"]
)
def test_spreads_of_few_exchanges_are_left_out_of_the_whole(
    folder: Path, series: tuple[int, ...], lengths: list[float]
) -> None:
    made = parts(len(series))
    for part, count in zip(made, series, strict=True):
        part["context"]["dlbench"]["environments"]["default"]["between_processes"] = [
            {"length_ns": 64.0, "half_width": 0.1 * count, "series": count},
            {"length_ns": 256.0, "half_width": 12.0, "series": 1},
        ]
    assert cli.main(["merge", *plant(folder, made), "--out", "all"]) == 0
    merged = read_document(folder / "all/results.json").environments["default"].between_processes
    assert [row.length_ns for row in merged] == lengths
    assert merged[0].series == sum(series)
    assert merged[0].half_width == pytest.approx(0.1 * max(series))


def test_a_missing_shard_is_named_and_can_follow(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = plant(folder, parts(4))
    assert cli.main(["merge", names[0], names[2], "--out", "half"]) == 3
    assert capsys.readouterr().err == (
        "dlbench: node1: shards 2/4, 4/4 are missing\n"
        "dlbench: half is incomplete: measure what is missing, and merge again\n"
    )
    assert cli.main(["merge", "half", names[1], names[3], "--out", "all"]) == 0
    assert capsys.readouterr().err == ""
    assert read_document(folder / "all/results.json").run.shard.missing == []
    for name, is_part in (("half", True), ("all", False)):
        assert cli.main(["show", name]) == 0
        assert ("shard 1/4, 3/4" in capsys.readouterr().out) is is_part


@pytest.mark.parametrize("end", [{"signal": 15}, {"wall_s": 0.0}])
def test_a_shard_that_did_not_end_is_named(
    end: dict[str, float], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = parts(2)
    made[1]["context"]["dlbench"] |= end
    names = plant(folder, made)
    assert cli.main(["merge", *names, "--out", "all"]) == 3
    assert "node1: s2 did not end: 40 cells recorded\n" in capsys.readouterr().err
    assert (folder / "all/results.json").is_file()


def test_shards_of_several_machines_are_kept_apart_by_name(folder: Path) -> None:
    names = plant(folder, parts(2)), plant(folder, parts(2), "t")
    words = [
        f"{machine}={run}" for machine, of in zip(("a", "b"), names, strict=True) for run in of
    ]
    assert cli.main(["merge", *words, "--out", "all"]) == 0
    merged = read_document(folder / "all/results.json")
    assert merged.machines == ["a", "b"]
    assert len(merged.of_machine("a").entries) == len(merged.of_machine("b").entries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda own: own["shard"].update(plan="f" * 16), "the plan (libraries, versions, devices)"),
        (lambda own: own["shard"].update(of=3), "the number of shards is 2 in the first and 3"),
        (lambda own: own.update(version="9.9"), "the version of dlbench"),
        (lambda own: own["request"].update(replicas=5), "--replicas is 3 in the first and 5"),
        (lambda own: own["environments"]["default"].update(python="3.9"), "Python in default"),
        (lambda own: own["shard"].update(numbers=[1]), "both hold shard 1/2: name the machines"),
    ],
)
def test_shards_of_different_runs_are_refused(
    change: Any, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = parts(2)
    change(made[1]["context"]["dlbench"])
    names = plant(folder, made)
    assert cli.main(["merge", *names, "--out", "all"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not (folder / "all").exists()


def whole_of(part: dict[str, Any], host: str) -> dict[str, Any]:
    """The run that this is a shard of, as one machine makes it."""
    made = copy.deepcopy(part)
    own = made["context"]["dlbench"]
    own["fingerprint"] = own.pop("shard")["plan"]
    own["request"]["shard"] = ""
    made["context"]["host_name"] = host
    return made


def test_a_whole_run_and_its_shard_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = parts(2)[0]
    plant(folder, [whole_of(shard, "elsewhere")], "whole")
    plant(folder, [shard])
    for words in (["whole1", "s1"], ["s1", "whole1"]):
        assert cli.main(["merge", *words, "--out", "all"]) == 2
        err = capsys.readouterr().err
        assert "whole1 is the whole run of which s1 is a shard: leave out one of them" in err
        assert err.count("\n") == 1
        assert not (folder / "all").exists()
    # Merged before with another machine, it is found as well.
    assert cli.main(["merge", "a=whole1", "b=whole1", "--out", "two"]) == 0
    assert cli.main(["merge", "two", "s1", "--out", "all"]) == 2
    # Named, they are two machines.
    assert cli.main(["merge", "a=whole1", "b=s1", "--out", "all"]) == 3


def test_the_largest_run_is_kept_of_shards_that_do_not_fit() -> None:
    made = [(f"s{n}", doc(part)) for n, part in enumerate(parts(3), 1)]
    odd = parts(3)[0]
    odd["context"]["dlbench"]["environments"]["default"]["python"] = "3.9.1"
    made[0] = ("s1", doc(odd))
    kept, faults = shards.largest_run(made)
    assert [word for word, _ in kept] == ["s2", "s3"]
    assert len(faults) == 1
    assert faults[0].startswith("s1: s2 and s1 are shards of different runs: Python in default is ")


def test_other_hardware_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = parts(2)
    made[1]["context"]["dlbench"]["machine"]["cpu"] = "Another CPU"
    assert cli.main(["merge", *plant(folder, made), "--out", "all"]) == 0
    err = capsys.readouterr().err
    assert "s2 was measured on other hardware (Another CPU" in err


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/10000"])
def test_a_bad_shard_is_one_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--matrix", f"--shard={text}", "--dry-run"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "--shard" in err


def test_a_pair_has_no_shards(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["numpy", "native", "--shard", "1/2"]) == 2
    assert "--shard divides --matrix" in capsys.readouterr().err


@pytest.mark.process
def test_real_shards_have_the_cells_of_the_whole_run(folder: Path) -> None:
    # A budget that also suffices on a busy machine: the runs end earlier.
    line = (
        "--matrix --producers native,numpy --consumers native,numpy "
        "--protocols dlpack,convert,buffer --sizes 4KiB --replicas 1 --budget 20s "
        "--no-plots --quiet"
    )
    options = line.split()
    assert cli.main([*options, "--out", "whole"]) == 0
    for number in (1, 2):
        assert cli.main([*options, "--shard", f"{number}/2", "--out", f"s{number}"]) == 0
    assert cli.main(["merge", "s1", "s2", "--out", "all"]) == 0
    whole, merged = (read_document(folder / name / "results.json") for name in ("whole", "all"))
    assert [e.name for e in merged.entries] == [e.name for e in whole.entries]
    assert merged.run.fingerprint == whole.run.fingerprint
    assert set(merged.environments) == set(whole.environments)
    assert merged.versions("default") == whole.versions("default")
