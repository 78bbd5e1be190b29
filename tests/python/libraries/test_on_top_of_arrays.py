"""Libraries on top of arrays, and sparse ones, with NumPy and native, both ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dlbench
from dlbench import _core
from dlbench.libraries import discover
from dlbench.loading import load_adapter
from wire import F32, prepare, send_request

pytestmark = pytest.mark.process

PACKAGE = Path(dlbench.__file__).parent
ORDER = ("dlpack", "buffer", "array_interface", "array_struct", "array", "convert")
NUMPYS = ORDER[1:]
REFUSED = {
    "densify": "refused: RuntimeError: Cannot convert a sparse array to dense automatically.",
    "objects": "no-protocol: the result is an array, but its elements are Python objects",
    "no-type": "refused: ValueError: <class 'dlbench._native_producer.Array'> not supported",
    "polars": "refused: TypeError: Series constructor called with unsupported type 'Array'",
    "iterable": "refused: TypeError: 'dlbench._native_producer.Array' object is not iterable",
}


def every(protocols: tuple[str, ...], outcome: str) -> dict[str, str]:
    return dict.fromkeys(protocols, outcome)


#: A conversion that goes through NumPy takes each of these where it is shown nothing else.
ALONE = ("buffer", "array_interface", "array_struct")
ZERO, COPY = "zero-copy", "copy"
MADE = "unsupported: the producer's array has"
UNKNOWN = "unsupported: the producer's array cannot be located, so its"
NOT_ARRAY = tuple(each for each in NUMPYS if each != "array")
# Of each library, by (producer, consumer) with "it" for itself: what each protocol comes to, as
# "outcome changed...", or the start of the reason. What is not here has no protocol.
Rows = dict[tuple[str, str], dict[str, str]]


def subclass(word: str) -> Rows:
    """A subclass of ndarray, which hands over everything but what it adds."""
    return {
        ("it", "numpy"): every(ORDER, f"{ZERO} {word}"),
        ("it", "native"): every(ORDER[:4], f"{ZERO} {word}"),
        ("numpy", "it"): every(NUMPYS, ZERO),
        ("native", "it"): every(NOT_ARRAY, ZERO),
    }


TABLE: dict[str, Rows] = {
    "numpy_ma": subclass("mask"),
    "astropy": subclass("unit"),
    "unyt": subclass("unit"),
    "pint": {
        ("it", "numpy"): every(("dlpack", "array", "convert"), f"{ZERO} unit"),
        ("it", "native"): {"dlpack": f"{ZERO} unit"},
        ("numpy", "it"): {"convert": ZERO},
        ("native", "it"): {"convert": ZERO},
    },
    "xarray": {
        ("it", "numpy"): every(("array", "convert"), f"{ZERO} labels"),
        ("numpy", "it"): every(NUMPYS, ZERO),
        ("native", "it"): every(NOT_ARRAY, ZERO),
    },
    "dask": {
        ("it", "numpy"): every(("array", "convert"), COPY),
        ("numpy", "it"): every(NUMPYS, COPY),
        ("native", "it"): every(NOT_ARRAY, COPY),
    },
    "pandas": {
        ("it", "numpy"): every(("array", "convert"), f"{ZERO} index"),
        ("numpy", "it"): {"convert": ZERO},
        ("native", "it"): {"convert": REFUSED["objects"]},
    },
    "polars": {
        ("it", "numpy"): every(("array", "convert"), ZERO),
        ("numpy", "it"): {"convert": ZERO},
        ("native", "it"): {"convert": REFUSED["polars"]},
    },
    "awkward": {
        ("it", "numpy"): every(("array", "convert"), ZERO),
        ("numpy", "it"): every(("dlpack", "convert"), ZERO),
        ("native", "it"): every(("dlpack", "convert"), ZERO),
    },
    "scipy_sparse": {
        ("it", "numpy"): {"convert": REFUSED["objects"]},
        ("numpy", "it"): every(("convert", *ALONE, "array"), COPY),
        ("native", "it"): every(("convert", *ALONE), COPY),
    },
    "sparse": {
        ("it", "numpy"): every(("array", "convert"), REFUSED["densify"]),
        ("numpy", "it"): {"convert": COPY},
        ("native", "it"): {"convert": REFUSED["no-type"]},
    },
    "pyarrow": {
        ("it", "numpy"): every(("dlpack", "array", "convert"), ZERO),
        ("it", "native"): {"dlpack": ZERO},
        ("numpy", "it"): {
            "dlpack": f"{ZERO} read-only",
            "buffer": f"{ZERO} dtype",
            "convert": f"{ZERO} read-only",
        },
        ("native", "it"): {
            "dlpack": f"{ZERO} read-only",
            "buffer": f"{ZERO} dtype",
            "convert": REFUSED["iterable"],
        },
    },
}


def load(library: str) -> list[dict[str, str]]:
    return [
        {"do": "load", "role": role, "library": library, "path": str(path)}
        for role in ("producer", "consumer")
        if (path := PACKAGE / f"{role}s" / f"{library.partition(':')[0]}.py").exists()
    ]


def met(
    folder: Path, library: str, case: dict[str, Any], pairs: list[tuple[str, str]]
) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The worker's answer for each pair and protocol."""
    names = list(dict.fromkeys([library, *(name for pair in pairs for name in pair)]))
    loads = [request for name in names for request in load(name)]
    cells = [(*pair, protocol) for pair in pairs for protocol in ORDER]
    prepares = [prepare(number, *cell, case) for number, cell in enumerate(cells)]
    answers = send_request(folder, *loads, *prepares)
    assert all("ok" in answer for answer in answers[: len(loads)]), answers
    return dict(zip(cells, answers[len(loads) :], strict=True))


