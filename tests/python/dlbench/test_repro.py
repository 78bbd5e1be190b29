"""A script of `repro` needs no dlbench, runs, and shows the result of the run."""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_on_top_of_arrays as on_top
from numpy.lib.array_utils import byte_bounds
from test_exports import exporting

import planted
import samples
from dlbench import _core
from dlbench.case import NUMPYS, VARIABLE, Case
from dlbench.libraries import discover
from dlbench.libraries.facts import bound_names
from dlbench.scripts import exchange as repro
from dlbench.scripts import source
from outcomes import CONDITIONAL, ELSEWHERE, OUTCOMES
from typed import entry_of

pytestmark = pytest.mark.process


@pytest.fixture
def found(tmp_path: Path) -> discover.Catalogue:
    return discover.catalogue(planted.plant(tmp_path / "adapters"), package=tmp_path)


def ran(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Runs it, where it does not say that it needs dlbench without it."""
    path = tmp_path / "script.py"
    without = "" if "# needs dlbench" in script else "import sys\nsys.modules['dlbench'] = None\n"
    path.write_text(without + script)
    return subprocess.run([sys.executable, "-I", path], capture_output=True, text=True, timeout=120)


def undefined(script: str) -> set[str]:
    """Names that a script reads and nothing in it binds."""
    nodes = list(ast.walk(ast.parse(script)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {name.id for name in names if isinstance(name.ctx, ast.Store)} | set(dir(builtins))
    for node in nodes:
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler):
            bound.add(str(node.name))
        elif isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom):
            bound |= set(bound_names(node))
    return {name.id for name in names if isinstance(name.ctx, ast.Load)} - bound


@pytest.mark.parametrize("case", _core.case_names())
def test_the_source_has_the_layout_and_content_of_the_case(case: str) -> None:
    facts = Case(**_core.case(case), bytes=samples.own_size(case))
    scope: dict[str, Any] = {"np": np}
    exec("\n".join(source.lines(facts)), scope)
    made, wanted = scope["source"], facts.numpy()
    assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
    assert made.strides == wanted.strides
    assert made.flags.writeable != facts.readonly
    if made.size and not facts.own and facts.dtype != VARIABLE:
        assert byte_bounds(made)[0] % facts.align == (facts.offset or NUMPYS)
    assert np.array_equal(made, wanted, equal_nan=facts.special == "nulls")


@pytest.mark.parametrize(
    ("protocol", "case", "clock"),
    [
        ("dlpack", "f32", "call"),
        ("dlpack", "f64", "ready"),
        ("buffer", "f32-align4", "call"),
        ("convert", "f32-strided", "call"),
        ("convert", "c64", "ready"),
    ],
)
def test_a_measured_cell_runs(  # type: ignore[no-untyped-def]
    found, tmp_path, protocol, case, clock
) -> None:
    entry = samples.measured("mine", "mine", 940.0, protocol=protocol, case=case, clock=clock)
    script = repro.script(entry_of(entry), found, {"mine": "1.0"})
    done = ran(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-2:] == ["expected: an array", "actual: an array"]
    assert undefined(script) == set()
    assert "# with mine 1.0" in script


PROVED = {"evidence": {"address": "yes", "guard": "yes", "write": "yes", "slope": "skipped"}}
REFUTED = {"evidence": {"address": "no", "guard": "no", "write": "no", "slope": "skipped"}}
SAME_OBJECT = {"evidence": PROVED["evidence"] | {"write": "skipped"}}
MAPPED = {"evidence": {"address": "no", "guard": "yes", "write": "yes", "slope": "skipped"}}
COPY = {"outcome": "copy", "bytes": 65536, **REFUTED}
#: A claim of a run: the libraries that show it, those that do not, what was found, what the script
#: expects, and what it prints for both.
CLAIMS = [
    (("numpy", "numpy"), ("numpy", "faulty:silent-copy"), PROVED, "zero-copy",
     ("zero-copy", "copy")),
    (("faulty:double-map", "native"), ("faulty:silent-copy", "native"), MAPPED, "zero-copy",
     ("zero-copy", "copy")),
    (("faulty:silent-copy", "native"), ("faulty:honest", "native"),
     {**COPY, "copied_by": "producer"}, "zero-copy", ("copy", "zero-copy")),
    (("numpy", "faulty:silent-copy"), ("numpy", "native"), {**COPY, "copied_by": "consumer"},
     "zero-copy", ("copy", "zero-copy")),
    (("faulty:values-changed", "native"), ("faulty:honest", "native"), "wrong", None, ("", "")),
    (("faulty:wrong-shape", "numpy"), ("numpy", "numpy"), "wrong", None, ("", "")),
    (("faulty:wrong-strides", "numpy"), ("numpy", "numpy"), "wrong", None, ("", "")),
    (("native", "faulty:early-free"), ("native", "native"), "wrong", None, ("", "")),
    (("faulty:double-free", "numpy"), ("faulty:honest", "numpy"), "crashed", "exit status 0",
     ("SIGABRT", "exit status 0")),
    (("faulty:slow-export=90s", "native"), ("faulty:honest", "native"), "timed-out",
     "exit status 0", ("SIGALRM", "exit status 0")),
    (("faulty:wrong-device", "native"), ("faulty:honest", "native"), "refused",
     "an array or BufferError", ("BufferError", "an array")),
]  # fmt: skip


def verdict(done: subprocess.CompletedProcess[str]) -> tuple[str, str, int]:
    """What is expected, what happens, and the exit status."""
    expected, actual = done.stdout.splitlines()[-2:]
    assert (expected[:10], actual[:8]) == ("expected: ", "actual: "), done
    return expected[10:], actual[8:].partition(":")[0], done.returncode


@pytest.mark.parametrize(("shows", "honest", "observed", "expected", "words"), CLAIMS)
def test_a_script_ends_with_1_where_the_fault_shows(  # type: ignore[no-untyped-def]
    shows, honest, observed, expected, words, monkeypatch
) -> None:
    found = discover.catalogue()
    for pair, word in zip((shows, honest), words, strict=True):
        monkeypatch.setattr(repro, "LIMIT_S", 3 if word == "SIGALRM" else 60)
        entry = (
            samples.missing(*pair, observed, "why", exception="BufferError", signal="SIGABRT")
            if isinstance(observed, str)
            else samples.measured(*pair, 1.0, **observed)
        )
        script = repro.script(entry_of(entry), found, {})
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        wanted, actual, status = verdict(done)
        if expected is None:  # of the content, a checksum is printed
            assert (wanted != actual, status) == (pair is shows, int(pair is shows)), script
        else:
            assert (wanted, actual) == (expected, word), script
            assert status == (word not in expected.split(" or ")), script
        if pair is shows:
            assert repro.observed(entry_of(entry)) == word


#: Exports bfloat16, which NumPy does not import. Reads no `source`.
BRAIN = """
import ctypes

import numpy as np

DISTRIBUTION = None
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class Brain:
    def __init__(self, own):
        self.own = own

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **asked):
        capsule = self.own.__dlpack__()
        ctypes.c_uint8.from_address(get(capsule, b"dltensor") + 20).value = 4
        return capsule


