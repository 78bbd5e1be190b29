"""Steps of a series of versions: false alarms and power, over recorded workers."""

from __future__ import annotations

import numpy as np
import pytest

import synthetic
from dlbench.analysis import history, steps
from dlbench.terminal import history as table
from recorded import records
from typed import doc, entries_of

TRIALS, REPLICAS = 300, 10


def series(random: np.random.Generator, count: int) -> np.ndarray:
    """Consecutive recorded workers, in random order within each replica."""
    record = records()[random.integers(len(records()))]
    count = min(count, len(record) // REPLICAS)
    start = random.integers(len(record) - count * REPLICAS + 1)
    taken = record[start : start + count * REPLICAS].reshape(REPLICAS, count)
    return random.permuted(taken, axis=1)


def share(count: int, factor: float, place: float) -> float:
    """How often exactly the planted step is found; without one, how often any is."""
    random, hits = np.random.default_rng(7), 0
    for trial in range(TRIALS):
        times = series(random, count)
        cut = int(times.shape[1] * place)
        times[:, cut:] *= factor
        found = [step.index for step in steps.find(times, trial)]
        hits += found == [cut] if factor > 1 else bool(found)
    return hits / TRIALS


def test_versions_that_are_equal_have_steps_as_seldom_as_promised() -> None:
    # Of 300 series without a step at most nine may have one, if one in a hundred has: 99.9 %.
    assert share(8, 1.0, 0.5) <= 0.03


@pytest.mark.parametrize(("factor", "place"), [(1.3, 0.5), (1.3, 0.9)])
def test_a_step_is_found_where_it_is(factor: float, place: float) -> None:
    assert share(8, factor, place) > 0.9


def test_a_bump_and_small_steps() -> None:
    random = np.random.default_rng(3)
    quiet = 100 * np.exp(random.normal(0, 0.005, (REPLICAS, 20)))
    assert steps.find(quiet) == []
    quiet[:, 8:11] *= 1.1
    assert [step.index for step in steps.find(quiet)] == [8, 11]
    quiet[:, 8:11] /= 1.08
    assert steps.find(quiet) == []  # below 3 %
    assert steps.find(np.full((REPLICAS, 5), 7.0)) == []


def test_two_versions_need_many_replicas() -> None:
    random = np.random.default_rng(3)
    times = 100 * np.exp(random.normal(0, 0.001, (12, 2))) * [1, 1.2]
    assert steps.find(times[:7]) == []
    assert [step.index for step in steps.find(times[:10])] == [1]


def test_what_an_interrupted_run_lacks_is_counted() -> None:
    place = synthetic.axes("numpy", "torch", "dlpack", "cpu", 4096, "call")
    worker = {"median_ns": 100.0, "samples_ns": [100.0]}
    items = [synthetic.measured(place) | {"workers": [worker] * number} for number in (3, 2)]
    missing = synthetic.without_number(place, "numpy", "torch") | {"outcome": "not-run"}
    context = {"dlbench": {"request": {"replicas": 3}}}
    made = {"context": context, "benchmarks": items, "not_measured": [missing]}
    (line,) = table.missing(doc(made))
    assert line.plain == (
        "not whole: 1 of 3 exchanges not measured, 1 measured in fewer than 3 workers; "
        "steps may be missing"
    )
    assert not table.missing(doc({"context": context, "benchmarks": items[:1]}))
    two = [items[0] | {"environment": name} for name in ("1.0", "1.1")]
    (line,) = table.missing(doc({"context": context, "benchmarks": two}))
    assert line.plain == "two versions show a step in time from --replicas 9 on"
    context["dlbench"]["request"]["replicas"] = steps.FEWEST_OF_TWO
    nine = [one | {"workers": [worker] * steps.FEWEST_OF_TWO} for one in two]
    assert not table.missing(doc({"context": context, "benchmarks": nine}))


def test_instructions_have_a_column_only_where_they_were_counted() -> None:
    place = synthetic.axes("numpy", "torch", "dlpack", "cpu", 4096, "call")
    for more in ({"instructions": 900.0}, {"instructions": None}):
        item = synthetic.measured(place) | {"environment": "1.0"} | more
        made = {key: value for key, value in item.items() if value is not None}
        cells = history.cells(doc({"context": {}, "benchmarks": [made]}), ["1.0"])
        head, line = table.lines(cells, {}, {})
        assert line.plain.startswith("numpy -> torch dlpack f32 4 KiB  1.0 ")
        assert ("instructions" in head.plain, "900" in line.plain) == (
            bool(more["instructions"]),
        ) * 2


def test_a_disturbed_worker_hides_no_step_and_makes_none() -> None:
    random = np.random.default_rng(3)
    times = 100 * np.exp(random.normal(0, 0.005, (REPLICAS, 12)))
    times[4, 2] *= 9
    assert steps.find(times) == []
    times[:, 6:] *= 1.05
    (step,) = steps.find(times)
    assert (step.index, round(step.after_ns / step.before_ns, 2)) == (6, 1.05)


def test_what_is_not_known_hides_no_step() -> None:
    place = synthetic.axes("numpy", "torch", "dlpack", "cpu", 4096, "call")
    made = synthetic.measured(place)
    items = [
        made | {"outcome": "unproven", "instructions": 100.0},
        made | {"outcome": "zero-copy", "instructions": 100.0},
        made | {"outcome": "unproven"},
        made | {"outcome": "copy", "instructions": 300.0},
        made | {"outcome": "copy"},
        made | {"outcome": "copy", "instructions": 100.0},
    ]
    found = history.segments(entries_of(items))
    assert [(len(each.entries), each.first.observed_outcome, each.kind) for each in found] == [
        (3, "zero-copy", ""),
        (2, "copy", "outcome"),
        (1, "copy", "code"),
    ]


def test_a_round_that_is_not_above_0_hides_no_step() -> None:
    place = synthetic.axes("numpy", "torch", "dlpack", "cpu", 4096, "call")
    items = []
    for version in range(4):
        ns = 100.0 if version < 2 else 150.0
        rounds = [[ns + i / 9, ns + i / 7, ns + i / 5] for i in range(REPLICAS)]
        rounds[3][0] = -1.0 if version == 1 else rounds[3][0]
        workers = [{"median_ns": ns, "samples_ns": each} for each in rounds]
        items.append(synthetic.measured(place) | {"outcome": "copy", "workers": workers})
    found = history.segments(entries_of(items))
    assert [(len(each.entries), each.kind) for each in found] == [(2, ""), (2, "time")]
    assert steps.find(np.zeros((REPLICAS, 4))) == []


def test_a_partner_that_changes_at_a_step_is_named() -> None:
    place = synthetic.axes("numpy", "torch", "dlpack", "cpu", 4096, "call")
    items, libraries = [], {}
    for version, numpy, outcome in (("1.0", "1.26", "copy"), ("1.1", "2.0", "zero-copy"),
                                    ("1.2", "2.0", "copy")):  # fmt: skip
        item = synthetic.measured(place | {"environment": version})
        items.append(item | {"outcome": outcome, "name": f"{item['name']}/environment:{version}"})
        libraries[version] = {"libraries": {"torch": version, "numpy": numpy}}
    context = {"dlbench": {"environments": libraries}}
    document = doc({"context": context, "benchmarks": items})
    ((first, second, third),) = history.cells(document, [*libraries]).values()
    assert (first.what, second.what) == ("", "copy -> zero-copy, with numpy 1.26 -> 2.0")
    assert third.what == "zero-copy -> copy"
    beside = history.partners(document, [*libraries])
    # The same text in one environment is not the tracked library's.
    libraries["1.1"]["libraries"]["numpy"] = "1.1"
    ((_, second, _),) = history.cells(document, [*libraries]).values()
    assert second.what.endswith(", with numpy 1.26 -> 1.1")
    libraries["1.1"]["libraries"]["numpy"] = "2.0"
    assert table.lines({}, {}, beside)[-1].plain == "with numpy 1.26 (1.0), 2.0 (1.1 .. 1.2)"
