"""`dlbench compare`: its output for two documents, and its exit status."""

from __future__ import annotations

import copy
import json
import math
import random
import re
import shutil
import statistics
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import other_pythons
import samples
import synthetic
from dlbench import cli, exporters
from dlbench.analysis import compared
from dlbench.compare import gate, stages
from dlbench.document import read_document
from dlbench.running import comparing
from samples import warning_texts
from typed import cell_of, comparison_of

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "results/compare.schema.json").read_text())
REFERENCE = {"median_ns": 60.0, "spread": 0.01, "workers": 20}
Document = dict[str, Any]


def document(seed: int, workers: int = 10, spread: float = 0.01) -> Document:
    """Three libraries at one size, each cell in so many workers that scatter by so much."""
    made = synthetic.document(("native", "numpy", "mlx"), (4096,), failing=0.0)
    made["context"]["dlbench"]["environments"]["default"]["reference_exchange"] = dict(REFERENCE)
    chance = random.Random(seed)
    for entry in made["benchmarks"]:
        entry["workers"] = []
        for _ in range(workers):
            ns = entry["real_time"] * math.exp(chance.gauss(0, spread))
            entry["workers"].append({"median_ns": ns, "first_ns": 1.0, "samples_ns": [ns] * 6})
    return made


def write(folder: Path, name: str, made: Document) -> str:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(made))
    return str(path)


def entry(made: Document, producer: str, consumer: str) -> dict[str, Any]:
    """Of the protocol dlpack by the clock call."""
    (found,) = [
        e
        for e in made["benchmarks"]
        if (e["producer"], e["consumer"]) == (producer, consumer)
        and (e["protocol"], e["clock"]) == ("dlpack", "call")
    ]
    assert isinstance(found, dict)
    return found


def slower(made: Document, factor: float) -> Document:
    """numpy -> numpy takes so many times as long."""
    changed = copy.deepcopy(made)
    one = entry(changed, "numpy", "numpy")
    for worker in one["workers"]:
        worker["median_ns"] *= factor
        worker["samples_ns"] = [ns * factor for ns in worker["samples_ns"]]
    one["real_time"] *= factor
    return changed


def disturbed(made: Document, seed: int) -> Document:
    """Other programs take a part of all rounds but one."""
    changed = copy.deepcopy(made)
    random = np.random.default_rng(seed)
    for one in changed["benchmarks"]:
        for worker in one["workers"]:
            lowest = worker["samples_ns"][0]
            later = lowest * random.uniform(1.05, 1.6, 5)
            worker["samples_ns"] = [lowest, *later]
            worker["median_ns"] = float(np.median(worker["samples_ns"]))
    return changed


@pytest.mark.parametrize(("factor", "result"), [(1.1, "SLOW"), (1.0, "SAME")])
def test_disturbed_rounds_neither_hide_nor_make_a_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], factor: float, result: str
) -> None:
    base = write(tmp_path, "base", disturbed(document(1), 1))
    head = write(tmp_path, "head", disturbed(slower(document(2), factor), 2))
    _, out, _ = run(capsys, base, head, "--json")
    cells = {(one["producer"], one["consumer"]): one for one in json.loads(out)["cells"]}
    assert cells["numpy", "numpy"]["verdict"] == result
    others = {one["verdict"] for pair, one in cells.items() if pair != ("numpy", "numpy")}
    assert others <= {"SAME", "AMBIG", "INCONCLUSIVE"}


def test_a_round_below_0_changes_the_time_of_no_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a phase, whose rounds have the instrument's cost subtracted."""
    sides = []
    for seed in (1, 2):
        made = disturbed(document(seed), seed)
        for one in made["benchmarks"]:
            one["phase"] = "export"
            one["name"] = one["run_name"] = one["name"].replace("exchange/", "export/", 1)
        sides.append(made)
    for one in sides[1]["benchmarks"]:
        one["workers"][0]["samples_ns"][-1] = -0.1
    base, head = (write(tmp_path, name, made) for name, made in zip("ab", sides, strict=True))
    _, out, _ = run(capsys, base, head, "--json")
    verdicts = {one["verdict"] for one in json.loads(out)["cells"]}
    assert verdicts <= {"SAME", "AMBIG", "INCONCLUSIVE"}


