"""Documents that no dlbench wrote: every verb that takes a RUN says one line that names the file,
or copes; whatever is in them, there is no traceback and nothing is overwritten."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import synthetic
from dlbench import cli

Path_ = tuple[str | int, ...]


def small() -> dict[str, Any]:
    """Copies, refusals, phases, warnings and a request: every kind of thing that verbs read."""
    made = synthetic.document(("native", "numpy", "mlx"), (4096, 1 << 20), failing=0.2)
    made = synthetic.with_phases(made)
    about = made["context"]["dlbench"]
    about["request"] = {"couple": [], "protocols": ["dlpack"], "budget": "", "adapters": ""}
    about["absent"] = {"torch": "pip install torch"}
    about["environments"]["default"]["anchor"] = {
        "median_ns": 60.0, "spread": 0.02, "half_width": 0.1, "workers": 4}  # fmt: skip
    about["environments"]["default"]["copy_floors_gb_per_s"] = {"warm": 10.0, "fresh": 1.0}
    made["benchmarks"][0]["warnings"] = ["few rounds", "near floor"]
    return made


SMALL = small()


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place in a document, of lists the first two items."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value[:2]):
            yield from places(inner, (*path, index))


PLACES = [path for path in places(SMALL) if path]
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(2**70), max_value=2**70),
    st.floats(),  # NaN and the infinities with the rest
    st.text(max_size=8),
    st.sampled_from([[], {}, [1], {"a": 1}, ["x"], [[]], [{}], "\x1b[31m", "a\nb", "../..", "0"]),
)


def planted(path: Path_, value: Any, drop: bool) -> str:
    """The document with something else at that place, or without it."""
    made = copy.deepcopy(SMALL)
    place: Any = made
    for part in path[:-1]:
        place = place[part]
    if drop:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(made)


def said(*words: str) -> tuple[int, str]:
    """The status of a command and what it wrote on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(words)
    return status, err.getvalue()


def commands(run: str, honest: str, out: str) -> list[list[str]]:
    return [
        ["show", run],
        ["show", run, "numpy", "native", "dlpack", "4KiB"],
        ["repro", run, "numpy", "native"],
        ["compare", honest, run],
        ["compare", run, honest, "--json", "--force"],
        ["merge", f"a={run}", f"b={honest}", "--out", out],
    ]


def check(text: str | bytes) -> None:
    """Every verb on a document of that text."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bad").mkdir()
        bad, honest = folder / "bad" / "results.json", folder / "honest.json"
        bad.write_bytes(text.encode() if isinstance(text, str) else text)
        honest.write_text(json.dumps(SMALL))
        before = bad.read_bytes()
        for words in commands(str(bad), str(honest), str(folder / "out")):
            status, err = said(*words)
            assert status in (0, 1, 2, 3), words
            if status == 2:
                assert err.startswith("dlbench: "), (words, err)
                assert err.count("\n") == 1, (words, err)
                assert err.isprintable() or err[:-1].isprintable(), (words, err)
            shutil.rmtree(folder / "out", ignore_errors=True)
        assert bad.read_bytes() == before
        assert sorted(path.name for path in folder.iterdir()) == ["bad", "honest.json"]


def test_the_honest_document_is_read() -> None:
    check(json.dumps(SMALL))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "results.json"
        path.write_text(json.dumps(SMALL))
        assert said("show", str(path))[0] == 0


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=st.sampled_from(PLACES), value=STRANGE, drop=st.booleans())
def test_something_else_anywhere(path: Path_, value: Any, drop: bool) -> None:
    check(planted(path, value, drop))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "/".join(map(str, place)))
def test_what_no_terminal_prints_is_spelled_out(place: Path_) -> None:
    check(planted(place, "\ud7fc", drop=False))


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_text(data: st.DataObject) -> None:
    text = json.dumps(SMALL).encode()
    at = data.draw(st.integers(0, len(text) - 1))
    how = data.draw(st.sampled_from(["cut", "change", "insert"]))
    if how == "cut":
        check(text[:at])
    elif how == "change":
        check(text[:at] + data.draw(st.binary(min_size=1, max_size=1)) + text[at + 1 :])
    else:
        check(text[:at] + data.draw(st.binary(min_size=1, max_size=9)) + text[at:])


def fault(change: Any) -> str:
    made = copy.deepcopy(SMALL)
    change(made)
    return json.dumps(made)


def twice(made: dict[str, Any]) -> None:
    made["benchmarks"].append(made["benchmarks"][0])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "the file is empty"),
        (json.dumps(SMALL)[:5000], "broken at byte"),
        (b"\xff\xfe{}", "not UTF-8"),
        ("[1, 2]", "expected an object"),
        ('{"context": {"date": ""}, "benchmarks": []}', "not a dlbench results document"),
        (fault(lambda m: m["context"]["dlbench"].update(schema=2)), "/context/dlbench/schema"),
        (fault(lambda m: m["benchmarks"][0].update(real_time=float("nan"))),
         "/benchmarks/0/real_time"),
        (fault(lambda m: m["benchmarks"][1].update(lo_ns=-1.0)), "/benchmarks/1/lo_ns"),
        (fault(lambda m: m["benchmarks"][1]["workers"][0].update(median_ns=0)),
         "/benchmarks/1/workers/0/median_ns"),
        (fault(twice), "/name: expected a name that no other cell has"),
    ],
    ids=["empty", "truncated", "binary", "foreign list", "foreign", "future", "nan", "negative",
         "zero", "duplicated"],
)  # fmt: skip
def test_what_is_wrong_is_named(text: str | bytes, place: str, tmp_path: Path) -> None:
    check(text)
    path = tmp_path / "results.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    status, err = said("show", str(path))
    assert status == 2
    assert str(path) in err
    assert place in err


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    with path.open("wb") as file:
        file.truncate(5 << 30)  # a hole: no disk is needed
    status, err = said("show", str(path))
    assert status == 2
    assert "larger than" in err
