"""Exports: read by their own readers if installed, else checked against their rules."""

from __future__ import annotations

import copy
import csv
import datetime
import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import comparisons
import dlbench
import samples
import synthetic
from dlbench import cli, exporters
from dlbench.document import Document, run_record
from dlbench.errors import BadInput
from dlbench.exporters import FORMATS, export, markdown, rows
from typed import comparison_of, doc, merged_of

pytestmark = pytest.mark.process

DOCUMENTS = {
    "pair": samples.pair(),
    "matrix": samples.matrix(),
    "phases": synthetic.with_phases(synthetic.document(("numpy", "torch", "jax"))),
    "calls": samples.document(
        *(synthetic.call("nanobind", arrays, 50 + 10 * arrays) for arrays in (0, 1, 8))
    ),
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
    if name == "support" and document is DOCUMENTS["calls"]:
        return  # which are refused: test_support.py
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


def test_pyperf_reads_its_format(document: dict[str, Any], tmp_path: Path) -> None:
    pyperf = pytest.importorskip("pyperf")
    path = tmp_path / "pyperf.json"
    path.write_text(export(doc(document), "pyperf"))
    suite = pyperf.BenchmarkSuite.load(str(path))
    assert suite.get_benchmark_names() == [entry["name"] for entry in document["benchmarks"]]
    for entry in document["benchmarks"]:
        read = suite.get_benchmark(entry["name"])
        medians = [worker["median_ns"] * 1e-9 for worker in entry["workers"]]
        assert read.get_values() == pytest.approx(medians)
        assert read.get_metadata()["dlbench_values"] == "median of the rounds of one process"
        assert read.get_unit() == "second"
    line = [sys.executable, "-m", "pyperf", "compare_to", str(path), str(path)]
    reported = subprocess.run(line, capture_output=True, text=True, check=True)
    # With one value a side pyperf makes no test, and says so beside "no change".
    assert "no change" in reported.stdout or "not significant" in reported.stdout


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
    none = {"median_ns": -1.0, "first_ns": 9.0, "samples_ns": [-1.0]}
    entry = samples.measured("numpy", "torch", 2.0, phase="export", workers=[worker, none])
    below = samples.measured("numpy", "jax", -1.0, phase="export", workers=[none])
    suite = pyperf.BenchmarkSuite.loads(export(doc(samples.document(entry, below)), "pyperf"))
    assert suite.get_benchmark_names() == [entry["name"]]
    assert suite.get_benchmark(entry["name"]).get_values() == pytest.approx((2e-9,))
    with pytest.raises(ValueError, match="no cell has a time above 0"):
        export(doc(samples.document(below)), "pyperf")


def test_preempted_rounds_move_no_value_of_pyperf() -> None:
    pyperf = pytest.importorskip("pyperf")
    quiet = {"median_ns": 100.0, "first_ns": 0, "samples_ns": [100.0] * 50}
    preempted = quiet | {"samples_ns": [100.0] * 40 + [4_000_000.0] * 10}
    means = []
    for worker in (quiet, preempted):
        entry = samples.measured("numpy", "torch", 100.0, workers=[worker] * 3)
        suite = pyperf.BenchmarkSuite.loads(export(doc(samples.document(entry)), "pyperf"))
        means.append(suite.get_benchmark(entry["name"]).mean())
    assert means == [pytest.approx(1e-7)] * 2


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


def test_a_first_call_that_nothing_made_is_empty() -> None:
    none = {"median_ns": 2.0, "first_ns": 0, "samples_ns": [2.0]}
    made = samples.document(
        samples.measured("numpy", "torch", 2.0),
        samples.measured("numpy", "torch", 2.0, phase="export", workers=[none]),
    )
    reported = csv.DictReader(io.StringIO(export(doc(made), "csv")))
    assert [row["first_ns"] for row in reported] == ["100.0", ""]


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_load_makes_a_frame(frame: str, run: Path) -> None:
    pytest.importorskip(frame)
    loaded = dlbench.load(run).frame(frame)
    assert list(loaded.columns) == list(rows.COLUMNS)
    measured = loaded[loaded["real_time"] > 0] if frame == "pandas" else loaded.drop_nulls("lo_ns")
    assert len(loaded) - len(measured) == len(samples.pair()["not_measured"])
    assert int(loaded["bytes"].max()) == 262144


ORIGINS = [("2026-01-01T00:00:00+00:00", "old", "3.13.1", "2.4.6", "2.13.0"),
           ("2026-01-02T00:00:00+00:00", "new", "3.13.2", "2.4.6", "2.14.0")]  # fmt: skip


def of_two_dates() -> list[dict[str, Any]]:
    """The same cells of two days, the second with another torch, Python and host."""
    made = []
    for date, host, python, numpy, torch in ORIGINS:
        document = samples.document(samples.measured("numpy", "torch", 100.0))
        document["context"] |= {"date": date, "host_name": host}
        environment = document["context"]["dlbench"]["environments"]["default"]
        environment |= {"python": python, "libraries": {"numpy": numpy, "torch": torch}}
        made.append(document)
    return made


@pytest.mark.parametrize("name", ["csv", "parquet", "arrow", "load", "load-polars"])
def test_two_runs_in_one_frame_can_be_distinguished(name: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frames = []
    for number, document in enumerate(of_two_dates()):
        run = tmp_path / f"{number}.json"
        run.write_text(json.dumps(document))
        if name.startswith("load"):
            library = name.partition("-")[2] or "pandas"
            pytest.importorskip(library)
            frame = dlbench.load(run).frame(library)
            frames.append(frame if library == "pandas" else pandas.DataFrame(frame.to_dicts()))
            continue
        path = tmp_path / f"{number}.{name}"
        assert cli.main(["export", str(run), "--format", name, "--output", str(path)]) == 0
        reader = {"csv": pandas.read_csv, "parquet": pandas.read_parquet}
        frames.append(reader.get(name, pandas.read_feather)(path))
    cells = pandas.concat(frames)
    assert cells["run"].nunique() == 2
    columns = ["date", "host", "python", "producer_version", "consumer_version"]
    assert list(cells[columns].itertuples(index=False, name=None)) == ORIGINS


def test_duckdb_reads_the_parquet_of_two_runs(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    for number, document in enumerate(of_two_dates()):
        (tmp_path / f"{number}.parquet").write_bytes(
            exporters.export_bytes(doc(document), "parquet")
        )
    query = f"""select date, host, python, producer_version, consumer_version
                from '{tmp_path}/*.parquet' order by date"""
    assert duckdb.sql(query).fetchall() == ORIGINS


def test_pyperf_reads_the_origin_of_each_run() -> None:
    pyperf = pytest.importorskip("pyperf")
    found, runs = [], set()
    for document in of_two_dates():
        suite = pyperf.BenchmarkSuite.loads(export(doc(document), "pyperf"))
        about = suite.get_benchmark(document["benchmarks"][0]["name"]).get_metadata()
        runs.add(about["dlbench_run"])
        keys = ("hostname", "python_version", "dlbench_producer_version",
                "dlbench_consumer_version")  # fmt: skip
        date = suite.get_dates()[0].isoformat()
        found.append((f"{date}+00:00", *(about[key] for key in keys)))
    assert found == ORIGINS
    assert len(runs) == 2


def test_google_benchmark_labels_a_row_with_its_origin() -> None:
    labels = []
    for document, (date, host, *_) in zip(of_two_dates(), ORIGINS, strict=True):
        made = json.loads(export(doc(document), "google-benchmark"))
        assert (made["context"]["date"], made["context"]["host_name"]) == (date, host)
        labels += [row["label"].rpartition(", run ") for row in made["benchmarks"]]
    assert [label[0] for label in labels] == [
        "numpy 2.4.6, torch 2.13.0, Python 3.13.1, old",
        "numpy 2.4.6, torch 2.14.0, Python 3.13.2, new",
    ]
    assert len({label[2] for label in labels}) == 2


@pytest.mark.parametrize("parser", [".openmetrics", ""])
def test_prometheus_reads_the_versions_of_each_run(parser: str) -> None:
    for document, (date, host, python, *versions) in zip(of_two_dates(), ORIGINS, strict=True):
        found = families(export(doc(document), "openmetrics"), parser)
        labels = [sample.labels for sample in found["dlbench_library_info"].samples]
        assert {label["library"]: label["version"] for label in labels} == {
            "numpy": versions[0], "torch": versions[1], "python": python
        }  # fmt: skip
        assert {label["environment"] for label in labels} == {"default"}
        (run,) = found["dlbench_run"].samples
        assert (run.labels["host"], len(run.labels["run"])) == (host, 12)
        (began,) = found["dlbench_run_time_seconds"].samples
        assert began.value == datetime.datetime.fromisoformat(date).timestamp()


def test_each_machine_of_a_merged_run_has_its_own_origin() -> None:
    merged = merged_of(zip(("box", "rocm"), of_two_dates(), strict=True))
    table = list(csv.DictReader(io.StringIO(export(merged, "csv"))))
    columns = ("date", "host", "python", "producer_version", "consumer_version")
    assert [tuple(row[key] for key in columns) for row in table] == ORIGINS
    assert len({row["run"] for row in table}) == 2
    found = families(export(merged, "openmetrics"), ".openmetrics")
    machines = [sample.labels["machine"] for sample in found["dlbench_library_info"].samples]
    assert set(machines) == {"box", "rocm"}
    assert [one.labels["host"] for one in found["dlbench_run"].samples] == ["old", "new"]


def test_pandas_reads_the_csv_as_load_gives_it(run: Path) -> None:
    pandas = pytest.importorskip("pandas")
    text = export(doc(samples.pair()), "csv")
    loaded = dlbench.load(run).frame()
    read = pandas.read_csv(io.StringIO(text), dtype=dict(loaded.dtypes), keep_default_na=False,
                           na_values={name: [""] for name in loaded.columns})  # fmt: skip
    empty = dict.fromkeys(("changed", "warnings"), "")
    pandas.testing.assert_frame_equal(loaded.fillna(empty), read.fillna(empty))


def test_load_says_what_is_wrong(tmp_path: Path, run: Path) -> None:
    with pytest.raises(BadInput, match="no run"):
        dlbench.load(tmp_path / "nothing")
    with pytest.raises(BadInput, match="unknown frame 'arrow'; allowed: pandas, polars"):
        dlbench.load(run).frame("arrow")


def test_markdown_counts_first_and_folds_the_rest() -> None:
    text = export(doc(DOCUMENTS["matrix"]), "markdown")
    head, *folded = text.split("<details>")
    assert "cells measured" in head.splitlines()[0]
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
        f"dlbench: --output {target}: exists already; --force replaces it\n"
    )
    assert target.read_text() == "mine"
    assert cli.main([*line, "--force"]) == 0
    assert target.read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--format", "bfm"], "unknown format 'bfm' (did you mean 'bmf'?); allowed: bmf, "),
        (["--format", "csv", "--base", "."], "--base is for --format markdown: csv holds one run"),
        (["--format", "csv", "--output", "."], "--output .: is a folder"),
        (
            ["--format", "csv", "--output", "no/such/file"],
            "--output no/such/file: no such folder:",
        ),
    ],
)
def test_bad_use_is_one_line(
    words: list[str], message: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", str(run), *words]) == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert message in reported.err
    assert reported.err.count("\n") == 1


def of_two_machines() -> Document:
    return merged_of([("box", samples.pair()), ("gpu", samples.matrix())])


TIMES = {"box": 111.0, "gpu": 222.0}  #: ns of the only exchange with a number, by machine
NS = 1e-9


def arrow_rows(data: bytes, name: str) -> list[tuple[str, float]]:
    pyarrow = pytest.importorskip("pyarrow")
    if name == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(data))
    else:
        table = pyarrow.ipc.open_file(io.BytesIO(data)).read_all()
    return [(row["machine"], row["real_time"]) for row in table.to_pylist() if row["real_time"]]


