"""Each planted fault occurs; the adapter without a fault behaves as the native one does."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from dlbench import _faulty_consumer, _faulty_producer, _native_consumer, _native_producer
from dlbench.libraries import discover
from dlpack_structs import Versioned, borrowed_capsule, versioned
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


@pytest.mark.parametrize("fault", ["silent-copy", "hiding-is-copied", "copy-back"])
def test_a_copy_that_is_not_reported(fault: str) -> None:
    array, managed = exported(fault)
    assert managed.tensor.data != array.address
    assert managed.flags == 0


def test_a_copy_that_is_reported_and_none() -> None:
    array, managed = exported("lying-is-copied")
    assert managed.tensor.data == array.address
    assert managed.flags == FLAGS["is-copied"]


@pytest.mark.parametrize("side", ["producer", "consumer"])
def test_a_copy_is_written_back_when_it_is_released(side: str) -> None:
    if side == "producer":
        array = producer("copy-back")
        taken = _native_consumer.from_dlpack(array)
    else:
        array = producer("honest")
        taken = consumer("copy-back").from_dlpack(array)
    np.asarray(taken)[3] = 99
    assert np.asarray(array)[3] == 3
    del taken
    assert np.asarray(array)[3] == 99


def test_a_second_mapping_shares_and_a_private_one_copies_on_write() -> None:
    for fault, shares in (("double-map", True), ("lazy-copy", False)):
        array = producer(fault)
        taken = _native_consumer.from_dlpack(array)
        assert taken.address != array.address
        np.asarray(array)[5] = 77
        assert np.asarray(taken)[5] == 77
        np.asarray(taken)[5] = 99
        assert np.asarray(array)[5] == (99 if shares else 77)


def test_values_changed_by_each_side() -> None:
    for array, way in (
        (producer("values-changed"), _native_consumer.from_dlpack),
        (producer("honest", source=counted() + 1), consumer("values-changed").from_dlpack),
    ):
        np.asarray(array)[0] = 1
        way(array)
        assert np.asarray(array)[0] == 0


def test_words_of_the_tensor_that_are_wrong() -> None:
    array, managed = exported("wrong-byte-offset")
    assert (managed.tensor.data, managed.tensor.byte_offset) == (array.address, 4)
    _, managed = exported("wrong-strides")
    assert managed.tensor.strides[0] == 2
    _, managed = exported("wrong-shape")
    assert managed.tensor.shape[0] == 23
    _, managed = exported("wrong-dtype")
    assert (managed.tensor.code, managed.tensor.bits) == (0, 32)
    _, managed = exported("wrong-device")
    assert managed.tensor.device_type == 2
    _, managed = exported("stale-version", (2, 7))
    assert (managed.major, managed.minor) == (2, 7)
    _, managed = exported("read-only-missing", source=frozen())
    assert managed.flags == 0
    _, managed = exported("null-deleter")
    assert not managed.deleter
    assert "dltensor_of_faulty" in repr(producer("wrong-name").__dlpack__(**NEWEST))


def test_a_tensor_that_ends_with_its_capsule() -> None:
    taken = _native_consumer.from_dlpack(producer("early-free"))
    assert set(np.asarray(taken).view(np.uint8)) == {0xDD}
    array = producer("early-free")
    capsule = array.__dlpack__(**NEWEST)
    # The tensor is released once, in either order.
    deleted = _faulty_producer.deleted()
    late = _native_consumer.from_dlpack(Holding(capsule))
    del late
    assert _faulty_producer.deleted() == deleted + 1
    del capsule
    gc.collect()
    assert _faulty_producer.deleted() == deleted + 1


class Holding:
    """Keeps the capsule that it hands out."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule


def test_deleters_that_do_nothing() -> None:
    deleted = _faulty_producer.deleted()
    _native_consumer.from_dlpack(producer("never-free"))
    assert _faulty_producer.deleted() == deleted
    deleted = _native_producer.deleted()
    consumer("never-free").from_dlpack(_native_producer.Array(counted()))
    assert _native_producer.deleted() == deleted


def test_a_consumer_that_gives_back_too_early() -> None:
    array = _native_producer.Array(counted())
    deleted = _native_producer.deleted()
    taken = consumer("early-free").from_dlpack(array)
    assert _native_producer.deleted() == deleted + 1
    assert taken.address == array.address
    del taken
    assert _native_producer.deleted() == deleted + 1


def test_a_second_deletion_of_the_producers_aborts() -> None:
    script = (
        "import numpy as np\nfrom dlbench import _native_consumer as c, _faulty_producer as p\n"
    )
    script += "c.from_dlpack(p.Array(np.arange(9.0), p.Fault('double-free')))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, "its deleter was called twice" in done.stderr) == (-6, True)


@pytest.mark.parametrize("fault", ["honest", "double-free", "keeps-capsule-name"])
def test_a_consumer_that_deletes_twice(fault: str) -> None:
    """Counted by a tensor of ours, which outlives both calls."""
    source = _native_producer.Array(counted())
    honest = source.__dlpack__(**NEWEST)
    deletions: list[int] = []
    managed = Versioned.from_buffer_copy(versioned(honest))
    managed.deleter = type(managed.deleter)(lambda _: deletions.append(1))
    taken = consumer(fault).from_dlpack(Exporting(managed))
    assert len(deletions) == (1 if fault == "keeps-capsule-name" else 0)
    del taken
    assert len(deletions) == (1 if fault == "honest" else 2)


class Exporting:
    """Exports a tensor in a capsule that deletes it if nothing imported it."""

    def __init__(self, managed: Versioned) -> None:
        self.managed = managed

    def __dlpack__(self, **_: Any) -> Any:
        return borrowed_capsule(self.managed)


def test_a_late_read_begins_after_the_call() -> None:
    array = producer("honest")
    taken = consumer("late-read", 20e6).from_dlpack(array)
    np.asarray(array)[2] = 55
    taken.ready()
    assert np.asarray(taken)[2] == 55
    assert taken.address != array.address


def test_a_lazy_copy_happens_where_it_is_read() -> None:
    array = _native_producer.Array(counted())
    deleted = _native_producer.deleted()
    taken = consumer("lazy-copy").from_dlpack(array)
    assert _native_producer.deleted() == deleted
    np.asarray(array)[2] = 55
    assert np.asarray(taken)[2] == 55
    assert _native_producer.deleted() == deleted + 1
    np.asarray(array)[2] = 66
    assert np.asarray(taken)[2] == 55


def test_writes_into_what_is_read_only() -> None:
    source = frozen() + 0
    source[0] = 8
    source.flags.writeable = False
    array = producer("honest", source=source)
    consumer("read-only-ignored").from_dlpack(array)
    assert np.asarray(array)[0] == 0
    writable = producer("honest", source=counted() + 8)
    consumer("read-only-ignored").from_dlpack(writable)
    assert np.asarray(writable)[0] == 8


def test_a_fault_that_there_is_not() -> None:
    for module in (_faulty_producer, _faulty_consumer):
        with pytest.raises(ValueError, match="unknown fault 'nothing'"):
            module.Fault("nothing")
        with pytest.raises(ValueError, match="a delay must be from 0 to"):
            module.Fault("honest", -1)


def test_the_adapters_offer_what_the_modules_have() -> None:
    files = discover.catalogue().files["faulty"]
    assert tuple(files["producer"].arguments) == _faulty_producer.FAULTS
    assert tuple(files["consumer"].arguments) == _faulty_consumer.FAULTS
