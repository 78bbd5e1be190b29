"""The statistics that Python asks of C++: simulations and the ratio of two sides."""

from __future__ import annotations

import pytest

from dlbench import _core


def test_the_recorded_table_is_nominal_and_repeats() -> None:
    table = _core.coverage(trials=1000, seed=3)
    assert table == _core.coverage(trials=1000, seed=3)
    for row in table:
        if "in blocks" not in row["source"]:
            assert 0.92 < row["share"] < 0.98, row  # 1,000 trials scatter by 0.007
        assert 6 <= row["rounds"] <= 24


def test_a_record_of_ones_own() -> None:
    (row,) = _core.coverage_of([100.0 + (7 * i) % 11 for i in range(100)], trials=1000)
    assert 0.92 < row["share"] < 0.985


def test_the_ratio_of_two_sides() -> None:
    side = [[100.0, 101.0, 99.0, 100.0, 102.0, 98.0]]
    value, lo, hi, honest = _core.ratio_of_medians(side, side, 0.05)
    assert (value, honest) == (1.0, True)
    assert lo < 1 < hi
    assert not _core.ratio_of_medians(side, side)[3]
    with pytest.raises(ValueError, match="process"):
        _core.ratio_of_medians([], side)


def test_what_one_process_may_lie_off() -> None:
    assert _core.between_half_width([99.0, 100.0, 101.0]) == pytest.approx(11.1 * 0.005)
    with pytest.raises(ValueError, match="process"):
        _core.between_half_width([1.0])
