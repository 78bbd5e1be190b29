"""NumPy's dispatch as protocols: `array_ufunc` is np.multiply(x, x), `array_function` is
np.concatenate((x, x))."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from test_worker import MAKE, cross

import whole
from dlbench.libraries import discover

pytestmark = pytest.mark.process

TAKE = (discover.PACKAGE / "consumers" / "numpy.py").read_text()
#: Arrays of a unit that one of the two functions loses.
UNITS = """
import numpy as np

DISTRIBUTION = None


class Metres:
    def __init__(self, array, unit="m"):
        self.array, self.unit = array, unit

    def __array_ufunc__(self, ufunc, method, *given, **more):
        arrays = [one.array for one in given]
        return Metres(getattr(ufunc, method)(*arrays, **more))

    def __array_function__(self, function, types, args, more):
        return Metres(function([one.array for one in args[0]]), unit="")


def make(case, device):
    return Metres(case.numpy())


def values(metres):
    return metres.array


def extras(metres):
    return {"unit": metres.unit} if metres.unit else {}
"""
BOTH = ("array_ufunc", "array_function")


@pytest.mark.parametrize("protocol", BOTH)
def test_an_array_of_numpys_own_is_kept(tmp_path: Path, protocol: str) -> None:
    ok = cross(tmp_path, MAKE, TAKE, protocol)["ok"]
    assert (ok["outcome"], ok["changed"]) == ("unproven", [])
    assert (ok["observed"]["used"], ok["observed"]["via"]) == (protocol, "direct")
    assert set(ok["evidence"].values()) == {"skipped"}
    assert ok["warnings"] == []


@pytest.mark.parametrize(
    ("protocol", "changed"), [("array_ufunc", []), ("array_function", ["unit"])]
)
def test_a_unit_that_is_lost_is_named(tmp_path: Path, protocol: str, changed: list[str]) -> None:
    assert cross(tmp_path, UNITS, TAKE, protocol)["ok"]["changed"] == changed


def test_another_type_is_named(tmp_path: Path) -> None:
    make = UNITS.replace("return Metres(getattr(ufunc, method)(*arrays, **more))",
                         "return getattr(ufunc, method)(*arrays, **more)")  # fmt: skip
    assert cross(tmp_path, make, TAKE, "array_ufunc")["ok"]["changed"] == ["type", "unit"]


def test_what_overrides_nothing_is_no_protocol_and_what_numpy_makes_of_it_is_reported(
    tmp_path: Path,
) -> None:
    make = "import array\ndef make(case, device): return array.array('f', case.numpy().tolist())\n"
    for protocol, function in zip(BOTH, ("multiply", "concatenate"), strict=True):
        error = cross(tmp_path, make, TAKE, protocol)["error"]
        assert error["outcome"] == "no-protocol"
        assert error["reason"] == (
            f"a array.array offers no {protocol}: NumPy converts it; np.{function}: numpy.ndarray"
        )
        assert (error["code"], error["data"]) == ("converted", {"became": "numpy.ndarray"})


def test_what_it_raises_is_a_refusal(tmp_path: Path) -> None:
    make = UNITS.replace(
        "        arrays = [one.array for one in given]", "        return NotImplemented"
    )
    error = cross(tmp_path, make, TAKE, "array_ufunc")["error"]
    assert (error["outcome"], error["exception"]) == ("refused", "TypeError")


def test_a_run_its_phases_its_script_and_its_table(tmp_path: Path) -> None:
    whole.plant(tmp_path / "more", "metres", make=UNITS)
    words = ("--adapters", "more", "--producers", "metres,numpy,bytearray", "--consumers")
    status, _, err = whole.run(
        tmp_path, "--matrix", *words, "numpy,native", "--protocols", ",".join(BOTH), "--sizes",
        "64KiB", "--phases", "exchange,import", "--precision", "99%", *whole.QUICK, "--quiet",
        "--out", "run",
    )  # fmt: skip
    assert (status, err) == (0, "")
    found = whole.entries(whole.document(tmp_path)).values()
    measured = [e for e in found if "real_time" in e]
    assert {(e["producer"], e["protocol"]) for e in measured} == {
        (name, protocol) for name in ("metres", "numpy") for protocol in BOTH
    }
    assert all("gb_per_s" not in e for e in measured)
    phases = [e for e in found if e["phase"] == "import" and e["consumer"] == "numpy"]
    reported = {e["reason"] for e in phases if e["producer"] == "numpy"}
    assert reported == {"nothing is transferred: NumPy's function calls the array's own code"}
    assert {e["outcome"] for e in found if e["consumer"] == "native"} == {"no-protocol"}
    arguments = ("repro", "run", "numpy", "numpy", "array_function", "--adapters", "more")
    script = whole.run(tmp_path, *arguments)[1]
    assert "result = np.concatenate((array, array))" in script
    subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    page = whole.run(tmp_path, "export", "run", "--format", "support")[1]
    table = page.partition("## Under NumPy's own functions")[2]
    assert "| metres | kept | drops unit |" in table
    assert "| numpy | kept | kept |" in table
    assert "| bytearray | converted: numpy.ndarray | converted: numpy.ndarray |" in table
    assert "`array_ufunc` on cpu" not in page
