"""The verdicts of a real run, compared with those of a judge that shares no code with dlbench."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import oracle
import whole
from oracle import Key, Verdicts, by_key, compared
from samples import warned

pytestmark = [
    pytest.mark.libraries,
    pytest.mark.timeout(900),
    pytest.mark.process,
    pytest.mark.timing,
]

LIBRARIES = ["numpy", "torch", "jax", "mlx", "pyarrow", "tvm_ffi", "array_api_strict"]
CASES = ["f32", "i64", "c64", "bool", "f32-fortran", "f32-strided", "f32-align4"]
CASES += ["f32-readonly", "f32-empty", "f32-grad"]
PROTOCOLS = ["dlpack", "dlpack_legacy", "dlpack_versioned", "buffer", "convert"]
LEAST = 300  #: combinations that both must have decided


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Verdicts, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("oracle")
    names, run = ",".join(LIBRARIES), folder / "run"
    words = ["--matrix", "--producers", names, "--consumers", names, "--sizes", "4096"]
    words += ["--protocols", ",".join(PROTOCOLS), "--cases", ",".join(CASES)]
    words += ["--replicas", "1", "--precision", "99%", "--no-plots", "--quiet"]
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


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"outcome": "copy"}, ("numpy", "torch", "dlpack", "f32")),
        ({"outcome": "refused"}, ("numpy", "torch", "dlpack", "f32")),
        ({"outcome": "wrong"}, ("numpy", "torch", "dlpack", "f32")),
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
