"""The verdicts of a real run, compared with those of a judge that shares no code with dlbench."""

from __future__ import annotations

import copy
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
import xarray

import oracle
import whole
from dlbench import _native_consumer
from oracle import Key, Verdicts, by_key, compared
from samples import warned

pytestmark = [pytest.mark.libraries, pytest.mark.timeout(900), pytest.mark.process]

# A sample; `python tests/python/oracle.py LIBRARY... --cases ...` judges more.
LIBRARIES = ["numpy", "torch", "mlx"]
CASES = ["f32", "c64", "bool", "f32-strided", "f32-align4", "f32-readonly", "f32-empty", "f32-grad"]
CASES += ["object", "vstr", "str", "f32-64d"]
PROTOCOLS = ["dlpack", "dlpack_legacy", "buffer", "convert"]
#: Paddle hangs when it reads its own array after the first owner is gone: a dozen cells.
MORE = (["jax", "paddle", "pyarrow", "tvm_ffi"], ["dlpack_versioned"])
LEAST = 200  #: combinations that both must have decided


@pytest.fixture(scope="module", params=[([], []), pytest.param(MORE, marks=pytest.mark.thorough)])
def judged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Verdicts, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("oracle")
    libraries, protocols = request.param
    names, run = ",".join(LIBRARIES + libraries), folder / "run"
    words = ["--matrix", "--producers", names, "--consumers", names, "--sizes", "4096"]
    words += ["--protocols", ",".join(PROTOCOLS + protocols), "--cases", ",".join(CASES)]
    words += ["--replicas", "1", "--precision", "99%", "--timeout", "10s", "--no-plots", "--quiet"]
    process = whole.start(folder, *words, "--out", str(run))
    out, err = process.communicate(timeout=800)
    assert process.returncode == 0, (out, err)
    document = whole.document(folder)
    cells = by_key(document)
    wanted = [
        key for key, cell in cells.items() if cell.get("found", cell["outcome"]) in oracle.TRIED
    ]
    return oracle.judged(wanted, {key: cells[key]["bytes"] for key in wanted}), document


def test_the_run_and_the_oracle_agree(judged: tuple[Verdicts, dict[str, Any]]) -> None:
    counts, found = compared(*judged)
    print(f"oracle: {counts}")
    assert not found, "\n" + "\n".join(found)
    assert counts["compared"] >= LEAST


def test_objects_of_native_are_read_at_their_pointers() -> None:
    source = np.array([1, 2**40, 3], object)
    result = _native_consumer.from_buffer(source)
    assert oracle.is_right(result, source, source, source)
    assert oracle.is_right(result, source, source + 1, source) is False


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"outcome": "copy"}, ("numpy", "torch", "dlpack", "f32")),
        ({"outcome": "refused"}, ("numpy", "torch", "dlpack", "f32")),
        ({"outcome": "wrong", "code": "values-differ"}, ("numpy", "torch", "dlpack", "f32")),
        ({"changed": ["dtype"]}, ("numpy", "torch", "dlpack", "f32")),
        ({"writable": "source"}, ("numpy", "torch", "dlpack", "f32")),
        ({"changed": ["layout"]}, ("numpy", "numpy", "dlpack", "f32-strided")),
        ({"warnings": [warned("deleter-never")]}, ("numpy", "torch", "dlpack_legacy", "f32")),
    ],
)
def test_a_false_verdict_is_found(
    judged: tuple[Verdicts, dict[str, Any]], change: dict[str, Any], key: Key
) -> None:
    verdicts, document = judged
    document = copy.deepcopy(document)
    by_key(document)[key].update(change)
    _, found = compared({key: verdicts[key]}, document)
    assert len(found) == 1


SHARED = {"outcome": "zero-copy", "changed": [], "evidence": {"address": "yes", "write": "yes"}}
UNREAD = {"warnings": [warned("values-not-checked")]}
COPIED = {"outcome": "copy", "changed": ["dtype"], "evidence": {"address": "no", "write": "no"}}
JUDGED = {
    "own": True, "aligned": True, "values": True, "address": True, "write": True,
    "dtype": True, "shape": True, "layout": True, "empty": False,
}  # fmt: skip


MOVED = {"address": False, "write": False}
UNALIGNED = {"outcome": "refused", "reason": "Data is not aligned to 64 bytes."}


@pytest.mark.parametrize(
    ("seen", "entry", "expected"),
    [
        ({}, COPIED, {"dtype kept"}),
        ({}, {"outcome": "wrong", "code": "values-differ"}, {"values"}),
        ({}, {"outcome": "wrong", "code": "deleter-twice"}, set()),
        (MOVED, SHARED, {"address", "write", "shared"}),
        (MOVED | {"aligned": False}, SHARED, set()),
        ({}, UNALIGNED, set()),
        ({"own": False}, UNALIGNED, {"works"}),
        ({"values": False}, SHARED, {"values"}),
        ({"values": False, "dtype": False}, SHARED | UNREAD, set()),
    ],
)
def test_what_the_oracle_cannot_know_is_no_claim(
    seen: dict[str, Any], entry: dict[str, Any], expected: set[str]
) -> None:
    claims = oracle.claims(JUDGED | seen, entry)
    assert {what for what, mine, its in claims if mine != its} == expected


class Closed:
    def __setitem__(self, where: object, value: object) -> None:
        raise TypeError


@pytest.mark.parametrize("layout", [slice(None), slice(None, None, -2)])
def test_a_tried_assignment_leaves_no_trace(layout: slice) -> None:
    array = np.arange(1.0, 9.0)[layout]
    before = array.copy()
    place = oracle.Facts(array.ctypes.data, "float64", array.shape, array.strides)
    assert oracle.is_written(array, place)
    np.testing.assert_array_equal(array, before)
    assert oracle.is_written(Closed(), place) is None


@pytest.mark.parametrize("is_readonly", [False, True])
def test_an_array_that_xarray_keeps_is_written_as_its_own_buffer_says(is_readonly: bool) -> None:
    source = mx.array([1.0, 2.0])
    shown = np.asarray(source)
    kept = xarray.DataArray(source)
    if is_readonly:
        shown.flags.writeable = False
        kept = xarray.DataArray(shown)
    place = oracle.Facts(shown.ctypes.data, "float32", shown.shape, shown.strides)
    assert oracle.is_written(kept, place) is not is_readonly