def make(case, device):
    return Brain(np.zeros(case.shape, case.dtype))


def address(array):
    place = getattr(array, "own", array).ctypes.data
    return place


def values(array):
    return getattr(array, "own", array)


def on_stream(device, stream):
    return None
"""


def adapters(folder: Path, make: str, take: str) -> discover.Catalogue:
    """Those of a library `mine`; `take` is what its consumer calls for any protocol."""
    planted.plant(folder)
    (folder / "producers/mine.py").write_text(make)
    text = f"import numpy as np\n{take}\nPROTOCOLS = {{'dlpack': take, 'convert': take}}\n"
    (folder / "consumers/mine.py").write_text(text)
    return discover.catalogue(folder)


MAKE_READONLY = "def make(case, device):\n    return case.numpy()\n"
UNPROTECTED = """\
def take(x):
    interface = {**x.__array_interface__, "data": (x.ctypes.data, False)}
    return np.asarray(type("Kept", (), {"__array_interface__": interface, "source": x})())
"""


@pytest.mark.parametrize(
    ("take", "actual"), [(UNPROTECTED, "changed"), ("take = np.asarray", "unchanged")]
)
def test_a_write_into_a_read_only_array_is_shown(take: str, actual: str, tmp_path: Path) -> None:
    found = adapters(tmp_path, MAKE_READONLY, take)
    lost = {**PROVED, "case": "f32-readonly", "protocol": "convert", "writable": "result"}
    entry = entry_of(samples.measured("mine", "mine", 1.0, **lost))
    done = ran(repro.script(entry, found, {}), tmp_path)
    assert verdict(done) == ("unchanged", actual, int(actual == "changed"))
    assert repro.observed(entry) == "changed"


@pytest.mark.parametrize("given", [{"outcome": "unproven", "writable": "result"}, PROVED, REFUTED])
def test_nothing_is_written_to_an_empty_array(given: dict[str, Any], tmp_path: Path) -> None:
    found = adapters(tmp_path, MAKE_READONLY, UNPROTECTED)
    empty = {"case": "f32-empty", "bytes": 0, "protocol": "convert"}
    entry = entry_of(samples.measured("mine", "mine", 1.0, **given, **empty))
    done = ran(repro.script(entry, found, {}), tmp_path)
    assert verdict(done) == ("an array", repro.observed(entry), 0)


#: An array without an address, as one of packed bits.
PACKED = """\
def memory(array):
    raise BufferError("its memory holds bits")
