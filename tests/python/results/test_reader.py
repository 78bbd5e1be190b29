"""Documents that no dlbench wrote: every verb that takes a RUN says one line that names the file,
or copes; whatever is in them, there is no traceback and nothing is overwritten."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import comparisons
import samples
import synthetic
from dlbench import _core, cli
from dlbench.command import api
from dlbench.compare import sides
from dlbench.errors import BadInput
from dlbench.running import request
from typed import merged_of

pytestmark = pytest.mark.process

Path_ = tuple[str | int, ...]

RESULTS = Path(__file__).parents[3] / "results"
SCHEMAS = {
    name: jsonschema.Draft202012Validator(json.loads((RESULTS / name).read_text()))
    for name in ("schema.json", "compare.schema.json")
}
#: How many documents each property is tried on; more by hand.
EXAMPLES = int(os.environ.get("DLBENCH_READER_EXAMPLES", "20"))
FEW = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None
)
FIGURES = ("matrix", "scaling", "phases", "fallbacks", "sync")
FORMATS = ("bmf", "pyperf", "csv", "markdown", "support")


def small() -> dict[str, Any]:
    """Copies, refusals, phases, warnings and a request: every kind of thing that verbs read."""
    made = synthetic.document(("native", "numpy", "mlx"), (4096, 1 << 20), failing=0.2)
    made = synthetic.with_phases(made)
    about = made["context"]["dlbench"]
    about["request"] = {"pair": [], "protocols": ["dlpack"], "budget": "", "adapters": ""}
    about["not_installed"] = {"torch": "pip install torch"}
    about["environments"]["default"]["reference_exchange"] = {
        "median_ns": 60.0, "spread": 0.02, "workers": 4}  # fmt: skip
    about["environments"]["default"]["between_processes"] = [
        {"length_ns": 64.0, "half_width": 0.1, "series": 1},
        {"length_ns": 4096.0, "half_width": 0.05, "series": 30},
    ]
    about["environments"]["default"]["copy_floors_gb_per_s"] = {"warm": 10.0, "fresh": 1.0}
    made["benchmarks"][0]["warnings"] = [samples.warned("few-rounds"), samples.warned("near-floor")]
    about["machine"]["devices"].append(
        {"name": "cuda", "state": "ok", "count": 1, "version": "13.0",
         "units": [{"name": "H200", "uuid": "GPU-1", "mode": "default"}]}
    )  # fmt: skip
    ordering = {
        "stream": 1,
        "requested_by": "consumer",
        "reads_on": "own",
        "expected": "order",
        "waits": "stream",
        "content": "new",
    }
    made["benchmarks"][0]["sync"] = [{**ordering, "transfer_ns": 90.0, "gap_ns": -5.0}]
    made["benchmarks"][0]["late_free"] = "safe"
    made["context"]["load_avg"] = [0.5, 0.5, 0.5]
    return made


def checked() -> dict[str, Any]:
    """What `dlbench check` writes."""
    made = synthetic.document((), ())
    rule = {"library": "numpy", "version": "2.4", "rule": "export.copy-true", "role": "producer",
            "device": "cpu", "level": "must", "section": "array API",
            "observed": "one"}  # fmt: skip
    broken = {"outcome": "broken", "accepted": False, "reproducer": "print()"}
    holds = {"rule": "export.copy-false", "outcome": "holds", "struct": "legacy"}
    made["checks"] = [{**rule, **broken, "signal": "SIGSEGV"}, {**rule, **holds}]
    return made


def merged() -> dict[str, Any]:
    """What `dlbench merge` writes, of two machines."""
    parts = [(name, synthetic.document(("native", "numpy"), (4096,))) for name in ("a", "b")]
    return merged_of(parts).to_json()


SMALL = small()
CHECKED = checked()
MERGED = merged()
#: A journal's, of a comparison of two sides.
HEADER = {
    **SMALL["context"],
    "dlbench": {
        **SMALL["context"]["dlbench"],
        "request": {**request.Request().kept(), "sizes": ["4KiB"], "producers": ["numpy"]},
        "compare": {"env": [], "workers": 5, "threshold": 0.05, "instructions": False},
    },
}
CHANGED = comparisons.of(SMALL, synthetic.document(("native", "numpy", "mlx"), (4096,)))


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place in a document, of lists the first two items."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value[:2]):
            yield from places(inner, (*path, index))


Place = tuple[str, Path_]
DOCUMENTS = {"run": SMALL, "checks": CHECKED, "merged": MERGED, "change": CHANGED, "header": HEADER}


def places_in(*names: str) -> list[Place]:
    """Each place of these documents, with its document's name."""
    return [(name, path) for name in names for path in places(DOCUMENTS[name]) if path]


