"""Exports: read back by their readers where those install, else held against their rules."""

from __future__ import annotations

import copy
import csv
import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dlbench.exporters import FORMATS, export, markdown, rows

import comparisons
import dlbench
import samples
import synthetic
from dlbench import cli, exporters
from dlbench.command import merge
from dlbench.errors import BadInput
from typed import comparison_of, doc, parts_of

pytestmark = pytest.mark.process

DOCUMENTS = {
    "pair": samples.pair(),
    "matrix": samples.matrix(),
    "phases": synthetic.with_phases(synthetic.document(("numpy", "torch", "jax"))),
}
NUMBERLESS = samples.document(samples.missing("numpy", "torch", "refused", "no"))


@pytest.fixture(params=DOCUMENTS)
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    return DOCUMENTS[request.param]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "results.json").write_text(json.dumps(samples.pair()))
    return tmp_path


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_depends_on_the_document_alone(name: str, document: dict[str, Any]) -> None:
    before = json.dumps(document)
    assert export(doc(document), name) == export(doc(document), name)
    assert export(doc(document), name).endswith("\n")
    assert json.dumps(document) == before


def no_constant(text: str) -> float:
    raise AssertionError(f"{text} is no JSON")


def bencher_complaints(text: str) -> list[str]:
    """Bencher's rules for its metric format."""
    complaints = []
    for name, measures in json.loads(text, parse_constant=no_constant).items():
        if not 0 < len(name) <= 1024:
            complaints.append("name")
        for slug, metric in measures.items():
            if not (re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) and len(slug) <= 64):
                complaints.append("slug")
            if not set(metric) <= {"value", "lower_value", "upper_value"}:
                complaints.append("key")
            if not all(math.isfinite(number) for number in metric.values()):
                complaints.append("number")
            low, high = metric.get("lower_value", -math.inf), metric.get("upper_value", math.inf)
            if not low <= metric["value"] <= high:
                complaints.append("bounds")
        if "latency" not in measures:
            complaints.append("latency")
    return complaints


def test_bencher_takes_its_format(document: dict[str, Any]) -> None:
    text = export(doc(document), "bmf")
    assert bencher_complaints(text) == []
    made = json.loads(text)
    assert set(made) == {entry["name"] for entry in document["benchmarks"]}
    for entry in document["benchmarks"]:
        metric = made[entry["name"]]["latency"]
        assert metric["value"] == entry["real_time"]
        assert (metric["lower_value"], metric["upper_value"]) == (entry["lo_ns"], entry["hi_ns"])


def test_bencher_gets_the_other_measures_and_short_names() -> None:
    long = "x" * 1000
    entries = [
        samples.measured(long + end, "torch", 5.0, gb_per_s=2.0, instructions=7) for end in "ab"
    ]
    text = export(doc(samples.document(*entries)), "bmf")
    assert bencher_complaints(text) == []
    made = json.loads(text)
    assert len(made) == 2
    assert all(of["instructions"] == {"value": 7} for of in made.values())
    assert all(of["gb-per-second"] == {"value": 2.0} for of in made.values())


def test_bencher_gets_bounds_that_enclose_the_value() -> None:
    entry = samples.measured("numpy", "torch", 5.0, lo_ns=5.5, hi_ns=6.0)
    assert bencher_complaints(export(doc(samples.document(entry)), "bmf")) == []


@pytest.mark.parametrize(
    "text",
    ['{"a": {"latency": {"value": 2, "lower_value": 3}}}', '{"a": {"La Tency": {"value": 1}}}',
     '{"a": {"latency": {"value": 1, "unit": 2}}}', '{"": {"latency": {"value": 1}}}'],
)  # fmt: skip
def test_benchers_rules_can_be_broken(text: str) -> None:
    assert bencher_complaints(text)


def github_complaints(text: str) -> list[str]:
    """github-action-benchmark's rules for custom data, and how it reads a range."""
    complaints, names = [], set()
    for item in json.loads(text, parse_constant=no_constant):
        kinds = {"name": str, "unit": str, "value": (int, float), "range": str, "extra": str}
        if set(item) - set(kinds) or {"name", "unit", "value"} - set(item):
            complaints.append("keys")
        if not all(isinstance(value, kinds[key]) for key, value in item.items()):
            complaints.append("kind")
        if not re.fullmatch(r"(\u00b1|\+-) ?\d+(\.\d+)?", item["range"]):
            complaints.append("range")
        names.add(item["name"])
    if len(names) != len(json.loads(text)):
        complaints.append("a name occurs twice")
    return complaints


