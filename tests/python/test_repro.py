"""A reproducer needs no dlbench, runs, and shows what the run saw."""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import planted
import samples
import test_on_top_of_arrays as on_top
from dlbench import _core, discover, repro
from dlbench.case import Case
from dlbench.facts import bound_names
from outcomes import CONDITIONAL, ELSEWHERE, OUTCOMES


@pytest.fixture
def found(tmp_path: Path) -> discover.Catalogue:
    return discover.catalogue(planted.plant(tmp_path / "adapters"), package=tmp_path)


def ran(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Runs it where dlbench cannot be imported."""
    path = tmp_path / "script.py"
    path.write_text("import sys\nsys.modules['dlbench'] = None\n" + script)
    return subprocess.run([sys.executable, "-I", path], capture_output=True, text=True, timeout=60)


def undefined(script: str) -> set[str]:
    """Names that a script reads and nothing in it binds."""
    names = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Name)]
    bound = {name.id for name in names if isinstance(name.ctx, ast.Store)} | set(dir(builtins))
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom):
            bound |= set(bound_names(node))
    return {name.id for name in names if isinstance(name.ctx, ast.Load)} - bound


@pytest.mark.parametrize("case", _core.case_names)
def test_the_source_has_the_layout_and_content_of_the_case(case: str) -> None:
    facts = repro.attributes(case, samples.own_size(case))
    scope: dict[str, Any] = {"np": np}
    exec("\n".join(repro.source(facts)), scope)
    made = scope["source"]
    wanted = Case(**_core.case(case), bytes=facts["bytes"]).numpy()
    assert (made.dtype, made.shape, made.strides) == (wanted.dtype, wanted.shape, wanted.strides)
    assert made.flags.writeable == wanted.flags.writeable
    if facts["layout"] not in ("reversed", "empty"):
        assert made.ctypes.data % facts["align"] == facts["offset"]
    assert np.array_equal(made, wanted, equal_nan=facts["special"] == "nulls")


@pytest.mark.parametrize(
    ("protocol", "case", "clock"),
    [
        ("dlpack", "f32", "call"),
        ("dlpack", "f64", "ready"),
        ("buffer", "f32-unaligned", "call"),
        ("convert", "f32-strided", "call"),
        ("convert", "c64", "ready"),
    ],
)
def test_a_measured_cell_runs_and_is_timed(  # type: ignore[no-untyped-def]
    found, tmp_path, protocol, case, clock
) -> None:
    entry = samples.measured("mine", "mine", 940.0, protocol=protocol, case=case, clock=clock)
    script = repro.script(entry, found, {"mine": "1.0"})
    done = ran(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "numpy.ndarray" in done.stdout
    assert done.stdout.splitlines()[-1].endswith(" ns")
    assert undefined(script) == set()
    assert "# with mine 1.0" in script


def test_a_device_waits_for_whom_has_no_ready(found: discover.Catalogue) -> None:
    entry = samples.measured("native", "native", 940.0, device="sim:0", clock="ready")
    assert "ready(" not in repro.script(entry, discover.catalogue(), {})


def test_a_refusal_is_raised_again(found: discover.Catalogue, tmp_path: Path) -> None:
    why = {"exception": "BufferError", "protocol": "dlpack_c"}
    entry = samples.missing("mine", "mine", "refused", "not today", **why)
    script = repro.script(entry, found, {})
    assert "# seen: refused: BufferError: not today" in script
    done = ran(script, tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "BufferError: not today"


def test_a_capsule_is_asked_for_and_handed_on(found: discover.Catalogue, tmp_path: Path) -> None:
    entry = samples.missing("mine", "mine", "wrong", "why", protocol="dlpack_legacy")
    script = repro.script(entry, found, {})
    assert "result = type(array.__dlpack__())" in script
    assert "PyCapsule" in ran(script, tmp_path).stdout


def test_only_the_branch_that_the_case_takes_is_printed(found: discover.Catalogue) -> None:
    script = repro.script(samples.measured("mine", "mine", 1.0), found, {})
    assert "Unsupported" not in script
    assert "if " not in script
    assert len(script.splitlines()) < 30


def test_helpers_of_one_name_are_kept_apart(found: discover.Catalogue) -> None:
    script = repro.script(samples.measured("mine", "mine", 1.0), found, {})
    functions = {n.name for n in ast.walk(ast.parse(script)) if isinstance(n, ast.FunctionDef)}
    assert {"_wrapped", "_wrapped_of_consumer"} <= functions
    assert "result = _wrapped_of_consumer(array)" in script


def test_an_adapter_that_is_gone_is_a_clear_line(found: discover.Catalogue) -> None:
    with pytest.raises(ValueError, match="no producer adapter 'other' here"):
        repro.script(samples.measured("other", "mine", 1.0), found, {})


BUILT_IN = {
    name: roles
    for name, roles in discover.catalogue().files.items()
    if not any(file.hidden for file in roles.values())
}
CROSSINGS = [
    (producer, consumer, protocol)
    for producer in BUILT_IN
    if "producer" in BUILT_IN[producer]
    for consumer in BUILT_IN
    if "consumer" in BUILT_IN[consumer]
    for protocol in BUILT_IN[consumer]["consumer"].protocols
]


def test_every_built_in_crossing_makes_a_whole_short_script() -> None:
    found = discover.catalogue()
    for producer, consumer, protocol in CROSSINGS:
        for case in ("f32", "f32-strided"):
            entry = samples.measured(producer, consumer, 1.0, protocol=protocol, case=case)
            script = repro.script(entry, found, {})
            assert undefined(script) == set(), script
            assert len(script.splitlines()) <= 45, script
            # Our own halves are the only reason to import dlbench.
            assert ("import _native" in script) == ("native" in (producer, consumer))
            assert "dlbench.adapter" not in script
            assert "array = array" not in script.splitlines()


#: Extension modules of dlbench's own, which a script cannot do without.
OWN = {"native", "nanobind", "pybind11"}


def crossing(library: str, way: str) -> str | None:
    """A protocol by which arrays cross between that library and NumPy."""
    if library not in OUTCOMES:
        return "dlpack"
    words = OUTCOMES[library].get(way, {})
    return next((name for name, word in words.items() if "copy" in word), None)


@pytest.mark.libraries
@pytest.mark.parametrize(
    "library", sorted(set(BUILT_IN) - OWN - {"dpnp"} - ELSEWHERE - set(CONDITIONAL))
)
def test_a_built_in_library_meets_numpy_in_its_script(library: str, tmp_path: Path) -> None:
    found = discover.catalogue()
    if not discover.library(library, found.files[library]).installed:
        pytest.skip(f"{library} is not installed")
    for way, pair in (("to numpy", (library, "numpy")), ("from numpy", ("numpy", library))):
        consumer = found.files[pair[1]].get("consumer")
        protocol = "convert" if library in on_top.TABLE else crossing(library, way)
        # NumPy may not take a sparse array.
        if protocol is not None and consumer is not None and pair[0] != "sparse":
            entry = samples.measured(*pair, 1.0, protocol=protocol)
            done = ran(repro.script(entry, found, {}), tmp_path)
            assert done.returncode == 0, done.stderr
            assert done.stdout.splitlines()[-1].endswith(" ns")


def test_the_number_of_a_device_is_spelled_out() -> None:
    entry = samples.measured("dpnp", "dpnp", 1.0, device="sycl:0")
    script = repro.script(entry, discover.catalogue(), {})
    assert "dpctl.get_devices()[0]" in script
    assert "sycl" not in script.split("import dpnp")[1]


def test_what_only_a_proxy_met_is_shown_with_the_array_itself(found: discover.Catalogue) -> None:
    given = {"protocol": "dlpack_versioned", "code": "proxy-refused", "exception": "BufferError"}
    script = repro.script(samples.missing("mine", "mine", "no-protocol", "why", **given), found, {})
    assert "result = _wrapped_of_consumer(array)" in script
    assert "class Alone" not in script


def test_libraries_are_imported_in_the_order_of_the_worker(tmp_path: Path) -> None:
    """By name where the cell does not tell: some pairs can be imported in one order only."""
    for role, name, module in (("producer", "z", "json"), ("consumer", "a", "csv")):
        (tmp_path / f"{role}s").mkdir()
        text = f"import {module}\ndef make(case, device):\n    return {module}\n"
        text += f"PROTOCOLS = {{'dlpack': {module}.f}}\n"
        (tmp_path / f"{role}s" / f"{name}.py").write_text(text)
    found = discover.catalogue(tmp_path, package=tmp_path / "none")
    lines = repro.script(samples.measured("z", "a", 1.0), found, {}).splitlines()
    assert lines.index("import csv") < lines.index("import json")
    entry = samples.measured("z", "a", 1.0, imports=["z", "a"])
    lines = repro.script(entry, found, {}).splitlines()
    assert lines.index("import csv") > lines.index("import json")
