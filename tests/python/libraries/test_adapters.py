"""dlbench's adapters with the real libraries, each in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import test_on_top_of_arrays
from packaging.version import Version

import dlbench
import samples
from dlbench import Call, X, _core, adapter, loading
from dlbench.case import NUMPYS, Case
from dlbench.libraries import discover
from outcomes import CONDITIONAL, ELSEWHERE, OUTCOMES

pytestmark = pytest.mark.process

PACKAGE = Path(dlbench.__file__).parent
LOOK = Path(__file__).parent / "look_at_adapter.py"

PLAIN = {
    "f32": "float32",
    "f64": "float64",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "bool": "bool",
    "c64": "complex64",
}
LAID_OUT = {
    "f32-align4": {"offset": 4, "storage": "align4"},
    "f32-strided": {"layout": "strided"},
    "f32-readonly": {"readonly": True},
}
CASES: list[dict[str, Any]] = [
    *({"name": name, "dtype": dtype, "bytes": 4096} for name, dtype in PLAIN.items()),
    *({"name": name, "dtype": "float32", "bytes": 4096, **how} for name, how in LAID_OUT.items()),
]
EVERY = {case["name"] for case in CASES}

# What each library's `make` cannot express.
UNSUPPORTED = {
    "array_api_strict": set(),
    "dpnp": set(),
    "jax": {"f64", "i64"},
    "mlx": set(),
    "native": set(),
    "numpy": set(),
    "paddle": set(),
    "pyarrow": {"c64"},
    "tensorflow": set(),
    "torch": set(),
    "tvm_ffi": {"f32-readonly"},
    "warp": {"c64"},
}
# Those with contiguous arrays only, which a worker finds out, and with read-only arrays only.
CONTIGUOUS = ("jax", "pyarrow", "tensorflow")
# Those that choose the addresses of their arrays, which a worker finds out too.
PLACED = ("jax", "tensorflow")
IMMUTABLE = CONTIGUOUS
# Those that make a writable array of read-only memory, which a worker finds out.
WRITABLE = ("mlx", "paddle", "torch", "warp")
# Those that copy NumPy's memory to another address, where others share it.
COPIED = {("pyarrow", "bool"), ("pyarrow", "f32-strided")}
# Those that place arrays themselves, and how far these are aligned; then those that place only
# what lies as users have it.
OWN_PLACE = {"dpnp": 64, "jax": 64, "mlx": 8, "tensorflow": 64}
USUALLY_OWN = ("paddle", "pyarrow", "torch", "warp")

# What a native array becomes: "ok", unless listed here by protocol and case ("" for each).
CROSSED: dict[str, dict[str, dict[str, str]]] = {
    "array_api_strict": {"dlpack": {}, "convert": {}},
    "dpnp": {"dlpack": {}, "convert": {}},
    "jax": {
        "dlpack": {
            "f64": "float32(512,)",
            "i64": "int32(512,)",
            "f32-strided": "JaxRuntimeError",
            "f32-readonly": "BufferError",
        },
        "convert": {"f64": "float32(512,)", "i64": "int32(512,)"},
    },
    "mlx": {"dlpack": {"f64": "float32(512,)"}, "convert": {"f64": "float32(512,)"}},
    "native": {
        protocol: {}
        for protocol in ("dlpack", "dlpack_c", "buffer", "array_interface", "array_struct")
    },
    "numpy": {
        protocol: {}
        for protocol in ("dlpack", "convert", "buffer", "array_interface", "array_struct", "array")
    },
    "paddle": {"dlpack": {}, "convert": {"": "TypeError"}},
    # Bytes and objects of its own are read by the worker only: test_on_top_of_arrays has them.
    "pyarrow": {
        "dlpack": dict.fromkeys(("bool", "c64", "f32-strided"), "ArrowInvalid"),
        "buffer": {"": "int8(4096,)", "f32-strided": "BufferError"},
        "convert": {"": "TypeError"},
    },
    "tensorflow": {
        "dlpack": {"f32-strided": "InvalidArgumentError", "f32-readonly": "BufferError"},
        "convert": {},
    },
    "torch": {"dlpack": {}, "convert": {}},
    "tvm_ffi": {"dlpack": {}, "dlpack_c": {}, "convert": {}},
    "warp": {
        "dlpack": {"c64": "RuntimeError", "f32-readonly": "BufferError"},
        "convert": {"": "RuntimeError"},
    },
}


def observe(library: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(LOOK), library, json.dumps(CASES)],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def test_the_tables_name_each_adapter_file() -> None:
    files = {
        path.stem for role in ("producers", "consumers") for path in PACKAGE.glob(f"{role}/*.py")
    }
    others = {"faulty"}  # it is no library, and has tests of its own
    others |= set(OUTCOMES) | set(CONDITIONAL) | ELSEWHERE
    others |= set(test_on_top_of_arrays.TABLE) - {"pyarrow"}  # which is in both tables
    assert files - others == set(UNSUPPORTED) == set(CROSSED)
    assert others < files
    consumers = {path.stem for path in PACKAGE.glob("consumers/*.py")} - others
    assert consumers == {library for library, protocols in CROSSED.items() if protocols}


@pytest.mark.libraries
@pytest.mark.parametrize("library", sorted(UNSUPPORTED))
def test_a_library_against_its_adapters(library: str) -> None:
    report = observe(library)
    assert bool(report["version"]) == (library != "native")
    assert report["devices"][0] == ("sycl:0" if library == "dpnp" else "cpu")
    assert report["has_ready"] == (library in ("dpnp", "jax", "mlx"))

    made = report["made"]
    assert {name for name in made if "unsupported" in made[name]} == UNSUPPORTED[library]
    for case in CASES:
        facts = made[case["name"]]
        if "unsupported" in facts:
            assert facts["unsupported"]
            continue
        assert facts["fault"] == "", case["name"]
        assert "__dlpack__" in facts["exports"]
        size = {"uint8": 1, "bool": 1, "float32": 4, "int32": 4}.get(case["dtype"], 8)
        is_strided = case.get("layout") == "strided" and library not in CONTIGUOUS
        assert facts["strides"] == [size * (2 if is_strided else 1)], case["name"]
        is_readonly = case.get("readonly", False) and library not in WRITABLE
        is_readonly = is_readonly or library in IMMUTABLE
        # No export shows PyArrow's bits.
        is_readonly = is_readonly and (library, case["name"]) != ("pyarrow", "bool")
        assert any(facts["readonly"]) == is_readonly, case["name"]
        is_own = library in USUALLY_OWN and "offset" not in case and not is_strided
        align = OWN_PLACE.get(library, 64 if is_own else 256)
        place = case.get("offset", 0 if is_own or library in OWN_PLACE else NUMPYS)
        place = 0 if library in PLACED else place
        is_copied = (library, case["name"]) in COPIED
        assert is_copied or facts["address"] % align == place, case["name"]

    crossed = report["crossed"]
    assert set(crossed) == set(CROSSED[library])
    for protocol, answers in CROSSED[library].items():
        expected = {name: answers.get(name, answers.get("", "ok")) for name in EVERY}
        # JAX 0.12 imports it; 0.10, which is the newest for Python 3.11, refuses it.
        if library == "jax" and Version(report["version"]) >= Version("0.12"):
            expected["f32-readonly"] = "ok"
        assert crossed[protocol] == expected, protocol


@pytest.mark.libraries
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("library", "name", "reason"),
    [
        *((of, "f32-broadcast-own", "") for of in ("array_api_strict", "astropy", "numpy_ma")),
        *((of, "f32-broadcast-own", "") for of in ("numpy:matrix", "numpy:recarray", "unyt")),
        *((of, "f32-broadcast-own", "is numpy.ndarray") for of in ("polars", "warp", "xarray")),
        ("numpy:recarray", "f32-view", "is numpy.ndarray"),
        *(("memoryview:cast", name, "") for name in ("i32-0d", "u8-0d", "f32-0d")),
    ],
)
def test_an_array_of_the_librarys_type_or_a_reason(library: str, name: str, reason: str) -> None:
    roles = discover.catalogue().roles(library)
    if not discover.library(library, roles).installed:
        pytest.skip(f"{library} is not installed")
    module = loading.load_adapter("producer", library, str(roles["producer"].path))
    case = Case(**_core.case(name), bytes=samples.own_size(name))
    if reason:
        with pytest.raises(adapter.Unsupported, match=reason):
            module.make(case, "cpu")
        return
    array = module.make(case, "cpu")
    plain = Case(**_core.case(name) | {"storage": "usual"}, bytes=case.bytes)
    assert type(array) is type(module.make(plain, "cpu"))
    extras = getattr(module, "extras", lambda _: {})
    assert extras(array).keys() == extras(module.make(plain, "cpu")).keys()
    if case.own:
        assert all(array is not content for content in case.given)
        assert case.bases


TEXTS = """
from dlbench.loading import load_adapter
memory = load_adapter("producer", "tensorflow", "{path}").memory
from tensorflow import constant
assert memory(constant([b"text"])).tolist() == [b"text"]
assert memory(number := constant([1.0])) is number
"""


@pytest.mark.libraries
@pytest.mark.thorough
def test_texts_of_tensorflow_are_read_without_the_export_that_aborts() -> None:
    pytest.importorskip("tensorflow", exc_type=ImportError)
    script = TEXTS.format(path=PACKAGE / "producers/tensorflow.py")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_call_is_a_spelling() -> None:
    call = Call(print, X, 3, end="")
    assert (call.function, call.args, call.kwargs) == (print, (X, 3), {"end": ""})
    assert repr(X) == "X"


def test_opencls_driver_is_the_environments_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert adapter.opencl_cpu() == ""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libintelocl.so.2026.2").touch()
    assert adapter.opencl_cpu() == str(tmp_path / "lib" / "libintelocl.so.2026.2")


def test_dlbench_itself_imports_next_to_nothing() -> None:
    heavy = "import sys, dlbench; print(sorted({'numpy', 'click', 'rich'} & set(sys.modules)))"
    environment = {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", heavy], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_clang_is_found_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert adapter.clang() == "clang"
    for name in ("clang-14", "clang-17"):
        (tmp_path / name).touch(mode=0o755)
    assert adapter.clang() == "clang-17"
    (tmp_path / "clang").touch(mode=0o755)
    assert adapter.clang() == "clang"


def test_a_capsules_pointer_leads_to_the_array() -> None:
    import numpy as np

    array = np.arange(3.0)
    capsule = array.__dlpack__()
    tensor = adapter.capsule_pointer(capsule, b"dltensor")
    assert adapter.word_at(tensor) == array.ctypes.data
    with pytest.raises(ValueError, match="PyCapsule"):
        adapter.capsule_pointer(capsule, b"arrow_array")