def test_github_action_benchmark_takes_its_format(document: dict[str, Any]) -> None:
    text = export(doc(document), "github-action")
    assert github_complaints(text) == []
    for item, entry in zip(json.loads(text), document["benchmarks"], strict=True):
        assert (item["name"], item["value"], item["unit"]) == (
            entry["name"], entry["real_time"], "ns",
        )  # fmt: skip
        half = float(item["range"].split()[1])
        longer = max(entry["hi_ns"] - item["value"], item["value"] - entry["lo_ns"])
        assert half == pytest.approx(longer, rel=1e-5)


@pytest.mark.parametrize("ns", [0.0123, 3.3, 4.5e8, 7.1e12])
def test_a_range_has_no_exponent(ns: float) -> None:
    text = export(doc(samples.document(samples.measured("numpy", "torch", ns))), "github-action")
    assert github_complaints(text) == []


def test_pyperf_reads_its_format(document: dict[str, Any], tmp_path: Path) -> None:
    pyperf = pytest.importorskip("pyperf")
    path = tmp_path / "pyperf.json"
    path.write_text(export(doc(document), "pyperf"))
    suite = pyperf.BenchmarkSuite.load(str(path))
    assert suite.get_benchmark_names() == [entry["name"] for entry in document["benchmarks"]]
    for entry in document["benchmarks"]:
        read = suite.get_benchmark(entry["name"])
        rounds = [ns for worker in entry["workers"] for ns in worker["samples_ns"] if ns > 0]
        assert read.get_values() == pytest.approx([ns * 1e-9 for ns in rounds])
        assert read.get_unit() == "second"
    line = [sys.executable, "-m", "pyperf", "compare_to", str(path), str(path)]
    told = subprocess.run(line, capture_output=True, text=True, check=True)
    # With one value a side pyperf makes no test, and says so beside "no change".
    assert "no change" in told.stdout or "not significant" in told.stdout


def test_pyperf_gets_the_loops_of_each_process() -> None:
    pyperf = pytest.importorskip("pyperf")
    worker = {"median_ns": 2.0, "first_ns": 0, "samples_ns": [2.0, 3.0]}
    entry = samples.measured("numpy", "torch", 2.0, workers=[worker, worker | {"iterations": 7}])
    suite = pyperf.BenchmarkSuite.loads(export(doc(samples.document(entry)), "pyperf"))
    runs = suite.get_benchmark(entry["name"]).get_runs()
    assert [run.get_loops() for run in runs] == [entry["iterations"], 7]


def test_pyperf_gets_no_time_below_zero() -> None:
    pyperf = pytest.importorskip("pyperf")
    worker = {"median_ns": 2.0, "first_ns": 0, "samples_ns": [-1.0, 2.0, 3.0]}
    none = {"median_ns": 1.5, "first_ns": 9.0, "samples_ns": [-1.0]}
    entry = samples.measured("numpy", "torch", 2.0, phase="export", workers=[worker, none])
    suite = pyperf.BenchmarkSuite.loads(export(doc(samples.document(entry)), "pyperf"))
    values = suite.get_benchmark(entry["name"]).get_values()
    assert values == pytest.approx((2e-9, 3e-9, 1.5e-9))


def test_csv_has_a_row_a_cell_and_empty_is_not_zero(document: dict[str, Any]) -> None:
    table = list(csv.DictReader(io.StringIO(export(doc(document), "csv"))))
    entries = document["benchmarks"] + document["not_measured"]
    assert list(table[0]) == list(rows.COLUMNS)
    assert [row["name"] for row in table] == [entry["name"] for entry in entries]
    for row, entry in zip(table, entries, strict=True):
        if "real_time" in entry:
            assert float(row["real_time"]) == entry["real_time"]
        else:
            assert row["real_time"] == ""
            assert row["reason"] == entry["reason"]


def test_csv_leaves_out_a_key_of_the_other_kind_of_cell() -> None:
    both = samples.document(
        samples.measured("numpy", "torch", 2.0) | {"below_ns": 1.0, "reason": "none"},
        samples.missing("numpy", "jax", "crashed", "SIGSEGV") | {"lo_ns": 1.0, "instructions": 5},
    )
    first, last = csv.DictReader(io.StringIO(export(doc(both), "csv")))
    assert (first["reason"], last["lo_ns"]) == ("", "")