def measured_rows(text: str) -> dict[str, Any]:
    """(what names the machine, ns) of each number, by format; of markdown its rows and headings."""
    rows = list(csv.DictReader(io.StringIO(text))) if text.startswith("name,") else []
    is_json = text[0] in "{[" and run_record.MARK not in text
    made = json.loads(text) if is_json else {}
    lines = text.splitlines()
    return {
        "bmf": lambda: [(name, of["latency"]["value"]) for name, of in made.items()],
        "google-benchmark": lambda: [(r["name"], r["real_time"]) for r in made["benchmarks"]],
        "pyperf": lambda: [
            (one["metadata"]["name"], run["values"][0] / NS)
            for one in made["benchmarks"]
            for run in one["runs"]
        ],
        "openmetrics": lambda: [
            (line, float(line.rpartition(" ")[2]) / NS)
            for line in lines
            if line.startswith("dlbench_exchange_seconds{")
        ],
        "record": lambda: [
            (own.run.machine_name, entry.median_ns)
            for own in run_record.parse(text.splitlines(), "record") for entry in own.measured
        ],
        "csv": lambda: [(row["machine"], float(row["real_time"])) for row in rows
                        if row["real_time"]],
        "markdown": lambda: [
            (line, float(line.split(" ns ")[0].rpartition("| ")[2]))
            for line in lines
            if line.startswith("| exchange | ")
        ],
    }  # fmt: skip