PLACES = [path for path in places(SMALL) if path]
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(2**70), max_value=2**70),
    st.floats(),  # NaN and the infinities with the rest
    st.text(max_size=8),
    st.sampled_from([[], {}, [1], {"a": 1}, ["x"], [[]], [{}], "\x1b[31m", "a\nb", "../..", "0"]),
    st.sampled_from([0, -1, 2**53 - 1, 2**63, 2**64 - 1, 1e18, 1e300, -1e300, 1e-18, 5e-324]),
    st.sampled_from(["caf\udce9", "\ud83d", "$x^", "9" * 5000, "1/0", "cuda:0"]),
)


def planted(document: str, path: Path_, value: Any, drop: bool) -> str:
    """The document with something else at that place, or without it."""
    made = copy.deepcopy(DOCUMENTS[document])
    place: Any = made
    for part in path[:-1]:
        place = place[part]
    if drop:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(made)


def message(*words: str) -> tuple[int, str]:
    """The status of a command and what it wrote on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(words)
    return status, err.getvalue()


def shown_by(run: str, honest: str, out: str) -> list[list[str]]:
    """The commands that print."""
    return [
        ["show", run],
        ["show", run, "numpy", "native", "dlpack", "4KiB"],
        ["repro", run, "numpy", "native"],
        ["compare", honest, run],
        ["compare", run, honest, "--json", "--force"],
        ["merge", f"a={run}", f"b={honest}", "--out", out],
    ]


def written_by(run: str, out: str) -> list[list[str]]:
    """The commands that write files for others."""
    return [
        *(["export", run, "--format", name, "--output", f"{out}.{name}"] for name in FORMATS),
        ["report", run, "--output", f"{out}.html"],
    ]


def require_one_line(words: list[str], status: int, err: str, file: str) -> None:
    assert status in (0, 1, 2, 3, 4), (words, status)
    if status == 2:
        assert err.startswith("dlbench: "), (words, err)
        assert err.count("\n") == 1, (words, err)
        assert err[:-1].isprintable(), (words, err)
    if ": expected " in err:
        assert file in err, (words, err)


def accepted(path: Path, schema: str) -> bool:
    """Is it read? What is, its schema allows too."""
    validate = _core.validate_document if schema == "schema.json" else _core.validate_comparison
    try:
        validate(str(path))
    except _core.UsageError:
        return False
    SCHEMAS[schema].validate(json.loads(path.read_text()))
    return True


def check(text: str | bytes, figure: str = "") -> None:
    """Every verb on a document of that text; those that write files only where one is a figure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bad").mkdir()
        bad, honest = folder / "bad" / "results.json", folder / "honest.json"
        bad.write_bytes(text.encode() if isinstance(text, str) else text)
        honest.write_text(json.dumps(SMALL))
        before = bad.read_bytes()
        accepted(bad, "schema.json")
        for words in shown_by(str(bad), str(honest), str(folder / "out")):
            require_one_line(words, *message(*words), str(bad))
            shutil.rmtree(folder / "out", ignore_errors=True)
        if figure:
            for words in written_by(str(bad), str(folder / "out")):
                require_one_line(words, *message(*words), str(bad))
                (folder / words[-1]).unlink(missing_ok=True)
            words = ["plot", str(bad), "--figure", figure]
            require_one_line(words, *message(*words), str(bad))
            with contextlib.suppress(BadInput, _core.UsageError):
                api.load(bad).frame()
        assert bad.read_bytes() == before
        assert sorted(path.name for path in folder.iterdir()) == ["bad", "honest.json"]