def test_a_first_call_that_nobody_made_is_empty() -> None:
    none = {"median_ns": 2.0, "first_ns": 0, "samples_ns": [2.0]}
    made = samples.document(
        samples.measured("numpy", "torch", 2.0),
        samples.measured("numpy", "torch", 2.0, phase="export", workers=[none]),
    )
    told = csv.DictReader(io.StringIO(export(doc(made), "csv")))
    assert [row["first_ns"] for row in told] == ["100.0", ""]


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_load_gives_a_frame(frame: str, run: Path) -> None:
    pytest.importorskip(frame)
    loaded = dlbench.load(run, frame)
    assert list(loaded.columns) == list(rows.COLUMNS)
    measured = loaded[loaded["real_time"] > 0] if frame == "pandas" else loaded.drop_nulls("lo_ns")
    assert len(loaded) - len(measured) == len(samples.pair()["not_measured"])
    assert int(loaded["bytes"].max()) == 262144


def test_pandas_reads_the_csv_as_load_gives_it(run: Path) -> None:
    pandas = pytest.importorskip("pandas")
    text = export(doc(samples.pair()), "csv")
    loaded = dlbench.load(run)
    read = pandas.read_csv(io.StringIO(text), dtype=dict(loaded.dtypes), keep_default_na=False,
                           na_values={name: [""] for name in loaded.columns})  # fmt: skip
    empty = dict.fromkeys(("changed", "warnings"), "")
    pandas.testing.assert_frame_equal(loaded.fillna(empty), read.fillna(empty))


def test_load_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no run"):
        dlbench.load(tmp_path / "nothing")
    with pytest.raises(BadInput, match="unknown frame 'arrow'; allowed: pandas, polars"):
        dlbench.load(tmp_path, "arrow")


def test_markdown_counts_first_and_folds_the_rest() -> None:
    text = export(doc(DOCUMENTS["matrix"]), "markdown")
    head, *folded = text.split("<details>")
    assert "exchanges measured" in head.splitlines()[0]
    assert "| zero-copy | " in head
    assert "| crashed | torch -&gt; warp".replace("&gt;", ">") in head
    assert any("Without a number" in part for part in folded)
    assert any("All cells" in part for part in folded)
    assert text.count("<details>") == text.count("</details>")


def test_markdown_keeps_foreign_text_in_its_cell() -> None:
    evil = "a|b <script>`x`\nsecond"
    entry = samples.missing("numpy", "torch", "crashed", evil)
    text = export(doc(samples.document(entry)), "markdown")
    assert "<script>" not in text
    lines = [line for line in text.splitlines() if line.startswith("| crashed | numpy")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines] == [4, 6]


def test_markdown_stays_under_its_limit() -> None:
    names = [f"library{i:02}" for i in range(70)]
    large = synthetic.document(names, protocols=("dlpack",))
    text = export(doc(large), "markdown")
    assert 100_000 < len(text.encode()) < 1024 * 1024
    assert "Left out for its size: " in text.splitlines()[-1]
    assert "Left out" not in export(doc(DOCUMENTS["matrix"]), "markdown")
    small = markdown.export(doc(large), most_bytes=20_000)
    assert len(small.encode()) <= 20_000


