"""The normative schema, and the rules by which dashboards read a results document."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import samples
import synthetic
from dlbench import cli
from dlbench.exporters import markdown
from dlbench.plots import choosing
from dlbench.plots.report import facts
from dlbench.terminal import heading
from typed import doc

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "results/schema.json").read_text())
FAULTS = json.loads((ROOT / "tests/results/faults.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def small() -> dict[str, Any]:
    """Two libraries at one size, a refusal among them; copies have more keys, so one is there."""
    document = synthetic.document(("numpy", "torch", "mlx"), (4096,), failing=0.0)
    refused = synthetic.axes("dpnp", "numpy", "dlpack", "cpu", 4096, "call")
    document["not_measured"] = [synthetic.without_number(refused, "dpnp", "numpy")]
    shared = [entry for entry in document["benchmarks"] if entry["outcome"] == "zero-copy"]
    copied = [entry for entry in document["benchmarks"] if entry["outcome"] == "copy"]
    return {**document, "benchmarks": shared[:2] + copied[:1]}


@pytest.mark.parametrize(
    "document", [small(), synthetic.document(), synthetic.document(failing=1.0)]
)
def test_a_document_passes(document: dict[str, Any]) -> None:
    VALIDATOR.validate(document)


def plant(document: dict[str, Any], fault: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    *parents, last = fault["pointer"].strip("/").split("/")
    place: Any = changed
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place[part]
    if "value" not in fault:
        del place[last]
    elif isinstance(place, list):
        place[int(last) :] = [fault["value"]]
    else:
        place[last] = fault["value"]
    return changed


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: json.dumps(fault)[:80])
def test_the_schema_finds_what_the_strict_reader_finds(fault: dict[str, Any]) -> None:
    """The reader's side of the same list is in tests/results/validate_test.cpp."""
    document = plant(small(), fault)
    assert document != small()
    assert VALIDATOR.is_valid(document) == fault.get("beyond_schema", False)


def test_new_keys_are_allowed() -> None:
    document = small()
    for place in (document, document["context"], document["context"]["dlbench"],
                  document["benchmarks"][0], document["not_measured"][0]):  # fmt: skip
        place["instructions"] = 2333
    VALIDATOR.validate(document)


def dashboards_complaints(document: dict[str, Any]) -> list[str]:
    """What Google Benchmark's compare.py, github-action-benchmark and Bencher rest on."""
    complaints = []
    if not isinstance(document["context"].get("caches"), list):
        complaints.append("caches is no list")
    names = [entry["name"] for entry in document["benchmarks"]]
    if len(set(names)) != len(names):
        complaints.append("a name occurs twice")
    for entry in document["benchmarks"]:
        time, cpu = entry["real_time"], entry["cpu_time"]
        if not (isinstance(time, (int, float)) and math.isfinite(time) and time > 0):
            complaints.append("real_time")
        if not (isinstance(cpu, (int, float)) and math.isfinite(cpu) and cpu >= 0):
            complaints.append("cpu_time")
        if entry["time_unit"] not in ("ns", "us", "ms", "s"):
            complaints.append("time_unit")
        if entry["run_type"] != "iteration" or "aggregate_name" in entry:
            complaints.append("run_type")
        if entry["run_name"] != entry["name"] or not entry["iterations"] >= 1:
            complaints.append("run_name")
    return complaints


def test_dashboards_can_read_a_document() -> None:
    assert dashboards_complaints(synthetic.document()) == []


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [("real_time", 0, "real_time"), ("real_time", math.nan, "real_time"),
     ("cpu_time", math.inf, "cpu_time"), ("time_unit", "ticks", "time_unit"),
     ("run_type", "aggregate", "run_type"), ("run_name", "other", "run_name")],
)  # fmt: skip
def test_the_dashboards_rules_can_be_broken(key: str, value: object, complaint: str) -> None:
    document = small()
    document["benchmarks"][0][key] = value
    assert complaint in dashboards_complaints(document)


def write_journal(folder: Path, document: dict[str, Any]) -> None:
    """What a killed run leaves."""
    header = {"dlbench_journal": 1, "fingerprint": "f", "context": document["context"]}
    worker = {"environment": "default", "imports": ["numpy", "torch"], "python": "3.11.7",
              "gil": True, "floors_ns": synthetic.FLOORS, "reference_ns": 61.0,
              "libraries": {"numpy": "2.4.6"}, "import_s": 0.2}  # fmt: skip
    lines: list[dict[str, Any]] = [header, {"worker": worker}, {"worker": worker}]
    lines += [{"entry": e} for e in document["benchmarks"] + document["not_measured"]]
    lines.append({"end": {"wall_s": 1.5, "round_s": 1.0, "signal": 0}})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    folder.mkdir(exist_ok=True)
    (folder / "journal.jsonl").write_text(text + '{"entry":{"na')


def test_what_the_program_writes_passes(tmp_path: Path) -> None:
    """Journal -> document by the compiled half, judged by the schema and the dashboards' rules."""
    core = pytest.importorskip("dlbench._core")
    document = small()
    write_journal(tmp_path, document)
    path = Path(core.write_document(str(tmp_path)))
    written = json.loads(path.read_text())
    VALIDATOR.validate(written)
    core.validate_document(str(path))
    assert dashboards_complaints(written) == []
    names = [entry["name"] for entry in written["benchmarks"]]
    assert names == sorted(entry["name"] for entry in document["benchmarks"])


@pytest.mark.parametrize(
    "words",
    ["show run", "show run mlx mlx", "show run/journal.jsonl", "export run --format csv",
     "export run --format markdown --base base", "compare base run --fail-on none",
     "report run base --output page.html", "merge one=run two=base --out merged"],
)  # fmt: skip
def test_a_run_that_is_read_stays_as_it_is(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("run", "base"):
        document = small()
        document["benchmarks"] = document["benchmarks"][: 3 if name == "run" else 2]
        write_journal(Path(name), document)
    assert cli.main(words.split()) == 0, capsys.readouterr().err
    for name in ("run", "base"):
        assert [path.name for path in Path(name).iterdir()] == ["journal.jsonl"]


def test_each_output_names_the_devices_that_were_measured() -> None:
    cpu = samples.measured("a", "b", 90.0)
    absent = samples.missing("a", "b", "no-device", "none", device="cuda:0")
    on_device = samples.measured("a", "b", 90.0, device="cuda:1+cpu")
    units = [{"name": f"Accelerator {number}"} for number in range(2)]
    for cells, named in (([cpu, absent], []), ([cpu, on_device], ["Accelerator 1"])):
        written = samples.document(*cells)
        machine = written["context"]["dlbench"]["machine"]
        machine["devices"] = [{"name": "cuda", "state": "ok", "count": 2, "units": units}]
        document = doc(written)
        assert document.devices == named
        for texts in (
            heading.header(document, 200),
            choosing.provenance(document),
            [markdown.export(document)],
            facts.of(document)[0].headline,
        ):
            assert [name for name in ("Accelerator 0", "Accelerator 1")
                    if name in " ".join(texts)] == named, texts  # fmt: skip
