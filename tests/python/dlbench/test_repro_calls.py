"""The scripts of calls with several arrays run without dlbench, and find what reaches the body."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import synthetic
from dlbench.libraries import discover
from dlbench.scripts import exchange
from typed import entry_of

pytestmark = pytest.mark.process

ADAPTER = """
from dlbench.adapter import call_library
import ctypes

DISTRIBUTION = None
KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
FUNCTION = KIND(call_library().dlbench_call_function(2))


def function(a, b):
    FUNCTION(b.ctypes.data, a.ctypes.data)


PROTOCOLS = {"call": lambda arrays: function}
"""


#: Describes each argument with this stride and code of a dtype, as bindings in C++ do.
DESCRIBING = """
from dlbench.call_record import BodyRecord

plain = function


def function(*arrays):
    for i, array in enumerate(arrays if BodyRecord.of_library().described else ()):
        number = ctypes.c_int64 * 1
        call_library().dlbench_call_describe(
            i, 1, number(array.size), number(STRIDE), ctypes.c_int64(1), CODE, 32)
    plain(*arrays)
"""


def script(consumer: str, producer: str = "numpy", adapters: Path | None = None) -> str:
    entry = entry_of(synthetic.call(consumer, 2, 60, producer))
    return exchange.script(entry, discover.catalogue(adapters), {})


def actual(folder: Path, text: str, is_blocked: bool = True, shown: str = "") -> str:
    """What the script prints, without dlbench if that is blocked; also `shown`."""
    (folder / "dlbench.py").write_text("raise ImportError('not installed')")
    (folder / "script.py").write_text(text)
    more = {"PYTHONPATH": str(folder)} if is_blocked else {}
    command = [sys.executable, *["-P"] * (not is_blocked), "script.py"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                           env={**os.environ, **more}, timeout=300)  # fmt: skip
    last = ended.stdout.splitlines()[-1] if ended.stdout else ended.stderr
    assert (ended.returncode == 0) == (last == "actual: zero-copy")
    assert shown in ended.stdout
    return last.removeprefix("actual: ")


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("producer", "consumer"),
    [("numpy", "ctypes"), ("numpy", "numba"), ("torch", "torch"), ("numpy", "pybind11"),
     ("numpy", "numpy:gufunc"), ("numpy", "tvm_ffi:view"), ("jax", "jax:ffi"),
     ("numpy", "cython"), pytest.param("numpy", "cython:const", marks=pytest.mark.thorough),
     ("numpy", "cffi"), ("numpy", "cffi:api")],
)  # fmt: skip
def test_a_script_runs_without_dlbench(tmp_path: Path, producer: str, consumer: str) -> None:
    for name, module in (("cython", "Cython"), ("cffi", "cffi")):
        if consumer.startswith(name):
            pytest.importorskip(module)
    text = script(consumer, producer)
    assert "needs dlbench" not in text
    assert actual(tmp_path, text) == "zero-copy"


@pytest.mark.parametrize(
    ("fault", "found"),
    [("c_body(a1.ctypes.data, a0.ctypes.data)", "wrong"), ("c_body(a0.ctypes.data, 0)", "wrong"),
     ("pass", "wrong"), ("copy = a0.copy(); c_body(copy.ctypes.data, a1.ctypes.data)", "copy"),
     ("copy = a0 + 1; c_body(copy.ctypes.data, a1.ctypes.data)", "wrong")],
)  # fmt: skip
def test_a_fault_is_seen_by_the_script(tmp_path: Path, fault: str, found: str) -> None:
    call = "c_body(a0.ctypes.data, a1.ctypes.data)"
    text = script("ctypes")
    assert text.count(call) == 1
    assert actual(tmp_path, text.replace(call, fault)).partition(":")[0] == found


@pytest.mark.parametrize(
    ("described", "stride", "code", "found"),
    [("strides (8,), not (4,), in bytes", 8, 2, "wrong"),
     ("dtype int32, not float32", 4, 0, "wrong"),
     ("dtype float8_e5m2, not float32", 4, 12, "wrong"),
     ("dtype float4_e2m1fn, not float32", 4, 17, "wrong"),
     ("dtype code3bits32lanes1, not float32", 4, 3, "wrong"),
     ("strides (8,), not (4,), in bytes", 4, 2, "zero-copy")],
)  # fmt: skip
def test_a_script_shows_how_arguments_are_described(
    tmp_path: Path, described: str, stride: int, code: int, found: str
) -> None:
    place = tmp_path / "adapters" / "consumers" / "mine.py"
    place.parent.mkdir(parents=True)
    more = DESCRIBING.replace("STRIDE", str(stride)).replace("CODE", str(code))
    place.write_text(
        ADAPTER.replace("(a, b)", "(b, a)").replace("PROTOCOLS", more + "\n\nPROTOCOLS")
    )
    cell = synthetic.call("mine", 2, 60)
    missing = {key: cell[key] for key in ("name", "phase", "clock", "producer", "consumer",
               "protocol", "device", "case", "bytes", "environment", "arrays")}  # fmt: skip
    reason = f"call: argument 2 has {described}"
    why = {"outcome": "wrong", "code": "wrong-arguments", "data": {"described": described}}
    entry = entry_of(missing | why | {"reason": reason})
    text = exchange.script(entry, discover.catalogue(tmp_path / "adapters"), {})
    dtype = described.split(",")[0] if "dtype" in described else "dtype float32"
    shown = f"shape (256,), strides ({stride},), {dtype}"
    assert actual(tmp_path, text, is_blocked=False, shown=shown) == found


def test_an_adapter_without_lines_is_loaded(tmp_path: Path) -> None:
    place = tmp_path / "adapters" / "consumers" / "mine.py"
    place.parent.mkdir(parents=True)
    for text, found in ((ADAPTER, "wrong"), (ADAPTER.replace("(a, b)", "(b, a)"), "zero-copy")):
        place.write_text(text)
        made = script("mine", adapters=tmp_path / "adapters")
        assert "needs dlbench" in made
        assert actual(tmp_path, made, is_blocked=False).partition(":")[0] == found
