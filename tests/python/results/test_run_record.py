"""The record of a run: what it keeps, its size, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samples
from dlbench import exporters
from dlbench.document import Measured, locate, read_document, run_record
from dlbench.errors import BadInput
from typed import doc, merged_of

SAMPLE = Path(__file__).parents[3] / "docs/site/sample/results.json"
LINES = run_record.text(doc(samples.matrix())).splitlines()
SCHEMA = jsonschema.Draft202012Validator(run_record.schema())


def test_a_record_keeps_what_a_history_needs() -> None:
    whole = doc(samples.pair())
    [kept] = run_record.as_record(whole, "pair")
    assert [entry.name for entry in kept.entries] == [entry.name for entry in whole.entries]
    for entry, other in zip(kept.entries, whole.entries, strict=True):
        assert (entry.outcome, entry.code, entry.observed.used) == (
            other.outcome, other.code, other.observed.used)  # fmt: skip
        if isinstance(entry, Measured) and isinstance(other, Measured):
            assert entry.median_ns == pytest.approx(other.median_ns, rel=1e-3)
            assert entry.half_width == pytest.approx(other.half_width, rel=0.1)
            assert [list(each.samples_ns) for each in entry.workers] == [
                [pytest.approx(min(each.samples_ns), rel=1e-3)] for each in other.workers
            ]
    assert kept.versions("default") == whole.versions("default")
    assert kept.context.run_id == whole.context.run_id
    assert kept.run.machine.processor == "Ryzen 9 7950X, 16 cores"


def test_a_record_of_a_record_is_the_same() -> None:
    text = run_record.text(read_document(SAMPLE))
    [kept] = run_record.parse(text.splitlines(), "sample")
    assert run_record.text(kept) == text
    assert len(text) < SAMPLE.stat().st_size / 9
    cells = len(kept.entries)
    assert sum(map(len, text.splitlines()[1:])) / cells < 136


def test_the_schema_fits_each_line_of_a_real_record() -> None:
    for line in run_record.text(read_document(SAMPLE)).splitlines():
        SCHEMA.validate(json.loads(line))


def test_a_record_of_several_machines_is_one_of_each() -> None:
    parts = [("a", samples.pair()), ("b", samples.pair())]
    kept = run_record.as_record(merged_of(parts), "merged")
    assert [one.run.machine_name for one in kept] == ["a", "b"]
    assert [len(one.entries) for one in kept] == [8, 8]
    assert "".join(map(run_record.text, kept)) == run_record.text(merged_of(parts))


def test_a_call_without_arrays_is_kept() -> None:
    whole = doc(samples.document(*(
        samples.measured("numpy", "nanobind", 5.0, protocol="call", arrays=arrays)
        for arrays in (0, 1, 2)
    )))  # fmt: skip
    [kept] = run_record.as_record(whole, "calls")
    assert [entry.arrays for entry in kept.entries] == [0, 1, 2]


def test_a_run_without_a_time_is_kept() -> None:
    refused = samples.missing("numpy", "torch", "refused", "no")
    [kept] = run_record.as_record(doc(samples.document(refused)), "refused")
    assert [entry.outcome for entry in kept.entries] == ["refused"]


def test_no_path_of_an_interpreter_is_kept() -> None:
    document = samples.pair()
    run = document["context"]["dlbench"]
    run["command"] = ["/home/me/bin/dlbench", "--matrix", "--env", "old=/home/me/bin/python"]
    run["environments"]["old"] = {"python": "3.12.1", "executable": "/home/me/bin/python"}
    text = run_record.text(doc(document))
    assert "/home/me" not in text
    assert "old=PYTHON" in text


def test_it_is_an_export(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(exporters.export(doc(samples.pair()), "record"))
    assert run_record.is_record(path)
    assert not run_record.is_record(SAMPLE)
    assert not run_record.is_record(tmp_path / "none")
    assert len(run_record.read(path)) == 1
    with pytest.raises(BadInput, match=r"'.*run.jsonl' is a record .* only 'dlbench site' reads"):
        locate(str(path))


def edited(number: int, key: Any, value: Any) -> list[str]:
    """The lines with another value in one of them."""
    line = json.loads(LINES[number])
    line[key] = value
    return [*LINES[:number], json.dumps(line), *LINES[number + 1 :]]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "is empty"),
        (["[]"], "line 1: is no record of a run"),
        (['{"context": {}}'], "line 1: is no record of a run"),
        (["{"], "line 1: is not JSON"),
        (["[" * 100_000], "line 1: is nested too deeply"),
        (edited(0, "dlbench_record", 2), "line 1: is a record of format 2; this dlbench reads 1"),
        (edited(0, "columns", ["producer"]), "line 1: has other columns"),
        (edited(0, "more", 1), "line 1: the record has the unknown key 'more'"),
        (edited(0, "shared", [{"outcome": 1}]), "line 1: 'outcome' of an item of 'shared'"),
        (edited(1, 4, -1), "line 2: 'bytes' is not a whole number from 0"),
        (edited(1, 4, True), "line 2: 'bytes' is not a whole number from 0"),
        (edited(1, 4, 2**63), "line 2: 'bytes' is not a whole number from 0 to 2^63 - 1"),
        (edited(1, 6, [1, 2, 10**400]), "line 2: an item of 'time_ns' is not a finite number"),
        (edited(1, 5, 10_000), "line 2: 'shared' is beyond"),
        (edited(1, 6, [1, 2]), "line 2: 'time_ns' is not 3 numbers"),
        (edited(1, 6, [1, 2, float("nan")]), "line 2: an item of 'time_ns' is not a finite number"),
        ([*LINES[:1], "[1]"], "line 2: is no list of 6 to 13 values"),
    ],
)
def test_a_file_that_is_no_record_is_refused(lines: list[str], why: str) -> None:
    with pytest.raises(BadInput, match=r"^file(, | is empty)") as refused:
        run_record.parse(lines, "file")
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("number", "key", "value"),
    [(0, "dlbench_record", 2), (0, "columns", ["producer"]), (0, "more", 1),
     (0, "shared", [{"outcome": 1}]), (1, 4, -1), (1, 4, True), (1, 4, 2**63), (1, 0, None),
     (1, 6, [1, 2]), (1, 6, ["1", 1, 1]), (1, 6, [1, 1, 10**400])],
)  # fmt: skip
def test_the_schema_refuses_what_the_reader_refuses(number: int, key: Any, value: Any) -> None:
    lines = edited(number, key, value)
    assert not SCHEMA.is_valid(json.loads(lines[number]))
    with pytest.raises(BadInput, match=f"line {number + 1}"):
        run_record.parse(lines, "file")


@given(
    number=st.integers(0, len(LINES) - 1),
    text=st.one_of(
        st.text(max_size=40),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=14)
                | st.dictionaries(st.sampled_from([*run_record.HEAD, "x"]), inner, max_size=8)
            ),
        ).map(json.dumps),
        st.integers(0, 400).map(lambda at: LINES[1][:at] + LINES[1][at + 1 :]),
    ),
)
@settings(max_examples=150, deadline=None)
def test_any_line_is_read_or_refused(number: int, text: str) -> None:
    """What is read can be written again."""
    lines = [*LINES[:number], text, *LINES[number + 1 :]]
    refused = ""
    try:
        documents = run_record.parse(lines, "file")
    except BadInput as error:
        refused, documents = str(error), []
    assert bool(documents) != refused.startswith("file, line ")
    assert refused or SCHEMA.is_valid(json.loads(text))
    again = "".join(map(run_record.text, documents)).splitlines()
    read = run_record.parse(again, "again") if again else []
    assert "".join(map(run_record.text, read)).splitlines() == again