@pytest.fixture
def base(tmp_path: Path) -> str:
    return write(tmp_path, "base", document(1))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main(["compare", *words])
    reported = capsys.readouterr()
    return status, reported.out, reported.err


def test_nothing_changed(base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, base, write(tmp_path, "head", document(2)))
    assert (status, err) == (0, "")
    assert "SAME" in out
    assert "minimum detectable change: " in out
    assert "SLOW" not in out


def test_a_slower_cell_is_a_regression(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = write(tmp_path, "head", slower(document(2), 1.1))
    status, out, err = run(capsys, base, head)
    assert (status, err) == (1, "dlbench: a regression: 1 slow\n")
    (row,) = [line for line in out.splitlines() if line.endswith("SLOW") and "->" in line]
    assert row.startswith("numpy -> numpy")
    assert "+10." in row or "+9." in row
    assert run(capsys, base, head, "--fail-on", "outcome,lost")[0] == 0
    assert run(capsys, base, head, "--fail-on", "none")[0] == 0
    assert run(capsys, head, base)[0] == 0  # FAST is none
    assert run(capsys, base, head, "--threshold", "30%")[0] == 0


def test_a_copy_is_a_regression_at_any_speed(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = slower(document(2), 0.5)
    entry(made, "numpy", "numpy")["outcome"] = "copy"
    status, out, err = run(capsys, base, write(tmp_path, "head", made))
    assert status == 1
    assert "1 outcome" in err
    assert "zero-copy -> copy" in out
    assert re.search(r"numpy -> numpy .* worse +FAST\n", out)


def test_a_proven_copy_stands_first_and_is_never_inconclusive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even where most cells are too noisy, and the copy's own time too."""
    sides = [document(seed, 3, 0.1) for seed in (1, 2)]
    moved = entry(sides[1], "numpy", "numpy")
    moved["outcome"] = "copy"
    places = [write(tmp_path, str(number), side) for number, side in enumerate(sides)]
    status, out, err = run(capsys, *places, "--json")
    cells = [cell_of(cell) for cell in json.loads(out)["cells"]]
    first, *others = sorted(cells, key=lambda cell: cell.rank)
    assert (first.name, first.result, first.speed) == (moved["name"], "worse", "INCONCLUSIVE")
    assert "INCONCLUSIVE" in {cell.result for cell in others}
    assert (status, err.splitlines()[0]) == (1, "dlbench: a regression: 1 outcome")
    open_ = json.loads(out)["inconclusive"]["cells"]
    assert open_ == sum(cell.result == "INCONCLUSIVE" for cell in others)
    assert f"{open_} cells of {len(cells)} could hide" in err
    _, out, _ = run(capsys, *places, "--all")
    _, _, table = out.partition("from -> to")
    head, row, detail = table.splitlines()[:3]
    assert head.split()[-2:] == ["verdict", "speed"]
    assert row.split()[-2:] == ["worse", "INCONCLUSIVE"]
    assert detail.strip() == "zero-copy -> copy"
    document_ = read_document(Path(places[1]))
    summary = exporters.summary(document_, comparing.compare(*map(Path, places)))
    assert re.match(r"### What changed: 1 worse, \d+ INCONCLUSIVE", summary)
    red, _, rest = summary.partition("SAME: the change in time is surely below 5.0 %.")
    assert "> [!CAUTION]\n> 1 cell with a worse outcome\n" in red
    (row,) = (line for line in red.splitlines() if "numpy" in line)
    shown = ["| worse", "numpy -> numpy dlpack 4 KiB", "zero-copy -> copy", "INCONCLUSIVE"]
    assert row.split(" | ")[:4] == shown
    assert "zero-copy -> copy" not in rest


def test_workers_that_disagree_fail_no_comparison(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = document(2)
    one = entry(made, "numpy", "numpy")
    one["outcome"] = "copy"
    for number, worker in enumerate(one["workers"]):
        worker["outcome"] = "copy" if number == 0 else "zero-copy"
    status, out, _ = run(capsys, base, write(tmp_path, "head", made))
    assert status == 0
    assert "1 other" in out
    assert "zero-copy -> zero-copy or copy" in out


def test_a_case_that_becomes_a_copy_is_a_regression(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where base left it untimed, since it ended as f32 does."""
    sweeps = synthetic.with_case_sweep(document(1))
    made = copy.deepcopy(sweeps)
    sweep_case = next(
        e
        for e in made["not_measured"]
        if e["case"] == "f64" and (e["producer"], e["consumer"]) == ("numpy", "numpy")
    )
    made["not_measured"].remove(sweep_case)
    timed = copy.deepcopy(entry(made, "numpy", "numpy"))
    timed |= {key: sweep_case[key] for key in ("name", "case", "protocol", "clock")}
    made["benchmarks"].append(timed | {"run_name": sweep_case["name"], "outcome": "copy"})
    sides = write(tmp_path, "base", sweeps), write(tmp_path, "head", made)
    status, out, _ = run(capsys, *sides)
    assert status == 1
    assert "zero-copy -> copy" in out
    status, out, _ = run(capsys, *reversed(sides))
    assert status == 0
    assert "copy -> zero-copy" in out


def test_a_lost_cell(base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = document(2)
    made["benchmarks"].remove(entry(made, "numpy", "numpy"))
    status, out, err = run(capsys, base, write(tmp_path, "head", made))
    assert (status, err) == (1, "dlbench: a regression: 1 lost\n")
    assert "lost" in out
    assert run(capsys, write(tmp_path, "head", made), base)[0] == 0


def test_three_processes_that_cannot_see_the_threshold_are_inconclusive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gate that cannot fail is not green, and says how many replicas would do."""
    noisy = [write(tmp_path, str(seed), document(seed, 3, 0.02)) for seed in (1, 2)]
    status, out, err = run(capsys, *noisy, "--all")
    assert status == gate.CANNOT_FAIL == 4
    assert "INCONCLUSIVE" in out
    assert "too-few-processes: about --replicas" in out
    # An open cell still excludes large changes.
    assert re.search(r"detects [\d.]+ %, excludes changes above [\d.]+ % \(95 %\); too-few", out)
    assert err.startswith("dlbench: too noisy to find a regression: ")
    assert err.count("\n") == 1
    assert run(capsys, *noisy, "--fail-on", "slow,outcome,lost")[0] == 0
    assert run(capsys, *noisy, "--fail-on", "none")[0] == 0
    comparison = json.loads(run(capsys, *noisy, "--json")[1])
    jsonschema.Draft202012Validator(SCHEMA).validate(comparison)
    open_ = comparison["inconclusive"]
    inconclusive = [cell for cell in comparison["cells"] if cell["verdict"] == "INCONCLUSIVE"]
    assert len(inconclusive) == open_["cells"] == comparison["counts"]["INCONCLUSIVE"]
    assert all(cell["minimum_detectable_change"] > 0.05 for cell in inconclusive)
    assert {cell["inconclusive"]["code"] for cell in inconclusive} == {"too-few-processes"}
    replicas = open_["replicas"]
    assert replicas == max(cell["inconclusive"]["replicas"] for cell in inconclusive)
    assert f"--replicas {replicas} on each side" in err
    sides = [write(tmp_path, str(seed), document(seed, replicas, 0.02)) for seed in (3, 4)]
    assert run(capsys, *sides)[0] == 0


def test_what_no_number_of_replicas_decides_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noisy = [write(tmp_path, str(seed), document(seed, 3, 0.5)) for seed in (1, 2)]
    status, out, err = run(capsys, *noisy, "--json")
    found = json.loads(out)["inconclusive"]
    assert (status, found["replicas"], found["unknown"]) == (4, None, 0)
    assert found["undecidable"] == found["cells"] > 0
    assert "no number of replicas up to 60 would detect it on this machine: measure both" in err
    single = [write(tmp_path, str(seed), document(seed, 1)) for seed in (1, 2)]
    status, out, err = run(capsys, *single, "--json")
    found = json.loads(out)["inconclusive"]
    assert status == 4
    assert found["unknown"] == found["cells"] == found["of"]
    assert "the spread between processes is not known for" in err


def test_a_regression_is_one_whatever_else_is_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = document(2, 3, 0.2)
    entry(made, "numpy", "numpy")["outcome"] = "copy"
    sides = write(tmp_path, "base", document(1, 3, 0.2)), write(tmp_path, "head", made)
    status, _, err = run(capsys, *sides)
    assert status == 1
    assert "too noisy to find a regression: " in err


def test_a_library_that_one_side_lacks_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = document(2)
    lacking = [e for e in made["benchmarks"] if "mlx" not in (e["producer"], e["consumer"])]
    gone = len(made["benchmarks"]) - len(lacking)
    libraries = made["context"]["dlbench"]["environments"]["default"]["libraries"]
    libraries |= {"mlx": "1.0"}
    base = write(tmp_path, "base", made)
    made = copy.deepcopy(made)
    made["benchmarks"] = lacking
    del made["context"]["dlbench"]["environments"]["default"]["libraries"]["mlx"]
    head = write(tmp_path, "head", made)
    status, out, err = run(capsys, base, head)
    assert (status, err) == (1, f"dlbench: a regression: {gone} lost\n")
    (line,) = [line for line in out.splitlines() if line.startswith("lost: ")]
    assert line == f"lost: {gone} cells with mlx"
    assert not [line for line in out.splitlines() if "->" in line and line.endswith("lost")]
    out = run(capsys, base, head, "--all")[1]
    assert len([line for line in out.splitlines() if line.endswith("lost")]) == gone


def with_request(made: Document, **options: Any) -> Document:
    made["context"]["dlbench"]["request"] = {"sizes": ["4KiB"], "replicas": 6, **options}
    return made


def of_size(made: Document, size: int) -> Document:
    text = json.dumps(made).replace("bytes:4096", f"bytes:{size}")
    made = json.loads(text.replace('"bytes": 4096', f'"bytes": {size}'))
    assert isinstance(made, dict)
    return made


def test_runs_with_other_options_are_compared_where_both_have_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small, large = document(1), of_size(document(1), 65536)
    base = with_request(document(1), sizes=["4KiB", "64KiB"])
    base["benchmarks"] += large["benchmarks"]
    base["not_measured"] += large["not_measured"]
    head = with_request(document(2), seed=2, budget="90s")
    sides = write(tmp_path, "base", base), write(tmp_path, "head", head)
    for one, other, left in ((*sides, "base"), (*reversed(sides), "head")):
        comparison = json.loads(run(capsys, one, other, "--json")[1])
        assert comparison["counts"]["lost"] == comparison["counts"]["gained"] == 0
        assert comparison["left_out"][left] == len(large["benchmarks"])
        assert len(comparison["cells"]) == len(small["benchmarks"])
        (line,) = [text for text in warning_texts(comparison) if "sizes" in text]
        assert "budget" not in line
    assert run(capsys, *sides)[0] == 0
    # What is gone for another reason is lost all the same.
    gone = [e["name"] for e in head["benchmarks"] if "mlx" in (e["producer"], e["consumer"])]
    head["benchmarks"] = [e for e in head["benchmarks"] if e["name"] not in gone]
    status, out, _ = run(capsys, sides[0], write(tmp_path, "without", head), "--json")
    assert status == 1
    assert json.loads(out)["counts"]["lost"] == len(gone) > 0


def test_what_has_no_protocol_is_never_lost(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(Path(base).read_text())
    cell = {"phase": "exchange", "clock": "call", "producer": "numpy", "consumer": "none",
            "protocol": "dlpack", "device": "cpu", "case": "f32", "bytes": 4096,
            "environment": "default", "outcome": "no-protocol", "code": "no-protocol",
            "reason": "no call"}  # fmt: skip
    none = samples.missing("numpy", "none", "no-protocol", "no call") | cell
    made["not_measured"].append(none)
    more = write(tmp_path, "more", made)
    for sides in ((more, base), (base, more)):
        status, out, err = run(capsys, *sides, "--json")
        assert (status, err) == (0, "")
        counts = json.loads(out)["counts"]
        assert counts["lost"] == counts["gained"] == 0


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider(
    width: int,
    base: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    head = write(tmp_path, "head", slower(document(2), 1.1))
    out = run(capsys, base, head, "--all")[1]
    assert max(map(len, out.splitlines())) <= width


def test_json_is_as_its_schema_says(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = slower(document(2), 1.1)
    made["benchmarks"].remove(entry(made, "native", "numpy"))
    out = run(capsys, base, write(tmp_path, "head", made), "--json")[1]
    comparison = json.loads(out)
    jsonschema.Draft202012Validator(SCHEMA).validate(comparison)
    assert comparison["counts"]["SLOW"] == comparison["counts"]["lost"] == 1
    names = [cell["name"] for cell in comparison["cells"]]
    assert names == sorted(names)
    assert len(names) == len(document(1)["benchmarks"])
    (slow,) = [cell for cell in comparison["cells"] if cell["verdict"] == "SLOW"]
    assert slow["lo"] < slow["ratio"] < slow["hi"]
    assert slow["p"] <= 0.01


def test_base_head_and_change_come_from_one_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two modes: the ranks estimate a change of +10 %, the medians of -80 %."""
    sides = {"base": [100.0] * 5 + [1000.0] * 6, "head": [200.0] * 6 + [1100.0] * 5}
    runs = []
    for name, medians in sides.items():
        made = document(1)
        one = entry(made, "numpy", "numpy")
        one["real_time"] = statistics.median(medians)
        one["workers"] = [
            {"median_ns": ns, "first_ns": 1.0, "samples_ns": [ns] * 6} for ns in medians
        ]
        runs.append(write(tmp_path, name, made))
    cells = json.loads(run(capsys, *runs, "--json")[1])["cells"]
    for cell in (each for each in cells if each["ratio"] is not None):
        assert cell["ratio"] == cell["head"] / cell["base"]
        assert cell["lo"] <= cell["ratio"] <= cell["hi"]
        if cell["base"] == 1000:
            assert cell["ratio"] == 0.2
            assert cell["verdict"] not in ("SLOW", "FAST")


def test_other_machines_are_refused(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = document(2)
    made["context"]["dlbench"]["machine"] |= {"cpu": "Another", "cores": 64}
    head = write(tmp_path, "head", made)
    status, out, err = run(capsys, base, head)
    assert (status, out) == (2, "")
    assert "cpu" in err
    assert "cores" in err
    assert "--force" in err
    assert run(capsys, base, head, "--force")[0] == 0
    made = document(2)
    made["context"] |= {"host_name": "elsewhere", "mhz_per_cpu": 1}
    assert run(capsys, base, write(tmp_path, "head", made))[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["RUN"], "compare needs two runs"),
        (["RUN", "nowhere"], "no run 'nowhere'"),
        (["RUN", "RUN", "--fail-on", "slw"], "did you mean 'slow'?"),
        (["RUN", "RUN", "--threshold", "5"], "5"),
        (["RUN", "RUN", "--count", "cycles"], "allowed: instructions"),
        (
            ["RUN", "OTHER", "--count", "instructions"],
            "no cell has an instruction count on both sides",
        ),
        (["RUN", "RUN"], "base and head are the same run ("),
        (["RUN", "RUN", "--junit", "new.xml"], "): nothing can have changed"),
        (["RUN", "COPY"], "copy.json are equal): nothing can have changed"),
        (["RUN", "RUN", "--sizes", "4KiB"], "--sizes needs a measurement"),
        (["--aa"], "nothing to compare"),
        (["--aa", "--matrix", "--base-env", "a=python"], "--aa has this environment"),
        (["native", "native", "--base-env", "a=python"], "two environments"),
    ],
)
def test_bad_use_is_one_line(
    words: list[str], message: str, base: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    places = {"RUN": base, "COPY": str(shutil.copy(base, tmp_path / "copy.json"))}
    places["OTHER"] = write(tmp_path, "other", document(2))
    status, out, err = run(capsys, *[places.get(word, word) for word in words])
    assert (status, out) == (2, "")
    assert err.startswith("dlbench: ")
    assert message in err
    assert err.count("\n") == 1


def test_the_words_of_a_row() -> None:
    cell = {"presence": "both", "outcome_change": None, "verdict": "SLOW"}
    assert cell_of(cell).result == "SLOW"
    assert cell_of(cell | {"outcome_change": "worse"}).result == "worse"
    assert cell_of(cell | {"outcome_change": "worse"}).speed == "SLOW"
    assert cell_of(cell | {"presence": "lost", "verdict": None}).result == "lost"
    assert [compared.change(ratio) for ratio in (1.05, 0.9, 3.0)] == ["+5.0 %", "-10 %", "x 3.00"]


def test_the_table_prints_no_digits_that_the_interval_does_not_support() -> None:
    known = cell_of({"base": 41.234, "ratio": 1.2361, "lo": 1.2, "hi": 1.269})
    assert compared.change(1.2361, known.share) == "+24 %"
    assert compared.amount(41.234, "time", known.share) == "41 ns"
    assert compared.change(3.0, 0.2) == "x 3.0"
    unknown = cell_of({"base": 41.234, "ratio": 1.2361})
    assert compared.change(1.0361, unknown.share) == "+3.6 %"
    assert compared.amount(41.234, "time", unknown.share) == "41.2 ns"


def test_a_cell_that_was_not_compared_is_not_reported_as_the_same() -> None:
    cell = {"presence": "both", "outcome_change": None, "verdict": None, "base": 1.0, "head": None}
    assert cell_of(cell).result == ""
    assert not cell_of(cell).is_changed
    assert cell_of(cell | {"base": None}).result == ""


def test_a_count_that_failed_fails_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = document(1)
    for one in made["benchmarks"]:
        one["instructions"] = 1000
    failed = copy.deepcopy(made)
    del entry(failed, "numpy", "numpy")["instructions"]
    sides = [write(tmp_path, "base", made), write(tmp_path, "head", failed)]
    status, out, err = run(capsys, *sides, "--count", "instructions")
    assert (status, err) == (1, "dlbench: a regression: 1 lost\n")
    assert "not counted in head" in out


def test_exit_statuses() -> None:
    counts = dict.fromkeys(("SLOW", "worse", "lost", "AMBIG", "INCONCLUSIVE"), 0)
    nothing = {"cells": 0, "of": 4, "replicas": None}
    observed: dict[str, Any] = {"counts": counts | {"AMBIG": 1}, "inconclusive": nothing}
    assert gate.status(comparison_of(observed), gate.ALL) == 0  # what matters would have been seen

    def with_cells(cells: int) -> dict[str, Any]:
        return observed | {"inconclusive": nothing | {"cells": cells}, "threshold": 0.05}

    assert gate.status(comparison_of(with_cells(1)), gate.ALL) == 3
    assert gate.status(comparison_of(with_cells(2)), gate.ALL) == 3  # half of them
    assert gate.status(comparison_of(with_cells(3)), gate.ALL) == 4
    assert gate.status(comparison_of(with_cells(4)), ("slow",)) == 0
    bad = with_cells(4) | {"counts": counts | {"worse": 2}}
    assert gate.status(comparison_of(bad), gate.ALL) == 1
    assert gate.failures(comparison_of(bad), gate.ALL) == ["2 outcome"]
    assert gate.status(comparison_of(bad), ("slow", "inconclusive")) == 4


def test_workers_are_requested_where_cells_are_open() -> None:
    cell = {"verdict": "SAME", "lo": 0.5, "hi": 2.0, "producer": "a", "consumer": "b",
            "base_workers": 6, "head_workers": 6, "minimum_detectable_change": 0.1}  # fmt: skip
    slow = cell | {"verdict": "SLOW", "producer": "d"}
    comparison: dict[str, Any] = {"cells": [cell, slow], "false_alarms": 0.01, "threshold": 0.05}
    assert stages.open_directions(comparison_of(comparison)) == set()
    assert stages.workers_wanted(comparison_of(comparison), 6, 60) == 6
    comparison["cells"].append(cell | {"verdict": "INCONCLUSIVE", "producer": "c"})
    assert stages.open_directions(comparison_of(comparison)) == {("c", "b")}
    assert stages.workers_wanted(comparison_of(comparison), 6, 60) == 11
    assert stages.workers_wanted(comparison_of(comparison), 6, 8) == 8


def test_the_analyses_share_the_chance_of_a_false_alarm() -> None:
    alarms = [stages.alarms_of(number, workers, 60) for number, workers in enumerate((6, 11, 60))]
    assert alarms[0] == alarms[1] < alarms[2]
    assert sum(alarms) == pytest.approx(0.01)
    assert stages.alarms_of(0, 6, 6) == pytest.approx(0.01)


def test_where_nothing_is_measured_nothing_is_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["faulty:wrong-values", "native"]
    assert run(capsys, *words, "--aa", "--out", str(tmp_path / "none"))[0] == 2
    words = ["--matrix", "--producers", "faulty:wrong-name", "--consumers", "native"]
    words += ["--protocols", "dlpack", "--sizes", "4KiB", "--aa", "--workers", "1"]
    status, out, err = run(capsys, *words, "--out", str(tmp_path / "refused"))
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("dlbench: nothing could be measured: 1 refused; ")


def test_two_sides_interleaved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A/A of the native halves: both environments in one run, alternating; no alarm."""
    out = tmp_path / "aa"
    words = ["native", "native", "--protocols", "dlpack", "--sizes", "4KiB", "--aa", "--json"]
    words += ["--fail-on", "slow,outcome,lost"]  # seven may be too few on a busy machine
    status, reported, _ = run(capsys, *words, "--out", str(out), "--workers", "7")
    comparison = json.loads(reported)
    assert [comparison[side]["environment"] for side in ("base", "head")] == ["base", "head"]
    jsonschema.Draft202012Validator(SCHEMA).validate(comparison)
    assert status == 0
    assert comparison["aa"]["cells"] == 1
    assert comparison["aa"]["alarms"] == 0
    (cell,) = comparison["cells"]
    assert cell["base_workers"] == cell["head_workers"] >= 6
    first = json.loads((out / "results.json").read_text())
    assert first["context"]["dlbench"]["request"]["replicas"] == 6  # the seventh came later
    assert json.loads((out / "comparison.json").read_text())["cells"] == [cell]
    assert_interleaved(out)


def assert_interleaved(folder: Path) -> None:
    """Each replica has both sides, in either order."""
    workers = [
        line["worker"]["environment"]
        for line in map(json.loads, (folder / "journal.jsonl").read_text().splitlines())
        if "worker" in line
    ]
    sides = frozenset(workers)
    assert [frozenset(workers[i : i + 2]) for i in range(0, len(workers), 2)] == [sides] * (
        len(workers) // 2
    )
    assert len(sides) == 2


def test_a_side_that_is_slow_to_import_is_measured_in_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = tmp_path / "python"
    slow.write_text(f'#!/bin/sh\nsleep 0.5\nexec {sys.executable} "$@"\n')
    slow.chmod(0o755)
    words = ["native", "native", "--protocols", "dlpack", "--sizes", "4KiB", "--workers", "4"]
    words += ["--jobs", "3", "--out", str(tmp_path / "run"), "--fail-on", "none"]
    words += [f"--base-env=old={slow}", f"--head-env=new={sys.executable}"]
    assert run(capsys, *words)[0] == 0
    assert_interleaved(tmp_path / "run")


def test_two_environments_interleaved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each side has its own name and interpreter; here both are this one."""
    words = ["--matrix", "--producers", "native", "--consumers", "native", "--protocols", "dlpack"]
    words += ["--sizes", "4KiB", "--json", "--workers", "2", "--out", str(tmp_path / "run")]
    words += ["--fail-on", "slow,outcome,lost"]
    words += [f"--base-env=old={sys.executable}", f"--head-env=new={sys.executable}"]
    status, reported, _ = run(capsys, *words)
    comparison = json.loads(reported)
    assert status == 0
    assert comparison["base"]["environment"] == "old"
    assert comparison["head"]["environment"] == "new"
    (cell,) = comparison["cells"]
    assert cell["base_workers"] == cell["head_workers"] == 2
    assert "environment" not in cell["name"]
    status, _, err = run(capsys, "native", "native", "--base-env=a=/nowhere", "--head-env=b=/none")
    assert status == 2
    assert "/nowhere: no such file" in err
    bare = other_pythons.answering(tmp_path / "bare", numpy=False)
    words = ["native", "native", f"--base-env=bare={bare}", f"--head-env=new={sys.executable}"]
    status, _, err = run(capsys, *words)
    assert status == 2
    assert "environment 'bare': no NumPy, which every worker needs" in err


@pytest.fixture
def cut_off(tmp_path: Path) -> tuple[Path, str]:
    """A comparison of which a part of the first look is there, and what it was in all."""
    folder = tmp_path / "cut"
    words = ["native", "native", "--protocols", "dlpack", "--sizes", "4KiB,8KiB", "--aa"]
    words += ["--fail-on", "none", "--quiet"]
    assert cli.main(["compare", *words, "--out", str(folder), "--workers", "7"]) == 0
    whole = (folder / "comparison.json").read_text()
    (folder / "comparison.json").unlink()
    (folder / "results.json").unlink()
    journal = folder / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if '{"entry"' in line)
    journal.write_text("".join(lines[: first + 1]))
    return folder, whole


def test_a_comparison_goes_on(
    cut_off: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, whole = cut_off
    capsys.readouterr()
    status, out, _ = run(capsys, "--resume", str(folder), "--json", "--fail-on", "none")
    assert status == 0
    comparison = json.loads(out)
    assert json.loads((folder / "comparison.json").read_text()) == comparison
    before = json.loads(whole)
    names = [cell["name"] for cell in before["cells"]]
    assert [cell["name"] for cell in comparison["cells"]] == names
    assert comparison["threshold"] == before["threshold"]
    assert comparison["aa"]["cells"] == 2
    # Once more there is nothing left to do, and the same comes out.
    again = run(capsys, "--resume", str(folder), "--json")
    assert json.loads(again[1])["cells"] == comparison["cells"]


def test_only_a_comparison_is_resumed_as_one(
    cut_off: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = cut_off
    capsys.readouterr()
    assert cli.main(["--resume", str(folder)]) == 2
    assert "dlbench compare --resume" in capsys.readouterr().err
    status, _, err = run(capsys, "--resume", str(folder), "--threshold", "1%")
    assert (status, "leave out --threshold" in err) == (2, True)
    status, _, err = run(capsys, "--resume", str(tmp_path / "none"))
    assert (status, "no such folder" in err) == (2, True)
    words = ["native", "native", "--protocols", "dlpack", "--sizes", "4KiB", "--no-plots"]
    assert cli.main([*words, "--out", str(tmp_path / "plain"), "--quiet"]) == 0
    status, _, err = run(capsys, "--resume", str(tmp_path / "plain"))
    assert (status, "holds a run, not a comparison" in err) == (2, True)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_counts_of_two_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both sides are counted, each in its own environment; equal sides are equal to a hair."""
    words = ["native", "native", "--protocols", "dlpack", "--sizes", "4KiB", "--json"]
    words += ["--count", "instructions", "--out", str(tmp_path / "run")]
    words += [f"--base-env=old={sys.executable}", f"--head-env=new={sys.executable}"]
    status, reported, err = run(capsys, *words)
    assert (status, err) == (0, "")
    comparison = json.loads(reported)
    jsonschema.Draft202012Validator(SCHEMA).validate(comparison)
    assert (comparison["metric"], comparison["threshold"]) == ("instructions", 0.01)
    (cell,) = comparison["cells"]
    assert cell["verdict"] == "SAME"
    assert cell["base"] == pytest.approx(cell["head"], rel=0.001)


def test_verbs_know_the_sides_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "aa")
    words = ["native", "numpy", "--protocols", "dlpack", "--sizes", "4KiB", "--aa", "--quiet"]
    words += ["--fail-on", "none"]
    assert cli.main(["compare", *words, "--workers", "2", "--out", out]) == 0
    capsys.readouterr()
    for side in ("base", "head"):
        assert cli.main(["show", out, "native", "numpy", side]) == 0
        assert f"environment:{side}" in capsys.readouterr().out.replace("\n", "")
        assert cli.main(["repro", out, "native", "numpy", side]) == 0
        assert "from_dlpack" in capsys.readouterr().out