def in_words(answer: dict[str, Any]) -> str:
    if "ok" in answer:
        ok = answer["ok"]
        return " ".join([ok["outcome"], *ok["changed"]])
    error = answer["error"]
    parts = [part for part in (error["outcome"], error["exception"], error["reason"]) if part]
    return ": ".join(parts).replace("the result is not a numeric array: ", "")


@pytest.mark.libraries
@pytest.mark.parametrize("library", sorted(TABLE))
def test_a_row_and_its_column(library: str, tmp_path: Path) -> None:
    pairs = [
        (giver.replace("it", library), taker.replace("it", library))
        for giver, taker in (("it", "numpy"), ("it", "native"), ("numpy", "it"), ("native", "it"))
    ]
    for (giver, taker, protocol), answer in met(tmp_path, library, F32, pairs).items():
        key = tuple("it" if name == library else name for name in (giver, taker))
        expected = TABLE[library].get((key[0], key[1]), {}).get(protocol, "no-protocol")
        found = in_words(answer)
        # Reasons are compared by their beginning: the rest is the library's message.
        same = (
            found.startswith(expected)
            if ": " in expected or expected == "no-protocol"
            else (found == expected)
        )
        assert same, (giver, taker, protocol, found)


NULLS = F32 | {"name": "f32-nulls", "special": "nulls"}
GRAD = F32 | {"name": "f32-grad", "special": "grad"}
SPECIAL = {
    ("pandas", "numpy", "convert"): f"{COPY} index nulls",
    ("polars", "numpy", "convert"): f"{COPY} nulls",
    ("pyarrow", "numpy", "convert"): f"{COPY} nulls",
    ("pyarrow", "numpy", "dlpack"): "refused: ArrowTypeError: Can only use DLPack on arrays with",
    ("awkward", "numpy", "convert"): "refused: ValueError: ",
    ("pyarrow", "awkward", "convert"): ZERO,
    ("numpy", "numpy", "convert"): "unsupported: the adapter of numpy makes no nulls",
    ("torch", "numpy", "dlpack"): "refused: BufferError: Can't export tensors that require grad",
    ("torch", "torch", "convert"): ZERO,
    ("paddle", "numpy", "convert"): f"{COPY} grad",
}


