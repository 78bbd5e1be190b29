"""The C++ statistics that Python uses: the ratio of two sides."""

from __future__ import annotations

import pytest

from dlbench import _core


def test_the_ratio_of_two_sides() -> None:
    side = [[100.0, 101.0, 99.0, 100.0, 102.0, 98.0]]
    value, lo, hi, honest = _core.ratio_of_medians(side, side, 0.05)
    assert (value, honest) == (1.0, True)
    assert lo < 1 < hi
    assert not _core.ratio_of_medians(side, side)[3]
    with pytest.raises(ValueError, match="process"):
        _core.ratio_of_medians([], side)


def test_what_one_process_may_lie_off() -> None:
    assert _core.between_half_width([99.0, 100.0, 101.0]) == pytest.approx(
        4.303 * 0.01 * (4 / 3) ** 0.5, rel=0.03
    )
    with pytest.raises(ValueError, match="process"):
        _core.between_half_width([1.0])


def test_cells_of_a_run_moderate_each_other() -> None:
    cells = [[97.0, 100.0, 103.0], [198.0, 200.0, 205.0], [150.0, 150.0, 150.0]]
    intervals = _core.process_intervals(cells)
    (alone,) = _core.process_intervals(cells[:1])
    assert alone[0] < intervals[0][0] < 97 < 103 < intervals[0][1] < alone[1]
    assert intervals[2][0] < 150 < intervals[2][1]