@pytest.mark.parametrize("name", [*FORMATS, *exporters.BINARY])
def test_no_number_is_without_its_machine(name: str) -> None:
    """Each machine has a time, and a reason, of its own for the same two cells."""
    merged = merged_of(
        (machine, samples.document(
            samples.measured("numpy", "torch", ns),
            samples.missing("torch", "numpy", "refused", f"why of {machine}")))
        for machine, ns in TIMES.items()
    )  # fmt: skip
    data = exporters.export_bytes(merged, name)
    if name in exporters.BINARY:
        assert sorted(arrow_rows(data, name)) == sorted(TIMES.items())
        return
    text = data.decode()
    if name == "support":
        own = dict(part.split("\n", 1) for part in text.split("\n# ")[1:])
        assert set(own) == set(TIMES)
    else:
        found = measured_rows(text)[name]()
        for machine, ns in TIMES.items():
            own = [shown for word, shown in found if machine in word]
            assert own, machine
            assert own == [pytest.approx(ns, rel=0.01)] * len(own)
        assert len(found) == sum(any(machine in word for machine in TIMES) for word, _ in found)
    for line in text.splitlines():
        for machine in TIMES:
            if f"why of {machine}" in line:
                assert machine in line.replace(f"why of {machine}", "")


def test_names_with_machines_are_accepted() -> None:
    assert bencher_complaints(export(of_two_machines(), "bmf")) == []