@pytest.mark.libraries
@pytest.mark.parametrize(("giver", "taker", "protocol"), sorted(SPECIAL))
def test_nulls_and_gradients(giver: str, taker: str, protocol: str, tmp_path: Path) -> None:
    case = GRAD if giver in ("torch", "paddle") else NULLS
    answer = met(tmp_path, giver, case, [(giver, taker)])[giver, taker, protocol]
    expected = SPECIAL[giver, taker, protocol]
    assert in_words(answer).startswith(expected), answer


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("giver", "taker", "name", "expected"),
    [
        ("pandas", "numpy", "i16-nulls", f"{COPY} dtype index nulls -> NaN"),
        ("pyarrow", "polars", "u8-nulls", ZERO),
        ("awkward", "pyarrow", "i64-nulls-own", ZERO),
        ("pyarrow", "pandas", "i64-nulls", f"{COPY} dtype nulls -> NaN"),
        ("numpy", "polars", "dt64", COPY),
        ("pyarrow", "numpy", "td64", ZERO),
        ("awkward", "numpy", "record", COPY),
        (
            "awkward",
            "numpy",
            "str",
            f"{MADE} dtype code3bits8lanes12",
        ),
        ("torch", "numpy", "bytes", "unsupported: TypeError: torch cannot make the array: "),
        ("numpy", "polars", "c64", "no-protocol: the result is an array, but its elements are"),
        ("polars", "numpy", "f32-odd-nulls", f"{UNKNOWN} layout is unknown: copy not allowed"),
        ("polars", "numpy", "u16-odd-align128-nulls", f"{UNKNOWN} alignment is unknown: "),
        ("pyarrow", "numpy", "bool-strided", f"{MADE} no memory with strides (2,)"),
        ("pyarrow:tensor", "numpy", "f32-nulls", f"{MADE} no nulls"),
        ("pyarrow:tensor", "numpy", "bool", f"{MADE} dtype uint8, not bool"),
        ("pillow", "numpy", "f64", f"{MADE} dtype float32, not float64"),
        ("array", "numpy", "f32-2d", "unsupported: array.array has one dimension"),
        ("numpy_ma:nomask", "awkward", "str-2d", "refused: AttributeError: "),
        ("numpy:scalar", "numpy", "f32", "unsupported: ValueError: numpy:scalar cannot make the"),
        ("onnxruntime", "numpy", "i4", f"{UNKNOWN} layout is unknown: dlbench cannot read it: "),
        ("onnxruntime", "numpy", "f32-broadcast-own", "unsupported: an OrtValue has no slices"),
        ("onnxruntime", "numpy", "c32", "unsupported: RuntimeError: onnxruntime cannot make the "),
        (
            "awkward",
            "awkward",
            "i8-fortran-align8-nulls",
            f"{UNKNOWN} alignment is unknown: ",
        ),
        ("tvm_ffi", "numpy", "f4e2m1fn", f"{UNKNOWN} layout is unknown: dlbench cannot read it: "),
    ],
)
def test_elements_without_a_number(
    giver: str, taker: str, name: str, expected: str, tmp_path: Path
) -> None:
    answer = met(tmp_path, giver, _core.case(name), [(giver, taker)])[giver, taker, "convert"]
    assert in_words(answer).startswith(expected), answer


@pytest.mark.libraries
@pytest.mark.parametrize("shape", [(0, 8), (1, 8, 0, 128), (2, 3)])
def test_a_tensor_without_elements_is_read_in_its_shape(shape: tuple[int, ...]) -> None:
    path = Path(dlbench.__file__).parent / "producers/tinygrad.py"
    adapter = load_adapter("producer", "tinygrad", str(path))
    from tinygrad import Tensor

    assert np.asarray(adapter.values(Tensor(np.zeros(shape, "f4")))).shape == shape


@pytest.mark.libraries
@pytest.mark.parametrize(
    ("giver", "taker", "expected"),
    [
        ("pint", "xarray", ZERO),  # which holds the very quantity
        ("pint", "astropy", f"{ZERO} unit"),
        ("sparse", "torch", f"{COPY} sparsity"),
        ("numpy_ma", "pandas", f"{COPY} mask -> NaN"),
        ("numpy_ma", "pyarrow", ZERO),  # as nulls
        ("pandas", "xarray", ZERO),  # the index as coordinates
    ],
)
def test_two_rows_meet(giver: str, taker: str, expected: str, tmp_path: Path) -> None:
    answer = met(tmp_path, giver, F32, [(giver, taker)])[giver, taker, "convert"]
    assert in_words(answer) == expected


@pytest.mark.libraries
def test_a_warning_of_the_library_is_kept(tmp_path: Path) -> None:
    answers = met(tmp_path, "pint", F32, [("pint", "numpy")])
    (reported,) = answers["pint", "numpy", "array"]["ok"]["warnings"]
    assert reported["code"] == "python-warning"
    assert reported["data"]["category"] == "UnitStrippedWarning"
    assert answers["pint", "numpy", "dlpack"]["ok"]["warnings"] == []


@pytest.mark.libraries
@pytest.mark.parametrize("case", [F32, _core.case("f32-nulls")])
def test_no_write_to_a_series_is_claimed_to_arrive(case: dict[str, Any], tmp_path: Path) -> None:
    """A write to a series that shares its memory goes to a copy."""
    reported = met(tmp_path, "pandas", case, [("pandas", "pandas")])["pandas", "pandas", "convert"]
    assert in_words(reported) == ZERO
    assert not reported["ok"].get("writable")


@pytest.mark.libraries
def test_an_empty_array_of_objects_is_not_filled() -> None:
    pl = pytest.importorskip("polars")
    path = str(discover.catalogue().roles("polars")["producer"].path)
    values = load_adapter("producer", "polars", path).values
    with pytest.raises(dlbench.Unsupported, match="Python objects"):
        values(pl.Series(np.zeros((0, 8), "c8")))  # Polars aborts
    assert values(pl.Series(np.zeros((0, 8), "f4"))).shape == (0, 8)
