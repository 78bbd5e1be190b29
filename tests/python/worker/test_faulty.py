"""Each planted fault occurs; the adapter without a fault behaves as the native one does."""

from __future__ import annotations

import gc
import time
from typing import Any

import numpy as np
import pytest

from dlbench import _faulty_consumer, _faulty_producer, _native_consumer
from dlpack_structs import versioned
from native_arrays import NEWEST, counted

pytestmark = pytest.mark.process

FLAGS = {"read-only": 1, "is-copied": 2}
SPINS_NS = 20_000.0


def producer(fault: str, value: Any = None, source: Any = None) -> Any:
    made = _faulty_producer.Fault(fault, value)
    return _faulty_producer.Array(counted() if source is None else source, made)


def consumer(fault: str, value: Any = None) -> Any:
    return _faulty_consumer.Fault(fault, value)


def exported(fault: str, value: Any = None, source: Any = None) -> tuple[Any, Any]:
    """An array and what it exports by `__dlpack__`."""
    array = producer(fault, value, source)
    capsule = array.__dlpack__(**NEWEST)
    managed = versioned(capsule)
    managed.held_by = capsule
    return array, managed


def frozen() -> np.ndarray[Any, Any]:
    array = counted()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("way", ["from_dlpack", "from_dlpack_c"])
def test_the_honest_ones_are_as_the_native_halves(way: str) -> None:
    array, fault = producer("honest"), consumer("honest")
    exports, deleted = _faulty_producer.exports(), _faulty_producer.deleted()
    taken = getattr(fault, way)(array)
    np.testing.assert_array_equal(np.asarray(taken), counted())
    assert taken.address == array.address
    assert (_faulty_producer.exports(), _faulty_producer.deleted()) == (exports + 1, deleted)
    del taken
    assert _faulty_producer.deleted() == deleted + 1
    del array
    gc.collect()
    _, honest = exported("honest", source=frozen())
    assert (honest.major, honest.minor, honest.flags) == (1, 3, FLAGS["read-only"])


@pytest.mark.parametrize(
    ("fault", "use"),
    [
        ("slow-query", lambda x: x.__dlpack_device__()),
        ("slow-export", lambda x: x.__dlpack__()),
        ("slow-export", _native_consumer.from_dlpack_c),
        ("host-wait", lambda x: x.__dlpack__()),
        ("slow-release", lambda x: x.__dlpack__()),
        ("slow-release", _native_consumer.from_dlpack_c),
    ],
)
def test_a_producer_that_is_slow_says_how_slow(fault: str, use: Any) -> None:
    made = _faulty_producer.Fault(fault, SPINS_NS)
    array = _faulty_producer.Array(counted(), made)
    assert made.delays() == {"count": 0, "mean_ns": 0.0, "usual_ns": 0.0}
    begin = time.perf_counter_ns()
    for _ in range(100):
        use(array)
    took = time.perf_counter_ns() - begin
    delays = made.delays()
    assert delays["count"] == 100
    assert delays["usual_ns"] >= SPINS_NS
    assert 100 * SPINS_NS <= 100 * delays["mean_ns"] <= took


def test_only_the_step_that_is_slow_is() -> None:
    made = _faulty_producer.Fault("slow-query", SPINS_NS)
    _native_consumer.from_dlpack(_faulty_producer.Array(counted(), made))
    assert made.delays()["count"] == 0


def test_a_wait_leaves_the_cpu_idle() -> None:
    made = _faulty_producer.Fault("host-wait", 50_000_000)
    array = _faulty_producer.Array(counted(), made)
    before = time.thread_time_ns()
    array.__dlpack__()
    assert time.thread_time_ns() - before < made.delays()["mean_ns"] / 2


@pytest.mark.parametrize("way", ["from_dlpack", "from_dlpack_c"])
def test_a_consumer_that_is_slow_says_how_slow(way: str) -> None:
    fault = consumer("slow-import", SPINS_NS)
    getattr(fault, way)(producer("honest"))
    assert (fault.delays()["count"], fault.delays()["mean_ns"] >= SPINS_NS) == (1, True)


def test_a_copy_that_is_reported_and_none() -> None:
    array, managed = exported("lying-is-copied")
    assert managed.tensor.data == array.address
    assert managed.flags == FLAGS["is-copied"]


def test_a_second_mapping_shares_and_a_private_one_copies_on_write() -> None:
    for fault, shares in (("double-map", True), ("lazy-copy", False)):
        array = producer(fault)
        taken = _native_consumer.from_dlpack(array)
        assert taken.address != array.address
        np.asarray(array)[5] = 77
        assert np.asarray(taken)[5] == 77
        np.asarray(taken)[5] = 99
        assert np.asarray(array)[5] == (99 if shares else 77)


def test_a_fault_that_there_is_not() -> None:
    for module in (_faulty_producer, _faulty_consumer):
        with pytest.raises(ValueError, match="unknown fault 'nothing'"):
            module.Fault("nothing")
        with pytest.raises(ValueError, match="a delay must be from 0 to"):
            module.Fault("honest", -1)