def test_each_machine_has_its_own_libraries() -> None:
    made = of_two_machines().to_json()
    made["context"]["dlbench"]["machines"]["gpu"]["environments"]["default"]["libraries"] = {
        "numpy": "9.9"
    }
    text = export(doc(made), "markdown")
    assert "gpu \u00b7 Ryzen 9 7950X \u00b7 numpy 9.9" in text
    assert "<summary>gpu   cpu   4 KiB   dlpack" in text


def test_the_summary_says_what_changed() -> None:
    base, head = samples.pair(), copy.deepcopy(samples.pair())
    head["benchmarks"][2]["real_time"] *= 2
    head["benchmarks"][3]["outcome"] = "copy"
    head["benchmarks"].pop()
    made = comparisons.of(base, head)
    same = next(cell for cell in made["cells"] if cell["verdict"] == "SAME" and cell["base"])
    same["verdict"] = "AMBIG"
    text = exporters.summary(doc(head), comparison_of(made))
    changed, _, rest = text.partition("### dlbench: ")
    assert "<summary>1 cell AMBIG, with the same outcome</summary>" in changed
    assert "cells measured" in rest
    assert changed.startswith("### What changed: 1 worse, 1 lost, 1 SLOW, 3 SAME\n")
    rows_ = [line.split(" | ") for line in changed.splitlines() if "->" in line]
    assert [row[0] for row in rows_] == ["| worse", "| lost", "| SLOW", "| AMBIG"]
    assert rows_[0][2:4] == ["zero-copy -> copy", "SAME"]
    assert rows_[2][2:5] == ["zero-copy", "SLOW", "2.000"]


def test_the_summary_calls_no_two_cells_the_same() -> None:
    made = comparisons.alike_but_for_two_axes(head_times=2.0)
    rest = exporters.summary(doc(samples.pair()), comparison_of(made)).partition(
        "### What changed: 20 SLOW"
    )[2]
    names = [line.split("|")[2].strip() for line in rest.splitlines() if "| SLOW |" in line]
    assert len(set(names)) == len(made["cells"]) == 20
    plain = exporters.summary(doc(samples.pair()), comparison_of(comparisons.of_instructions(1.5)))
    assert "| numpy -> torch dlpack 4 KiB |" in plain


def test_the_summary_of_counts_has_no_interval() -> None:
    text = exporters.summary(doc(samples.pair()), comparison_of(comparisons.of_instructions(1.012)))
    _, _, rest = text.partition("### What changed, in instructions: 1 SLOW")
    reported = rest.partition("### dlbench")[0]
    assert "| 1.012 | 1,234 | 1,249 |" in reported
    assert "95 %" not in reported


def test_a_summary_of_many_changes_is_cut() -> None:
    names = [f"library{i:02}" for i in range(20)]
    base = synthetic.document(names, (4096,), protocols=("dlpack",), failing=0.0)
    head = copy.deepcopy(base)
    for entry in head["benchmarks"]:
        entry["real_time"] *= 2
    assert "and 200 more" in exporters.summary(doc(head), comparison_of(comparisons.of(base, head)))