def values(array):
    return np.array(array[0])
def take(array):
    return [array{}]
"""


@pytest.mark.parametrize(("tail", "actual"), [(".copy()", "copy"), ("", "zero-copy")])
def test_a_write_shows_a_copy_in_what_has_no_address(
    tail: str, actual: str, tmp_path: Path
) -> None:
    own = f"{MAKE_READONLY}def memory(array):\n    return array\n"
    found = adapters(tmp_path, own, PACKED.format(tail))
    proof = {"evidence": {**REFUTED["evidence"], "address": "skipped"}}
    entry = samples.measured("mine", "mine", 1.0, protocol="convert", outcome="copy", **proof)
    done = ran(repro.script(entry_of(entry), found, {}), tmp_path)
    assert verdict(done) == ("zero-copy or copy", actual, 0), done.stderr


PROXIED = {"used": "dlpack", "via": "proxy", "calls": [], "struct": "legacy"}
BY_PRODUCER = {**COPY, "copied_by": "producer"}


@pytest.mark.parametrize(("producer", "status"), [("faulty:silent-copy", 1), ("faulty:honest", 0)])
def test_a_producers_copy_is_seen_behind_what_shows_one_protocol(
    producer: str, status: int, tmp_path: Path
) -> None:
    given = {**BY_PRODUCER, "protocol": "dlpack_legacy", "observed": {**samples.OWN, **PROXIED}}
    entry = samples.measured(producer, "numpy", 1.0, **given)
    script = repro.script(entry_of(entry), discover.catalogue(), {})
    done = ran(script.replace("dlbench'] = None", ""), tmp_path)
    assert verdict(done) == ("zero-copy", ("zero-copy", "copy")[status], status), done.stderr


@pytest.mark.parametrize(("export", "status"), [("copied", 1), ("legacy", 0)])
def test_a_copy_by_a_librarys_own_export_is_seen(export: str, status: int, tmp_path: Path) -> None:
    take = "def take(array):\n    return np.from_dlpack(array)"
    address = "def address(array):\n    return getattr(array, 'source', array).ctypes.data"
    make = f"{exporting(dlpack_legacy=export)}{address}"
    observed = {**samples.OWN, **PROXIED, "via": "exports"}
    entry = samples.measured("mine", "mine", 1.0, **BY_PRODUCER, observed=observed)
    done = ran(repro.script(entry_of(entry), adapters(tmp_path, make, take), {}), tmp_path)
    assert verdict(done) == ("zero-copy", ("zero-copy", "copy")[status], status), done.stderr


@pytest.mark.parametrize(("tail", "status"), [(".copy()", 1), ("", 0)])
def test_a_consumers_copy_is_seen_of_what_numpy_cannot_import(
    tail: str, status: int, tmp_path: Path
) -> None:
    found = adapters(tmp_path, BRAIN, f"def take(array):\n    return array.own{tail}")
    entry = samples.measured("mine", "mine", 1.0, **COPY, copied_by="consumer")
    done = ran(repro.script(entry_of(entry), found, {}), tmp_path)
    assert verdict(done) == ("zero-copy", ("zero-copy", "copy")[status], status), done.stderr


def test_what_is_compared_is_there_where_the_producer_does_not_read_it(tmp_path: Path) -> None:
    found = adapters(tmp_path, BRAIN, "def take(array):\n    return array.own")
    entry = samples.missing("mine", "mine", "wrong", "why", device="cuda:0")
    script = repro.script(entry_of(entry), found, {})
    assert "source = case.numpy()" in script


@pytest.mark.parametrize(("lines", "status"), [("array.own[0] = 77; ", 1), ("", 0)])
def test_a_producers_array_that_changes_is_compared(
    lines: str, status: int, tmp_path: Path
) -> None:
    make = BRAIN.replace("np.zeros(case.shape, case.dtype)", "case.numpy()")
    take = f"def take(array):\n    kept = array.own.copy(); {lines}return kept"
    entry = samples.missing("mine", "mine", "wrong", "why", code="source-changed")
    done = ran(repro.script(entry_of(entry), adapters(tmp_path, make, take), {}), tmp_path)
    expected, actual, ended = verdict(done)
    assert (expected != actual, ended) == (bool(status), status), done.stderr


def test_a_script_makes_no_claim_about_a_deleter_it_does_not_count(tmp_path: Path) -> None:
    entry = samples.missing("numpy", "numpy", "wrong", "why", code="deleter-twice")
    script = repro.script(entry_of(entry), discover.catalogue(), {})
    done = ran(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "actual" not in done.stdout
    assert "# Only dlbench itself counts the calls of the deleter: no verdict here." in script


@pytest.mark.parametrize(
    ("ends", "observed", "status"),
    [("3", "exit status 3", 1), ("1", "exit status 1", 1), ("0", "exit status 0", 0)],
)
def test_a_crash_without_a_signal_is_any_other_status(
    ends: str, observed: str, status: int, tmp_path: Path
) -> None:
    take = f"import os\ndef take(array):\n    os._exit({ends})"
    entry = samples.missing("mine", "mine", "crashed", "why")
    done = ran(repro.script(entry_of(entry), adapters(tmp_path, BRAIN, take), {}), tmp_path)
    assert verdict(done) == ("exit status 0", observed, status), done.stderr
    assert "multi-threaded" not in done.stderr


def test_an_address_of_an_adapter_is_not_taken_for_one_of_the_scripts(tmp_path: Path) -> None:
    """As Numba's, which has two ways to an array's memory."""
    make = BRAIN.replace(").value = 4", ").value = 2")
    found = adapters(tmp_path, make, "def take(array):\n    return np.from_dlpack(array)")
    script = repro.script(entry_of(samples.measured("mine", "mine", 1.0, **BY_PRODUCER)), found, {})
    done = ran(script, tmp_path)
    assert verdict(done) == ("zero-copy", "zero-copy", 0), done.stderr


def test_a_script_finds_numbers_that_became_raw_bytes(tmp_path: Path) -> None:
    pytest.importorskip("ml_dtypes")
    for case, status in (("bf16", 1), ("f32", 0)):
        given = {"protocol": "array_interface", "case": case, "data": {"via": "proxy"}}
        entry = samples.missing("numpy", "numpy", "wrong", "no array", **given)
        done = ran(repro.script(entry_of(entry), discover.catalogue(), {}), tmp_path)
        assert done.returncode == status, done.stdout + done.stderr


#: A library of bits: NumPy reads its own arrays only, and only the adapter knows their address.
BITS = """\
SCRIPT = {"source": "bits"}
def make(case, device):
    return case.numpy()
