"""Bisection over versions: the number of measurements, and what stands in its way."""

from __future__ import annotations

import numpy as np
import pytest

from dlbench.analysis import bisection, history
from dlbench.analysis.bisection import Gap
from dlbench.analysis.history import Facts
from recorded import records

GOOD, BAD = Facts("zero-copy", "dlpack", 1000.0), Facts("copy", "dlpack", 1000.0)


class Versions:
    """Counts how many are measured."""

    def __init__(self, facts: list[Facts | None]) -> None:
        self.facts, self.measured = facts, 0

    def __call__(self, index: int) -> Facts | None:
        self.measured += 1
        return self.facts[index]

    def find(self, kind: str = "outcome") -> Gap:
        return bisection.by_facts(self, len(self.facts) - 1, kind)


@pytest.mark.parametrize("first", range(1, 30))
def test_thirty_versions_need_seven_measurements(first: int) -> None:
    versions = Versions([GOOD] * first + [BAD] * (30 - first))
    assert versions.find() == Gap(first - 1, first)
    assert versions.measured <= 7


def test_versions_without_a_result_are_passed_over() -> None:
    unknown = Facts("", "", 0.0)
    versions = Versions([GOOD, GOOD, GOOD, None, unknown, BAD, BAD, BAD])
    assert versions.find() == Gap(2, 5)


def test_of_several_steps_one_is_found() -> None:
    refused = Facts("refused", "dlpack", 0.0)
    assert Versions([GOOD, refused, refused, BAD, BAD]).find() == Gap(0, 1, is_several=True)
    counts = [1000, 1030, 1030, 1030, 2000]
    found = Versions([Facts("copy", "dlpack", count) for count in counts]).find("code")
    assert found == Gap(3, 4, is_several=True)


def test_small_changes_of_counts_are_no_step() -> None:
    assert Facts("copy", "", 1000).step(Facts("copy", "", 1015)) == ""
    assert Facts("copy", "", 1000).step(Facts("copy", "", 1025)) == "code"
    assert Facts("copy", "", 1000).step(Facts("", "", 0)) == ""
    counts = [1000, 1010, 1020, 1030, 1040]
    found = Versions([Facts("copy", "dlpack", count) for count in counts]).find("code")
    assert not found.is_several
    assert found.high - found.low == 1


class Workers:
    """Recorded workers of 30 versions, slower from one of them on."""

    def __init__(self, random: np.random.Generator, slower: float) -> None:
        self.random, self.slower = random, slower
        self.record = records()[random.integers(len(records()))]
        self.first = int(random.integers(1, 30))
        self.measured: list[int] = []

    def __call__(self, index: int) -> float:
        self.measured.append(index)
        time = float(self.random.choice(self.record))
        return time * self.slower if index >= self.first else time

    def is_found(self) -> bool:
        good, bad = (self.random.choice(self.record, 10) for _ in range(2))
        gap = bisection.by_times(self, good, self.slower * bad, 29)
        return (gap.low, gap.high) == (self.first - 1, self.first)


@pytest.mark.parametrize(("slower", "right", "most"), [(1.1, 70, 80), (1.3, 90, 30)])
def test_a_slower_version_is_found_among_recorded_workers(
    slower: float, right: int, most: float
) -> None:
    # Medians of a busy machine; the times of `bisect` are lowest rounds, which scatter less.
    random = np.random.default_rng(5)
    trials = [Workers(random, slower) for _ in range(100)]
    found = sum(trial.is_found() for trial in trials)
    workers = np.mean([len(trial.measured) for trial in trials])
    print(f"{slower:g}: {found} of 100, {workers:.0f} workers")
    assert found >= right
    assert workers < most
    assert all({0, 29}.isdisjoint(trial.measured) for trial in trials)


def test_a_version_without_a_time_stays_a_candidate() -> None:
    times = {1: 100.0, 2: None, 3: 130.0}
    good, bad = np.full(10, 100.0), np.full(10, 130.0)
    gap = bisection.by_times(times.__getitem__, good, bad, 4)
    assert (gap.low, gap.high) == (1, 3)
    assert gap.confidence > 0.98


def test_two_neighbors_are_the_gap() -> None:
    assert Versions([GOOD, BAD]).find() == Gap(0, 1)
    times = np.full(10, 100.0)
    assert bisection.by_times({}.__getitem__, times, times * 2, 1) == Gap(0, 1)


def test_facts_of_a_cell_hold_no_values_of_its_reason() -> None:
    assert set(history.LEAST) == {"outcome", "protocol", "code"}