@pytest.mark.parametrize("name", ["bmf", "google-benchmark", "pyperf"])
def test_a_format_of_numbers_needs_one(name: str) -> None:
    with pytest.raises(ValueError, match=f"no cell has a number, and {name} "):
        export(doc(NUMBERLESS), name)
    assert export(doc(NUMBERLESS), "csv").count("\n") == 2
    assert "0 of 1 cells measured" in export(doc(NUMBERLESS), "markdown")


def read_back(name: str, path: Path) -> Any:
    if name == "parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(path)
    feather = pytest.importorskip("pyarrow.feather")
    return feather.read_table(path)


@pytest.mark.parametrize("name", exporters.BINARY)
def test_pyarrow_reads_the_columns_of_the_csv_with_types(
    name: str, document: dict[str, Any], tmp_path: Path
) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "cells"
    path.write_bytes(exporters.export_bytes(doc(document), name))
    table = read_back(name, path)
    assert table.column_names == list(rows.COLUMNS)
    assert [list(row.values()) for row in table.to_pylist()] == list(rows.rows(doc(document)))
    kinds = {
        "name": pa.string(), "real_time": pa.float64(), "between_half_width": pa.float64(),
        "bytes": pa.int64(), "late_read": pa.bool_(),
    }  # fmt: skip
    assert {column: table.schema.field(column).type for column in kinds} == kinds
    assert table.schema.metadata[b"dlbench_version"]