@pytest.mark.parametrize("name", FORMATS)
def test_the_verb_prints_or_writes(
    name: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", str(run), "--format", name]) == 0
    printed = capsys.readouterr().out
    assert printed == export(doc(samples.pair()), name)
    target = run / "made"
    line = ["export", str(run), "--format", name, "--output", str(target)]
    assert cli.main(line) == 0
    assert target.read_text() == printed
    assert sorted(path.name for path in run.iterdir()) == ["made", "results.json"]


def test_nothing_is_overwritten_without_force(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = run / "made"
    target.write_text("mine")
    line = ["export", str(run), "--format", "csv", "--output", str(target)]
    assert cli.main(line) == 2
    assert capsys.readouterr().err == (
        f"dlbench: --output {target}: is there already; --force replaces it\n"
    )
    assert target.read_text() == "mine"
    assert cli.main([*line, "--force"]) == 0
    assert target.read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "bfm"], "unknown format 'bfm' (did you mean 'bmf'?); allowed: bmf, "),
        (["--format", "csv", "--base", "."], "--base is for --format markdown: csv holds one run"),
        (["--format", "csv", "--output", "."], "--output .: is a folder"),
        (
            ["--format", "csv", "--output", "no/such/file"],
            "--output no/such/file: there is no folder",
        ),
    ],
)
def test_bad_use_is_one_line(
    words: list[str], said: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", str(run), *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1


def of_two_machines() -> dict[str, Any]:
    return merge.of_parts(parts_of([("box", samples.pair()), ("gpu", samples.matrix())]))


@pytest.mark.parametrize("name", FORMATS)
def test_rows_of_several_machines_are_told_apart(name: str) -> None:
    text = export(doc(of_two_machines()), name)
    for machine in ("box", "gpu"):
        assert (
            f"machine:{machine}" in text
            or f"| {machine} " in text
            or f"{machine} \u00b7" in text
            or f"# {machine}\n" in text
        )
    assert bencher_complaints(text) == [] if name == "bmf" else True
    assert github_complaints(text) == [] if name == "github-action" else True


def test_each_machine_has_its_own_libraries() -> None:
    made = of_two_machines().to_json()
    made["context"]["dlbench"]["machines"]["gpu"]["environments"]["default"]["libraries"] = {
        "numpy": "9.9"
    }
    items = json.loads(export(doc(made), "github-action"))
    extra = {item["name"].split("machine:")[1]: item["extra"] for item in items
             if "producer:numpy/consumer:numpy/protocol:dlpack/" in item["name"]}  # fmt: skip
    assert "numpy 2.4.6" in extra["box"]
    assert "numpy 9.9" in extra["gpu"]
    text = export(doc(made), "markdown")
    assert "gpu \u00b7 Ryzen 9 7950X \u00b7 numpy 9.9" in text
    assert "<summary>gpu   cpu   4 KiB   dlpack" in text


def test_the_summary_says_what_changed() -> None:
    base, head = samples.pair(), copy.deepcopy(samples.pair())
    head["benchmarks"][2]["real_time"] *= 2
    head["benchmarks"][3]["outcome"] = "copy"
    head["benchmarks"].pop()
    text = exporters.summary(doc(head), comparison_of(comparisons.of(base, head)))
    head_, _, rest = text.partition("### What changed: ")
    assert "exchanges measured" in head_
    assert rest.startswith("1 SLOW, 4 SAME, 1 lost")
    rows_ = [line for line in rest.split("<details>")[0].splitlines() if "->" in line]
    assert [line.split("|")[1].strip() for line in rows_] == ["SAME", "lost", "SLOW"]
    assert "zero-copy -> copy" in rows_[0]
    assert "| 2.000 |" in rows_[2]


def test_the_summary_calls_no_two_cells_the_same() -> None:
    made = comparisons.alike_but_for_two_axes(head_times=2.0)
    rest = exporters.summary(doc(samples.pair()), comparison_of(made)).partition(
        "### What changed: 20 SLOW"
    )[2]
    names = [line.split("|")[2].strip() for line in rest.splitlines() if " SLOW |" in line]
    assert len(set(names)) == len(made["cells"]) == 20
    plain = exporters.summary(doc(samples.pair()), comparison_of(comparisons.of_instructions(1.5)))
    assert "| numpy -> torch dlpack 4 KiB |" in plain


def test_the_summary_of_counts_has_no_interval() -> None:
    text = exporters.summary(doc(samples.pair()), comparison_of(comparisons.of_instructions(1.012)))
    _, _, rest = text.partition("### What changed, in instructions: 1 SLOW")
    told = rest.partition("<details>")[0]
    assert "| 1.012 | 1,234 | 1,249 |" in told
    assert "95 %" not in told


def test_a_summary_of_many_changes_is_cut() -> None:
    names = [f"library{i:02}" for i in range(20)]
    base = synthetic.document(names, (4096,), protocols=("dlpack",), failing=0.0)
    head = copy.deepcopy(base)
    for entry in head["benchmarks"]:
        entry["real_time"] *= 2
    assert "and 200 more" in exporters.summary(doc(head), comparison_of(comparisons.of(base, head)))


@pytest.mark.parametrize("name", ["bmf", "github-action", "pyperf"])
def test_a_format_of_numbers_needs_one(name: str) -> None:
    with pytest.raises(ValueError, match=f"nothing was measured: {name} "):
        export(doc(NUMBERLESS), name)
    assert export(doc(NUMBERLESS), "csv").count("\n") == 2
    assert "0 of 1 exchanges measured" in export(doc(NUMBERLESS), "markdown")
