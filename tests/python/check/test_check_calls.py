"""`dlbench check --calls`: what bindings do with arguments that their functions do not declare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import samples
import synthetic
from dlbench.check import boundary, call_table
from dlbench.document import read_boundary
from dlbench.errors import BadInput
from dlbench.libraries import discover
from whole import run

pytestmark = pytest.mark.process

#: A function of two float32 arrays, which refuses what it does not declare.
HONEST = """
import ctypes
import numpy as np
from dlbench.adapter import call_library

DISTRIBUTION = None
FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(call_library().dlbench_call_function(2))

KEPT = []  # copies


def address(a):
    FAULT
    KEPT.append(a)
    if a.dtype != np.float32 or not a.dtype.isnative:
        raise TypeError("not float32")
    if not a.flags.c_contiguous or not a.flags.writeable or not a.flags.aligned or a.ndim != 1:
        raise ValueError("not a writable row")
    return a.ctypes.data


def function(a0, a1, /):
    FUNCTION(address(a0), address(a1))


PROTOCOLS = {"call": lambda arrays: function}
"""
REFUSED = {
    "float64": "TypeError", "strided": "ValueError", "reversed": "ValueError",
    "rank 2": "ValueError", "read-only": "ValueError", "big-endian": "TypeError",
    "unaligned": "ValueError", "None": "AttributeError", "a number": "AttributeError",
    "too few": "TypeError", "too many": "TypeError", "keyword": "TypeError",
    "sparse": "AttributeError",
    "PyData sparse": "AttributeError",
    "JAX BCOO": "AttributeError",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _numpy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_table, "PRODUCERS", ("numpy",))


def table(folder: Path, fault: str = "pass", timeout_s: float = 30.0) -> dict[str, str]:
    """The outcomes of a planted binding, in words."""
    path = folder / "consumers" / "mine.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(HONEST.replace("FAULT", fault))
    (row,) = call_table.rows(["mine"], discover.catalogue(folder), timeout_s, print)
    assert isinstance(row, call_table.Row)
    assert row.producer == "numpy"
    return {name: result.words for name, result in row.results.items()}


def test_a_binding_that_checks_its_arguments_refuses(tmp_path: Path) -> None:
    expected = {"float32": "taken"} | {name: f"refused ({e})" for name, e in REFUSED.items()}
    expected["meta"] = "no such array"
    assert table(tmp_path) == expected


#: Faults of one function, each with the condition that shows it and the outcome.
FAULTS = [
    {
        "if a is not None and a.dtype == 'f8': return a.ctypes.data": ("float64", "silently wrong"),
        "if a is None: return None": ("None", "silently wrong"),
        "if not hasattr(a, 'ctypes'): return None": ("sparse", "silently wrong"),
        "if a.ndim == 2: return a.ctypes.data": ("rank 2", "taken"),
        "if a.strides[-1] < 0: ctypes.string_at(0)": ("reversed", "crashed (SIGSEGV)"),
    },
    {
        "a = a.toarray() if hasattr(a, 'toarray') else a": ("sparse", "converted"),
        "a = a.todense() if type(a).__name__ == 'COO' else a": ("PyData sparse", "converted"),
        "a = np.array(a.todense()) if type(a).__name__ == 'BCOO' else a": ("JAX BCOO", "converted"),
        "if hasattr(a, 'ctypes'): a = np.ascontiguousarray(a)": ("strided", "copied"),
        "if hasattr(a, 'ctypes') and a.ndim == 2: a = (a * 2).ravel()": (
            "rank 2", "silently wrong",
        ),
    },
    {"if a is not None: a = np.ascontiguousarray(a, 'f4')": ("float64", "converted")},
]  # fmt: skip


@pytest.mark.parametrize("faults", FAULTS)
def test_each_other_outcome_is_told(tmp_path: Path, faults: dict[str, tuple[str, str]]) -> None:
    found = table(tmp_path, "\n    ".join(faults))
    assert {name: found[name] for name, _ in faults.values()} == dict(faults.values())
    assert found["float32"] == "taken"
    assert found["keyword"] == "refused (TypeError)"  # the worker's death is of one condition


@pytest.mark.libraries
def test_arrays_of_another_producer_where_the_first_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_table, "PRODUCERS", ("numpy", "torch"))
    for refuses, expected in ((False, "silently wrong with torch"), (True, "no such array")):
        fault = f"""if type(a).__module__ == 'torch' and not {refuses}: return a.data_ptr()"""
        found = table(tmp_path, fault)
        assert found["meta"] == expected
        assert found["reversed"] == "refused (ValueError)"  # NumPy has such an array


def test_a_binding_that_hangs_is_timed_out(tmp_path: Path) -> None:
    hang = "import time; time.sleep(600)"
    found = table(tmp_path, f"if a is not None and a.ndim == 2: {hang}", timeout_s=1.5)
    assert found["rank 2"] == "timed-out (deadline 1.5 s)"
    assert found["keyword"] == "refused (TypeError)"
    path = tmp_path / "consumers" / "mine.py"
    path.write_text(HONEST.replace("FAULT", hang))
    found_by = call_table.rows(["mine"], discover.catalogue(tmp_path), 1.5, print)
    assert list(found_by) == ["mine: timed-out with a plain array of numpy: deadline 1.5 s"]


def test_the_table_is_printed_and_written(tmp_path: Path) -> None:
    words = ["check", "--calls", "nanobind", "pybind11:noconvert", "--markdown", "table.md"]
    status, out, _ = run(tmp_path, *words)
    assert status == 0
    assert "nanobind, with arrays of numpy\n  taken: float32, unaligned\n" in out
    assert "  copied: strided, reversed\n" in out
    title, _, written, _, _, head, rule, *rows = (tmp_path / "table.md").read_text().splitlines()
    assert title == "# What a binding does with other arguments"
    assert f"`dlbench {' '.join(words)}`" in written
    assert head.count("|") == rule.count("|") == len(boundary.CONDITIONS) + 3
    assert [row.split(" | ")[0] for row in rows] == ["| nanobind", "| pybind11:noconvert"]
    status, _, err = run(tmp_path, *words)
    assert (status, err) == (
        2,
        "dlbench: --markdown table.md: exists already; --force replaces it\n",
    )


def test_the_table_of_a_run_is_kept_for_its_report(tmp_path: Path) -> None:
    words = ["check", "--calls", "--run", "run"]
    for folder, cell in (("run", synthetic.call("nanobind", 8, 130)), ("other", {})):
        made = samples.document(cell or samples.measured("numpy", "torch", 900.0))
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "results.json").write_text(json.dumps(made))
    assert run(tmp_path, *words)[0] == 0
    kept = read_boundary(tmp_path / "run/results.json")
    assert read_boundary(tmp_path / "run/other.json") is None
    assert kept is not None
    (row,) = kept["rows"]
    assert (row["binding"], row["arrays of"], row["strided"]) == ("nanobind", "numpy", "copied")
    assert kept["command"] == "dlbench check --calls nanobind"
    assert "numpy " in kept["libraries"]
    status, out, _ = run(tmp_path, "report", "run")
    assert (status, out) == (0, "run/report.html\n")
    faults = {
        (*words,): "--run run/boundary.json: exists already; --force replaces it",
        ("check", "numpy", "--run", "run"): "--run needs --calls",
        (*words[:3], "other"): "--run other: the run has no calls, as of 'dlbench --calls'",
    }
    for wrong, fault in faults.items():
        assert run(tmp_path, *wrong)[::2] == (2, f"dlbench: {fault}\n")
    for text in ("{", "[]", '{"command": "x", "libraries": "", "rows": [{"binding": 1}]}'):
        (tmp_path / "run" / "boundary.json").write_text(text)
        status, _, err = run(tmp_path, "report", "run")
        assert status == 2
        assert "run/boundary.json: no table of 'dlbench check --calls --run'" in err


def test_what_cannot_be_checked_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"'nanobin' is no binding .*did you mean 'nanobind'"):
        list(call_table.rows(["nanobin"], discover.catalogue(), 30.0, print))
    path = tmp_path / "consumers" / "mine.py"
    path.parent.mkdir()
    path.write_text("DISTRIBUTION = None\nimport no_such\nPROTOCOLS = {'call': None}\n")
    (why,) = call_table.rows(["mine"], discover.catalogue(tmp_path), 30.0, print)
    assert isinstance(why, str)
    assert "no_such" in why
    status, _, err = run(tmp_path, "check", "--calls", "--only", "export")
    assert status == 2
    assert "--only" in err
