"""CELL on the command line: words select, and open axes have their default."""

from __future__ import annotations

from typing import Any

import pytest

import samples
from dlbench.analysis import cells
from dlbench.errors import BadInput
from typed import doc


def document() -> dict[str, Any]:
    sizes = (4096, 262144)
    measured = [
        samples.measured("a", "b", 10.0, protocol=protocol, clock=clock, bytes=size)
        for protocol in ("convert", "dlpack")
        for clock in ("ready", "call")
        for size in sizes
    ]
    elsewhere = samples.missing("a", "b", "no-device", "not here", device="sycl:0")
    return samples.document(*measured, elsewhere, samples.measured("b", "a", 20.0))


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ([], ("dlpack", "call", 4096)),
        (["convert"], ("convert", "call", 4096)),
        (["256KiB"], ("dlpack", "call", 262144)),
        (["262144", "ready", "convert"], ("convert", "ready", 262144)),
    ],
)
def test_the_usual_fills_the_gaps(words: list[str], chosen: tuple[str, str, int]) -> None:
    entry = cells.single(doc(document()), ["a", "b", *words])
    assert (entry.protocol, entry.clock, entry.bytes) == chosen
    assert entry.device == "cpu"


def test_a_cell_that_could_not_be_is_still_to_be_had() -> None:
    assert cells.single(doc(document()), ["a", "b", "sycl:0"]).outcome == "no-device"


def test_all_that_fit_are_found() -> None:
    assert len(cells.matching(doc(document()), ["a", "b"])) == 9
    assert len(cells.matching(doc(document()), ["a", "b", "ready"])) == 4


def test_a_pair_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="no consumer 'c' in this run"):
        cells.single(doc(document()), ["a", "c"])
    with pytest.raises(BadInput, match="no consumer 'a' in this run"):
        cells.single(doc(samples.document(samples.measured("a", "b", 1.0))), ["a", "a"])


@pytest.mark.parametrize(
    "word", ["f32-strided-readonly", "f32-readonly-strided", "readonly-f32-1d-strided"]
)
def test_the_words_of_a_case_have_any_order(word: str) -> None:
    entry = samples.measured("numpy", "torch", 1.0, case="f32-strided-readonly")
    other = samples.measured("numpy", "torch", 1.0)
    found = cells.matching(doc(samples.document(entry, other)), ["numpy", "torch", word])
    assert [one.case for one in found] == ["f32-strided-readonly"]