@pytest.mark.parametrize("name", exporters.BINARY)
def test_pandas_reads_it_as_load_gives_it(name: str, run: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = run / f"cells.{name}"
    assert cli.main(["export", str(run), "--format", name, "--output", str(path)]) == 0
    read = pandas.read_parquet(path) if name == "parquet" else pandas.read_feather(path)
    loaded = dlbench.load(run).frame()
    pandas.testing.assert_frame_equal(read.astype(dict(loaded.dtypes)), loaded)
    assert (read["bytes"].dtype, read["real_time"].dtype) == ("int64", "float64")


@pytest.mark.parametrize("name", exporters.BINARY)
def test_a_binary_format_without_cells_or_with_hostile_ones_is_read(
    name: str, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "cells"
    path.write_bytes(exporters.export_bytes(doc(samples.document()), name))
    assert read_back(name, path).num_rows == 0
    assert read_back(name, path).column_names == list(rows.COLUMNS)
    evil = doc(samples.document(samples.missing("numpy", "torch", "refused", "\x1b\ud800\u202e")))
    path.write_bytes(exporters.export_bytes(evil, name))
    assert read_back(name, path)["reason"].to_pylist() == ["\x1b\\ud800\u202e"]


def test_a_binary_format_goes_through_a_pipe_and_not_to_a_terminal(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    words = ["export", str(run), "--format", "parquet"]
    piped = subprocess.run(
        [sys.executable, "-m", "dlbench", *words], capture_output=True, check=True
    )
    assert piped.stdout == exporters.export_bytes(doc(samples.pair()), "parquet")
    monkeypatch.setattr("dlbench.command.publish.is_terminal", lambda: True)
    assert cli.main(words) == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err == "dlbench: --format parquet is binary: use --output FILE, or a pipe\n"


@pytest.mark.parametrize("name", exporters.BINARY)
def test_without_pyarrow_the_error_says_how_to_install_it(
    name: str, run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    target = run / "cells"
    assert cli.main(["export", str(run), "--format", name, "--output", str(target)]) == 2
    needs = f"dlbench: --format {name} needs pyarrow: pip install pyarrow\n"
    assert capsys.readouterr().err == needs
    assert not target.exists()


def test_a_pyarrow_that_cannot_be_loaded_is_not_called_missing(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pyarrow.py").write_text("raise ImportError('failed to map segment\\nmore')")
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cli.main(["export", str(run), "--format", "arrow"]) == 2
    cannot = "dlbench: --format arrow: pyarrow cannot be imported: failed to map segment\n"
    assert capsys.readouterr().err == cannot


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def asv_name(entry: dict[str, Any]) -> str:
    return str(entry["name"]).replace("/", ".").replace(":", "-")


def asv_words(run: Path, commit: str, folder: Path) -> list[str]:
    return ["export", str(run), "--format", "asv", "--commit", commit, "--output", str(folder)]


def write_asv(made: dict[str, Any], folder: Path, commit: str = COMMIT) -> Path:
    """asv's folder with one more commit; the path of its results."""
    folder.mkdir(exist_ok=True)
    run = folder / "run"
    run.write_text(json.dumps(made))
    assert cli.main(asv_words(run, commit, folder)) == 0
    (path,) = folder.glob(f"*/{commit[:8]}-*.json")
    return path


def test_asv_reads_its_results(document: dict[str, Any], tmp_path: Path) -> None:
    asv = pytest.importorskip("asv.results")
    read = asv.Results.load(str(write_asv(document, tmp_path)))
    assert read.commit_hash == COMMIT
    assert read.get_all_result_keys() == set(map(asv_name, document["benchmarks"]))
    for entry in document["benchmarks"]:
        assert read.get_result_value(asv_name(entry), []) == [entry["real_time"] * 1e-9]
        medians = sorted(worker["median_ns"] * 1e-9 for worker in entry["workers"])
        assert read.get_result_samples(asv_name(entry), []) == [medians]
        (stats,) = read.get_result_stats(asv_name(entry), [])
        assert stats["number"] == entry["iterations"]


def test_asv_reads_its_list_of_benchmarks(document: dict[str, Any], tmp_path: Path) -> None:
    benchmarks = pytest.importorskip("asv.benchmarks")
    config = pytest.importorskip("asv.config").Config()
    config.results_dir = str(tmp_path)
    other = samples.measured("theirs", "torch", 5.0)
    write_asv(samples.document(other), tmp_path, "f" * 40)
    write_asv(document, tmp_path)
    read = benchmarks.Benchmarks.load(config)
    assert set(read) == {asv_name(entry) for entry in [*document["benchmarks"], other]}
    assert {(each["type"], each["unit"]) for each in read.values()} == {("time", "seconds")}


@pytest.mark.parametrize(
    ("workers", "factor", "better"), [(1, 2.0, False), (6, 2.0, False), (8, 1.0, False),
                                      (7, 2.0, True)],
)  # fmt: skip
def test_asv_finds_only_changes_that_its_samples_show(
    workers: int, factor: float, better: bool, tmp_path: Path
) -> None:
    asv = pytest.importorskip("asv.results")
    compare = pytest.importorskip("asv.commands.compare")
    results = []
    for commit, times in ((COMMIT, 100.0), ("f" * 40, 100.0 * factor)):
        of = [{"median_ns": times + i, "first_ns": 0, "samples_ns": [times]}
              for i in range(workers)]  # fmt: skip
        entry = samples.measured("numpy", "torch", times, workers=of)
        path = write_asv(samples.document(entry), tmp_path, commit)
        read = asv.Results.load(str(path))
        name = asv_name(entry)
        stats = (read.get_result_stats(name, [])[0], read.get_result_samples(name, [])[0])
        results.append((read.get_result_value(name, [])[0], stats))
    (first, first_stats), (second, second_stats) = results
    found = compare._is_result_better(first, second, first_stats, second_stats, 1.1)
    assert found is better


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("asv --output made", "--format asv needs --commit HASH, the commit that was measured"),
        ("asv --output made --commit main", "--commit 'main': allowed: a full hash"),
        (f"asv --commit {COMMIT}", "give asv's results_dir as --output"),
        (f"csv --commit {COMMIT}", "--commit is for --format asv: csv names no commit"),
        ("csv --commit-date 1", "--commit-date is for --format asv: csv names no commit"),
        (f"asv --output made --commit {COMMIT} --commit-date yesterday", "--commit-date"),
        (f"asv --output results.json --commit {COMMIT}", "--output results.json: "),
    ],
)
def test_the_verb_takes_the_commit_for_asv_alone(
    words: str, message: str, run: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(run)
    before = (run / "results.json").read_bytes()
    assert cli.main(["export", ".", "--format", *words.split()]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in run.iterdir()] == ["results.json"]
    assert (run / "results.json").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "ms"), [(["--commit-date", "1700000000"], 1_700_000_000_000),
                      ([], 1_767_225_600_000)],
)  # fmt: skip
def test_asv_gets_the_commits_date_or_the_runs(words: list[str], ms: int, run: Path) -> None:
    assert cli.main([*asv_words(run, COMMIT, run / "made"), *words]) == 0
    (path,) = (run / "made").glob(f"host/{COMMIT[:8]}-*")
    assert json.loads(path.read_text())["date"] == ms


def test_an_export_for_asv_replaces_nothing(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, folder = asv_words(run, COMMIT, run / "made"), run / "made"
    (folder / "host").mkdir(parents=True)
    (folder / "host/machine.json").write_text("theirs")
    (folder / "benchmarks.json").write_text('{"time_theirs": {}, "version": 3}')
    assert cli.main(words) == 2
    assert "is no list of benchmarks of version 2" in capsys.readouterr().err
    (folder / "benchmarks.json").write_text('{"time_theirs": {}, "version": 2}')
    assert cli.main(words) == 0
    assert (folder / "host/machine.json").read_text() == "theirs"
    assert "time_theirs" in json.loads((folder / "benchmarks.json").read_text())
    assert cli.main(words) == 2
    assert "exists already; --force replaces it" in capsys.readouterr().err
    assert cli.main([*words, "--force"]) == 0


def test_asv_gets_no_merged_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = merged_of((machine, samples.pair()) for machine in ("box", "rocm"))
    (tmp_path / "results.json").write_text(json.dumps(made.to_json()))
    assert cli.main(asv_words(tmp_path, COMMIT, tmp_path / "made")) == 2
    message = "a merged run has several machines, but asv's file has one: export each machine's run"
    assert capsys.readouterr() == ("", f"dlbench: {message}\n")


def test_asv_gets_the_cells_of_the_default_environment_alone() -> None:
    own, other = (
        samples.measured("numpy", "torch", 100.0, environment=name) for name in ("default", "a-old")
    )
    facts = samples.document()["context"]["dlbench"]["environments"]["default"]
    environments = {"a-old": {**facts, "python": "3.10.13", "libraries": {}}, "default": facts}
    document = doc(samples.document(other, own, environments=environments))
    listed, _, results = map(json.loads, exporters.asv_files(document, COMMIT).values())
    assert list(results["results"]) == [asv_name(own)]
    assert results["env_name"] == "dlbench-py3.13"
    assert set(listed) == {asv_name(own), "version"}
    with pytest.raises(ValueError, match="environment 'default', which has none"):
        exporters.asv_files(doc(samples.document(other, environments=environments)), COMMIT)


def test_asv_gets_names_of_files() -> None:
    hostile = [samples.measured(name, "torch", 5.0) for name in ("a(b", "a|b", "../" + "x" * 400)]
    document = samples.document(*hostile)
    document["context"]["host_name"] = "../evil"
    listed, *others = exporters.asv_files(doc(document), COMMIT).items()
    names = set(json.loads(listed[1])) - {"version"}
    assert len(names) == 3
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", name) for name in names)
    for place, _ in others:
        assert re.fullmatch(r"_[A-Za-z0-9_.-]+/[^/]+", place)


def with_processes(ns: list[float], **more: Any) -> dict[str, Any]:
    """A cell with a process for each time."""
    of = [{"median_ns": each, "first_ns": 0, "samples_ns": [each]} for each in ns]
    return samples.measured("numpy", "torch", sorted(ns)[len(ns) // 2], workers=of, **more)


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=me", "-c", "user.email=me@localhost"]
    line = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def asv_history(folder: Path, made: list[dict[str, Any]]) -> list[str]:
    """A repository with a commit for each document, exported for asv; the hashes."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    config = {"version": 1, "project": "mine", "repo": str(folder), "branches": ["main"],
              "results_dir": "results", "html_dir": "html",
              "environment_type": "existing"}  # fmt: skip
    (folder / "asv.conf.json").write_text(json.dumps(config))
    commits = []
    for document in made:
        git(folder, "commit", "--quiet", "--allow-empty", "-m", "one")
        commits.append(git(folder, "rev-parse", "HEAD"))
        (folder / "run.json").write_text(json.dumps(document))
        assert cli.main(asv_words(folder / "run.json", commits[-1], folder / "results")) == 0
    return commits


def run_asv(folder: Path, *words: str) -> str:
    pytest.importorskip("asv")
    done = subprocess.run([sys.executable, "-m", "asv", *words], cwd=folder, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(120)
@pytest.mark.parametrize("factor", [2.0, 1.0])
def test_asv_publishes_a_regression_that_comes_with_a_version(
    factor: float, tmp_path: Path
) -> None:
    """torch gets newer at commit 6 of 12, and so do the kernel and Python's patch version. Two
    cells become slower by `factor`, and two do not. With a factor of 1 asv must find nothing."""
    made = []
    for i in range(12):
        slower = factor if i >= 6 else 1.0
        noise = (0.0, 1.0, -1.0, 0.5)[i % 4]
        entries = [
            with_processes([ns + noise + step for step in range(8)], case=case, device=device)
            for ns, case, device in ((100.0 * slower, "f32", "cpu"), (90.0, "f64", "cpu"),
                                     (50.0 * slower, "f32", "cuda:0"), (70.0, "f64", "cuda:0"))
        ]  # fmt: skip
        document = samples.document(*entries)
        about = document["context"]["dlbench"]
        environment = about["environments"]["default"]
        environment["libraries"]["torch"] = "2.13.0" if i < 6 else "2.14.0"
        environment["python"] = "3.13.1" if i < 6 else "3.13.2"
        about["machine"] |= {"kernel": f"6.{i}", "memory_bytes": 2**34 + i}
        document["context"]["date"] = f"2026-01-{i + 1:02}T00:00:00+00:00"
        made.append(document)
    commits = asv_history(tmp_path, made)
    printed = run_asv(tmp_path, "publish", "--no-pull")
    assert "could not load" not in printed
    index = json.loads((tmp_path / "html/index.json").read_text())
    assert len(index["graph_param_list"]) == 1, "one line for each cell"
    assert set(index["benchmarks"]) == {asv_name(entry) for entry in made[0]["benchmarks"]}
    assert list(index["machines"]) == ["host"]
    found = json.loads((tmp_path / "html/regressions.json").read_text())["regressions"]
    slow = {asv_name(entry) for entry in made[0]["benchmarks"] if entry["case"] == "f32"}
    assert {one[0] for one in found} == (slow if factor > 1 else set())
    revisions = {commit: int(number) for number, commit in index["revision_to_hash"].items()}
    for _, graph, _, _, last, best, jumps in found:
        assert (tmp_path / "html" / graph).exists()
        assert last / best == pytest.approx(factor, rel=0.05)
        assert [jump[1] for jump in jumps] == [revisions[commits[6]]]


def families(text: str, parser: str) -> dict[str, Any]:
    """What a parser of prometheus_client reads."""
    read = pytest.importorskip(f"prometheus_client{parser}.parser").text_string_to_metric_families
    return {family.name: family for family in read(text)}


@pytest.mark.parametrize("parser", [".openmetrics", ""])  # a push gateway has the older format
def test_prometheus_reads_its_format(parser: str, document: dict[str, Any]) -> None:
    found = families(export(doc(document), "openmetrics"), parser)
    assert {family.type for family in found.values()} == {"gauge"}
    entries = document["benchmarks"] + document["not_measured"]
    cells = {key(sample.labels): sample.labels for sample in found["dlbench_cell"].samples}
    assert len(cells) == len(found["dlbench_cell"].samples) == len(entries)
    for entry in entries:
        assert cells[key(entry)]["outcome"] == entry["outcome"]
    for name, of, factor in (
        ("dlbench_exchange_seconds", "real_time", 1e-9),
        ("dlbench_exchange_low_seconds", "lo_ns", 1e-9),
        ("dlbench_exchange_high_seconds", "hi_ns", 1e-9),
    ):
        values = {key(sample.labels): sample.value for sample in found[name].samples}
        assert values == {key(e): e[of] * factor for e in document["benchmarks"]}
        assert found[name].unit == ("seconds" if parser else "")
    (began,) = found["dlbench_run_time_seconds"].samples
    assert 1.7e9 < began.value < 4e9
    assert all(sample.timestamp is None for family in found.values() for sample in family.samples)


def key(labels: dict[str, Any]) -> tuple[str, ...]:
    """The labels that name a cell."""
    axes = ("environment", "producer", "consumer", "protocol", "device", "case", "bytes", "phase",
            "clock")  # fmt: skip
    return (*(str(labels[axis]) for axis in axes), str(labels.get("arrays", 1)))


def test_openmetrics_has_instructions_where_they_were_counted() -> None:
    with_count = samples.measured("numpy", "torch", 5.0, instructions=2333)
    without = samples.measured("numpy", "jax", 5.0)
    text = export(doc(samples.document(with_count, without)), "openmetrics")
    (sample,) = families(text, ".openmetrics")["dlbench_exchange_instructions"].samples
    assert (sample.labels["consumer"], sample.value) == ("torch", 2333)
    assert "instructions" not in export(doc(samples.document(without)), "openmetrics")


@pytest.mark.parametrize("parser", [".openmetrics", ""])
def test_prometheus_reads_hostile_text_in_its_label(parser: str) -> None:
    hostile = 'a"b\\c\nd} 1\n# EOF\u202e\ud800'
    text = export(doc(samples.document(samples.measured(hostile, "torch", 5.0))), "openmetrics")
    (sample,) = families(text, parser)["dlbench_exchange_seconds"].samples
    assert sample.labels["producer"] == 'a"b\\c\\nd} 1\\n# EOF\\u202e\\ud800'
    assert sample.labels["consumer"] == "torch"