"""
OPAQUE = """\
class Opaque:
    def __init__(self, own):
        self.own = own
def address(array):
    return array.own.ctypes.data
"""


@pytest.mark.parametrize(
    ("parts", "take", "status"),
    [
        ("", "x.view('u1')", 1),
        ("", "x", 0),
        (OPAQUE, "Opaque(x.view('u1') ^ 1)", 1),
        (OPAQUE, "Opaque(x)", 0),
    ],
)
def test_bits_are_compared_with_their_dtype(
    parts: str, take: str, status: int, tmp_path: Path
) -> None:
    pytest.importorskip("ml_dtypes")
    found = adapters(tmp_path, BITS, f"{parts}def take(x): return {take}")
    entry = samples.missing("mine", "mine", "wrong", "why", case="f8e4m3fn", bytes=4096)
    done = ran(repro.script(entry_of(entry), found, {}), tmp_path)
    assert verdict(done)[2] == status, done.stdout + done.stderr


@pytest.mark.parametrize(("take", "actual"), [("x.copy()", "copy"), ("x", "zero-copy")])
def test_a_copy_is_seen_where_no_view_shows_the_source(
    take: str, actual: str, tmp_path: Path
) -> None:
    hidden = "SCRIPT = {'memory nulls': ''}\ndef memory(array):\n    raise BufferError\n"
    found = adapters(
        tmp_path,
        MAKE_READONLY + hidden,
        f"def memory(array): return array\ndef take(x): return {take}",
    )
    entry = samples.measured("mine", "mine", 1.0, case="f32-nulls", outcome=actual, **REFUTED)
    done = ran(repro.script(entry_of(entry), found, {}), tmp_path)
    assert verdict(done) == ("zero-copy", actual, int(actual == "copy")), done.stderr


def test_a_refusal_is_raised_again(found: discover.Catalogue, tmp_path: Path) -> None:
    why = {"exception": "BufferError", "protocol": "dlpack_c"}
    entry = samples.missing("mine", "mine", "refused", "not today", **why)
    script = repro.script(entry_of(entry), found, {})
    assert "# observed: refused: BufferError: not today" in script
    done = ran(script, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "actual: BufferError: not today" in done.stdout
    assert verdict(done) == ("an array or BufferError", "BufferError", 0)


@pytest.mark.libraries
def test_a_call_that_fails_without_an_exception_is_shown(tmp_path: Path) -> None:
    refused = {"case": "bf16", "code": "refused"}
    entry = entry_of(samples.missing("warp", "numpy", "refused", "no exception", **refused))
    done = ran(repro.script(entry, discover.catalogue(), {}), tmp_path)
    assert verdict(done) == ("an array or BufferError", repro.observed(entry), 1)


def test_a_capsule_is_requested_and_handed_on(found: discover.Catalogue, tmp_path: Path) -> None:
    entry = samples.missing("mine", "mine", "unsupported", "why", protocol="dlpack_legacy")
    script = repro.script(entry_of(entry), found, {})
    assert "result = type(array.__dlpack__())" in script
    assert "PyCapsule" in ran(script, tmp_path).stdout


#: Each export is a copy of its own, which lies where an earlier one was freed.
COPYING = """
import numpy as np


