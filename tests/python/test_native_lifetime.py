"""The native modules release each managed tensor once, in any order and in any thread."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading

import numpy as np
import pytest

from dlbench import _native_consumer as consumer
from dlbench import _native_producer as producer
from dlpack_structs import take
from native_arrays import NEWEST, WAYS, counted

pytestmark = pytest.mark.usefixtures("balanced")


def test_an_unconsumed_capsule_gives_back() -> None:
    array = producer.Array(counted())
    for arguments in ({}, NEWEST, {"copy": True}):
        exports, deleted = producer.exports(), producer.deleted()
        capsule = array.__dlpack__(**arguments)
        assert (producer.exports(), producer.deleted()) == (exports + 1, deleted)
        del capsule
        assert (producer.exports(), producer.deleted()) == (exports + 1, deleted + 1)


@pytest.mark.parametrize("way", WAYS)
def test_what_was_imported_outlives_its_source(way: str) -> None:
    array = producer.Array(counted(size=100_000))
    taken = getattr(consumer, way)(array)
    del array
    gc.collect()
    np.testing.assert_array_equal(np.asarray(taken), counted(size=100_000))


def test_many_imports_at_once_are_given_back_in_any_order() -> None:
    array = producer.Array(counted())
    deleted = producer.deleted()
    taken = [consumer.from_dlpack(array) for _ in range(100)]
    taken += [consumer.from_dlpack_c(array) for _ in range(100)]
    del array
    while taken:
        np.testing.assert_array_equal(np.asarray(taken[len(taken) // 2]), counted())
        del taken[len(taken) // 3]
    assert producer.deleted() == deleted + 200


def test_a_deleter_needs_no_gil_and_no_thread_of_pythons() -> None:
    deleted = producer.deleted()
    array = producer.Array(counted())
    managed = [take(array.__dlpack__(**NEWEST)) for _ in range(8)]
    del array
    # ctypes lets go of the GIL around each call.
    threads = [
        threading.Thread(target=one.deleter, args=(ctypes.addressof(one),)) for one in managed
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert producer.deleted() == deleted + 8


@pytest.mark.parametrize("way", WAYS)
def test_no_reference_is_left_behind(way: str) -> None:
    array = producer.Array(counted())
    function = getattr(consumer, way)
    function(array)
    watched = (array, type(array), consumer.Array, None, True)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(1000):
        np.asarray(function(array))
    after = [sys.getrefcount(each) for each in watched]
    assert all(abs(b - a) < 100 for a, b in zip(before, after, strict=True))