def check_comparison(text: str) -> None:
    """Every reader of what a run of two sides left beside its document."""
    with tempfile.TemporaryDirectory() as name:
        run, bad = Path(name) / "results.json", Path(name) / "comparison.json"
        run.write_text(json.dumps(CHECKED | {"checks": []}))
        bad.write_text(text)
        is_read = accepted(bad, "compare.schema.json")
        for words in (["report", str(run)], ["plot", str(run), "--figure", "change"]):
            status, err = message(*words)
            require_one_line(words, status, err, str(bad))
            assert status == (0 if is_read else 2), (words, err)


def check_header(context: str) -> None:
    """Every reader of what a journal says was asked of a run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal = folder / "journal.jsonl"
        header = f'{{"dlbench_journal": 1, "fingerprint": "", "context": {context}}}\n'
        journal.write_text(header)
        status, err = message("show", name)
        require_one_line(["show"], status, err, name)
        with contextlib.suppress(BadInput, _core.UsageError):
            requested = request.resumed(request.journal_context(folder, {}))
            _core.make_plan([], requested.axes())
            requested.options(folder, {}, resume=True)
            with mock.patch.object(sides, "pair"):  # it would ask interpreters
                sides.kept(folder, {"quiet": True, "as_json": False})
        assert journal.read_text() == header


@pytest.mark.parametrize("name", ["run", "checks", "merged"])
def test_the_honest_document_is_read(name: str, tmp_path: Path) -> None:
    document = DOCUMENTS[name]
    SCHEMAS["schema.json"].validate(document)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    assert accepted(path, "schema.json")
    for words in (["show", str(path)], ["report", str(path)]):
        assert message(*words)[0] == 0, words


def test_what_was_kept_of_an_honest_comparison_is_read() -> None:
    SCHEMAS["compare.schema.json"].validate(CHANGED)
    check_comparison(json.dumps(CHANGED))


@FEW
@given(
    place=st.sampled_from(places_in("run", "checks", "merged")),
    value=STRANGE,
    drop=st.booleans(),
    figure=st.sampled_from(FIGURES),
)
def test_something_else_anywhere(place: Place, value: Any, drop: bool, figure: str) -> None:
    check(planted(*place, value, drop), figure)


@FEW
@given(place=st.sampled_from(places_in("change")), value=STRANGE, drop=st.booleans())
def test_something_else_anywhere_in_a_comparison(place: Place, value: Any, drop: bool) -> None:
    check_comparison(planted(*place, value, drop))


@FEW
@given(place=st.sampled_from(places_in("header")), value=STRANGE, drop=st.booleans())
def test_something_else_anywhere_in_a_journals_header(place: Place, value: Any, drop: bool) -> None:
    check_header(planted(*place, value, drop))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "/".join(map(str, place)))
def test_what_no_terminal_prints_is_spelled_out(place: Path_) -> None:
    check(planted("run", place, "\ud7fc", drop=False))


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
        (json.dumps(SMALL)[:5000], "invalid JSON at byte"),
        (b"\xff\xfe{}", "not UTF-8"),
        ("[1, 2]", "expected an object"),
        ('{"context": {"date": ""}, "benchmarks": []}', "not a dlbench results document"),
        (fault(lambda m: m["context"]["dlbench"].update(schema=2)), "/context/dlbench/schema"),
        (fault(lambda m: m["benchmarks"][0].update(real_time=float("nan"))),
         "/benchmarks/0/real_time"),
        (fault(lambda m: m["benchmarks"][1].update(lo_ns=-1.0)), "/benchmarks/1/lo_ns"),
        (fault(lambda m: m["benchmarks"][1]["workers"][0].update(median_ns=0)),
         "/benchmarks/1/workers/0/median_ns"),
        (fault(twice), "/name: expected a name that no earlier cell has"),
    ],
    ids=["empty", "truncated", "binary", "foreign list", "foreign", "future", "nan", "negative",
         "zero", "duplicated"],
)  # fmt: skip
def test_what_is_wrong_is_named(text: str | bytes, place: str, tmp_path: Path) -> None:
    check(text)
    path = tmp_path / "results.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    status, err = message("show", str(path))
    assert status == 2
    assert str(path) in err
    assert place in err


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    with path.open("wb") as file:
        file.truncate(5 << 30)  # a hole: no disk is needed
    status, err = message("show", str(path))
    assert status == 2
    assert "larger than" in err