class Copying:
    def __init__(self, own):
        self.own = own

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **asked):
        return self.own.copy().__dlpack__()


def make(case, device):
    return Copying(case.numpy())
"""


def test_a_copy_that_lies_where_another_was_freed_is_a_copy(tmp_path: Path) -> None:
    found = adapters(tmp_path, COPYING, "take = np.from_dlpack")
    entry = samples.measured("mine", "mine", 1.0, **BY_PRODUCER)
    done = ran(repro.script(entry_of(entry), found, {}), tmp_path)
    assert verdict(done) == ("zero-copy", "copy", 1), done.stdout + done.stderr


def test_an_adapter_that_is_gone_is_a_clear_line(found: discover.Catalogue) -> None:
    with pytest.raises(ValueError, match="no producer adapter 'other' here"):
        repro.script(entry_of(samples.measured("other", "mine", 1.0)), found, {})


BUILT_IN = {
    name: roles
    for name, roles in discover.catalogue().files.items()
    if not any(file.hidden for file in roles.values())
}
EXCHANGES = [
    (producer, consumer, protocol)
    for producer in BUILT_IN
    if "producer" in BUILT_IN[producer]
    for consumer in BUILT_IN
    if "consumer" in BUILT_IN[consumer]
    for protocol in BUILT_IN[consumer]["consumer"].protocols
]


#: What a maintainer can run without dlbench.
PLAIN = {"numpy", "torch", "jax"}


@pytest.mark.thorough
def test_every_built_in_exchange_makes_a_whole_short_script() -> None:
    found, pairs = discover.catalogue(), set[tuple[str, str]]()
    for producer, consumer, protocol in EXCHANGES:
        # A protocol and a case change each library's part by itself: NumPy opposite shows it. Names
        # that both parts use differ by pair.
        is_shown = producer == consumer or "numpy" in (producer, consumer)
        if (producer, consumer) in pairs and not is_shown:
            continue
        pairs.add((producer, consumer))
        for case in ("f32", "f32-strided") if is_shown else ("f32",):
            given = {"protocol": protocol, "case": case, **PROVED}
            entry = samples.measured(producer, consumer, 1.0, **given)
            script = repro.script(entry_of(entry), found, {})
            assert undefined(script) == set(), script
            own = [line for line in script.splitlines() if line[:1] != "#"]
            is_built = any("built(" in line for line in own)
            most = 90 if is_built else 50 if protocol == "call" else 25
            assert len(own) <= most, script
            if {producer, consumer} <= PLAIN and protocol != "call":
                assert "dlbench" not in script
                waits = any(".block_until_ready(" in line for line in own)
                assert len(own) <= 15 + waits + 4 * ("class Alone:" in own), script
            assert "array = array" not in own


#: Extension modules of dlbench's own, which a script cannot do without.
OWN = {"native", "nanobind", "pybind11"}


def protocol_of(library: str, way: str) -> str | None:
    """A protocol by which arrays cross between that library and NumPy."""
    if library not in OUTCOMES:
        return "dlpack"
    words = OUTCOMES[library].get(way, {})
    return next((name for name, word in words.items() if "copy" in word), None)


@pytest.mark.libraries
@pytest.mark.thorough
@pytest.mark.parametrize(
    "library", sorted(set(BUILT_IN) - OWN - {"dpnp"} - ELSEWHERE - set(CONDITIONAL))
)
def test_a_built_in_library_meets_numpy_in_its_script(library: str, tmp_path: Path) -> None:
    """Both scripts in one process if both need dlbench or neither does, because most libraries take
    seconds to import."""
    found, scripts = discover.catalogue(), dict[bool, list[str]]()
    if not discover.library(library, found.files[library]).installed:
        pytest.skip(f"{library} is not installed")
    for way, pair in (("to numpy", (library, "numpy")), ("from numpy", ("numpy", library))):
        consumer = found.files[pair[1]].get("consumer")
        protocol = "convert" if library in on_top.TABLE else protocol_of(library, way)
        # NumPy may not take a sparse array.
        if protocol is not None and consumer is not None and pair[0] != "sparse":
            entry = samples.measured(*pair, 1.0, protocol=protocol)
            script = repro.script(entry_of(entry), found, {})
            scripts.setdefault("# needs dlbench" in script, []).append(script)
    for texts in scripts.values():
        each = (
            f"for text in {texts!r}:\n    try: exec(text, {{}})\n"
            "    except SystemExit as end: assert not end.code, text\n"
        )
        done = ran(each, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("\nactual: an array\n") == len(texts), done.stdout + done.stderr


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("producer", "consumer", "case", "given", "actual"),
    [
        ("jax", "mlx", "bf16", REFUTED, "copy"),
        ("mlx", "torch", "bf16", PROVED, "zero-copy"),
        ("mlx", "torch", "bf16-strided", PROVED, "zero-copy"),
        ("polars", "numpy", "bool", REFUTED, "copy"),
        ("dask", "dask", "f32", SAME_OBJECT, "zero-copy"),
        ("dask", "numpy", "f32", SAME_OBJECT, "copy"),
        ("pandas", "pyarrow", "f32-nulls", PROVED, "zero-copy"),
        ("cuda_core", "pint", "f32", PROVED, "zero-copy"),
    ],
)
def test_memory_that_numpy_reads_only_as_the_adapter_does(  # type: ignore[no-untyped-def]
    producer, consumer, case, given, actual, tmp_path
) -> None:
    protocol = "dlpack" if consumer == "torch" else "convert"
    outcome = {"outcome": actual, "protocol": protocol, "case": case}
    entry = samples.measured(producer, consumer, 1.0, **given | outcome)
    done = ran(repro.script(entry_of(entry), discover.catalogue(), {}), tmp_path)
    assert done.stderr == ""
    assert verdict(done)[1] == actual


@pytest.mark.libraries
def test_a_write_is_shown_that_the_library_refuses_by_its_operator(tmp_path: Path) -> None:
    lost = {**PROVED, "case": "f16-0d-align16-readonly", "protocol": "dlpack", "writable": "result"}
    entry = entry_of(samples.measured("numpy", "paddle", 1.0, bytes=2, **lost))
    done = ran(repro.script(entry, discover.catalogue(), {}), tmp_path)
    assert verdict(done) == ("unchanged", "changed", 1)


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("consumer", "case"),
    [
        ("torch", "c32-windows-align64-neg"),
        ("torch", "bf16-strided-neg"),
        ("jax", "bf16-9d-own-neg"),
    ],
)
def test_wrong_values_are_shown_in_a_dtype_that_numpy_does_not_import(
    consumer: str, case: str, tmp_path: Path
) -> None:
    entry = samples.missing("torch", consumer, "wrong", "-3", case=case, code="values-differ")
    done = ran(repro.script(entry_of(entry), discover.catalogue(), {}), tmp_path)
    assert verdict(done)[2] == 1, done.stderr


def test_what_only_a_proxy_met_is_shown_with_the_array_itself(found: discover.Catalogue) -> None:
    given = {"protocol": "dlpack_versioned", "code": "proxy-refused", "exception": "BufferError"}
    script = repro.script(
        entry_of(samples.missing("mine", "mine", "no-protocol", "why", **given)), found, {}
    )
    assert "result = mine_consumer.PROTOCOLS['dlpack'](array)" in script
    assert "class Alone" not in script


def test_libraries_are_imported_in_the_order_of_the_worker(tmp_path: Path) -> None:
    """By name where the cell does not tell: some pairs can be imported in one order only."""
    for role, name, module in (("producer", "z", "json"), ("consumer", "a", "csv")):
        (tmp_path / f"{role}s").mkdir()
        text = f"import {module}\ndef make(case, device): ...\n"
        text += f"SCRIPT = {{'make': 'array = {module}'}}\n"
        text += f"PROTOCOLS = {{'dlpack': {module}.f}}\n"
        (tmp_path / f"{role}s" / f"{name}.py").write_text(text)
    found = discover.catalogue(tmp_path, package=tmp_path / "none")
    lines = repro.script(entry_of(samples.measured("z", "a", 1.0)), found, {}).splitlines()
    assert lines.index("import csv") < lines.index("import json")
    entry = samples.measured("z", "a", 1.0, imports=["z", "a"])
    lines = repro.script(entry_of(entry), found, {}).splitlines()
    assert lines.index("import csv") > lines.index("import json")
