"""MXNet's Python 3.10 and NumPy 1.26 as environments. tests/environments/run makes both and runs
this.

DLBENCH_MXNET and DLBENCH_NUMPY126 are their interpreters.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from whole import document, entries, left_alive, run

pytestmark = pytest.mark.process

SCHEMA = Path(__file__).parents[2] / "results/schema.json"

needs_mxnet = pytest.mark.skipif(
    "DLBENCH_MXNET" not in os.environ, reason="DLBENCH_MXNET names no such Python"
)
needs_numpy126 = pytest.mark.skipif(
    "DLBENCH_NUMPY126" not in os.environ, reason="DLBENCH_NUMPY126 names no such Python"
)
#: What becomes of MXNet's arrays, and at MXNet.
MXNET = {
    ("native", "mxnet", "dlpack"): "zero-copy",
    ("numpy", "mxnet", "dlpack"): "zero-copy",
    ("native", "mxnet", "convert"): "copy",
    ("numpy", "mxnet", "convert"): "copy",
    ("mxnet", "mxnet", "convert"): "copy",
    # By to_dlpack_for_read, which is no attribute that a consumer would ask.
    ("mxnet", "numpy", "dlpack"): "zero-copy",
    ("mxnet", "native", "dlpack"): "zero-copy",
    ("mxnet", "mxnet", "dlpack"): "zero-copy",
    # It has no __array__: NumPy makes an array of its rows, as Python objects.
    ("mxnet", "numpy", "convert"): "no-protocol",
    ("native", "mxnet", "dlpack_c"): "no-protocol",
}


def reported(folder: Path) -> dict[str, Any]:
    written = document(folder)
    jsonschema.validate(written, json.loads(SCHEMA.read_text()))
    found: dict[str, Any] = written["context"]["dlbench"]["environments"]
    return found


@needs_mxnet
def test_mxnet_is_measured_in_its_own_python(tmp_path: Path) -> None:
    names = "native,numpy,mxnet"
    status, out, err = run(
        tmp_path, "--matrix", "--env", f"mxnet310={os.environ['DLBENCH_MXNET']}", "--producers",
        names, "--consumers", names, "--sizes", "4KiB", "--out", "run", "--precision", "20%",
    )  # fmt: skip
    assert status == 0, err
    assert left_alive(tmp_path) == []
    environments = reported(tmp_path)
    assert environments["mxnet310"]["python"].startswith("3.10.")
    assert environments["mxnet310"]["libraries"] == {"mxnet": "1.9.1", "numpy": "1.23.5"}
    found = entries(document(tmp_path)).values()
    there = [e for e in found if e["environment"] == "mxnet310" and e["clock"] == "call"]
    outcomes = {(e["producer"], e["consumer"], e["protocol"]): e["outcome"] for e in there}
    assert {key: outcomes[key] for key in MXNET} == MXNET
    exported = [e for e in there if (e["producer"], e["protocol"]) == ("mxnet", "dlpack")]
    assert {e["observed"]["via"] for e in exported} == {"exports"}
    here = [e for e in found if e["environment"] == "default"]
    assert {e["outcome"] for e in here if "mxnet" in (e["producer"], e["consumer"])} == {
        "not-installed"
    }
    numpy = {e["environment"]: e for e in found if _is_numpy_dlpack(e)}
    assert {name: e["outcome"] for name, e in numpy.items()} == {
        "default": "zero-copy",
        "mxnet310": "zero-copy",
    }
    assert "in mxnet310   host time of one exchange" in out


def _is_numpy_dlpack(entry: dict[str, Any]) -> bool:
    return {entry["producer"], entry["consumer"], entry["protocol"]} == {"numpy", "dlpack"}


@needs_mxnet
def test_one_pair_of_mxnet(tmp_path: Path) -> None:
    mxnet = f"mxnet310={os.environ['DLBENCH_MXNET']}"
    words = ("--protocols", "dlpack", "--sizes", "4KiB", "--phases", "all")
    status, _, err = run(tmp_path, "mxnet", "numpy", "--env", mxnet, *words, "--out", "run")
    assert status == 0, err
    _, out, _ = run(tmp_path, "show", "run")
    assert "numpy -> mxnet" in out
    assert "mxnet in default (pip install mxnet)" in out
    exchange = next(e for e in document(tmp_path)["benchmarks"] if "phases" in e)
    assert {part["phase"] for part in exchange["phases"]["parts"]} >= {"export", "import"}


@needs_mxnet
def test_mxnets_engine_holds_the_host(tmp_path: Path) -> None:
    mxnet = f"mxnet310={os.environ['DLBENCH_MXNET']}"
    words = ("--protocols", "dlpack", "--sizes", "4KiB", "--sync", "--out", "run")
    status, _, err = run(tmp_path, "mxnet", "numpy", "--env", mxnet, *words)
    assert status == 0, err
    classified = [e for e in document(tmp_path)["benchmarks"] if "sync" in e]
    assert {(e["producer"], e["environment"]) for e in classified} == {("mxnet", "mxnet310")}
    own = classified[0]["sync"][0]
    assert (own["waits"], own["content"], own["requested_by"]) == ("host", "new", "consumer")
    assert own["export_blocked"] > 0.7


@needs_numpy126
def test_numpy_126_beside_ours(tmp_path: Path) -> None:
    """NumPy 2.1 learned `max_version` of DLPack; before, its arrays cross in the legacy struct."""
    if tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
        pytest.skip("ours speaks no versioned DLPack either")
    old = f"np126={os.environ['DLBENCH_NUMPY126']}"
    names = ("--producers", "native,numpy", "--consumers", "native,numpy")
    status, out, err = run(
        tmp_path, "--matrix", "--env", old, *names, "--sizes", "4KiB", "--out", "run"
    )
    assert status == 0, err
    environments = reported(tmp_path)
    assert environments["np126"]["libraries"]["numpy"].startswith("1.26.")
    assert environments["default"]["libraries"]["numpy"] == np.__version__
    found = entries(document(tmp_path)).values()
    numpy = {e["environment"]: e for e in found if _is_numpy_dlpack(e)}
    assert {name: e["outcome"] for name, e in numpy.items()} == {
        "default": "zero-copy",
        "np126": "zero-copy",
    }
    exported = {
        e["environment"]: e
        for e in found
        if (e["producer"], e["consumer"], e["protocol"]) == ("numpy", "native", "dlpack")
    }
    assert numpy["default"]["observed"]["struct"] == "versioned"
    assert numpy["np126"]["observed"]["struct"] == "legacy"
    # Asked for `max_version`, 1.26 raises, and is asked again.
    requested = {name: " ".join(entry["observed"]["calls"]) for name, entry in exported.items()}
    assert {name: "TypeError" in calls for name, calls in requested.items()} == {
        "default": False,
        "np126": True,
    }
    assert "beside default" in out
