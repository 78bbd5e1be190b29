"""The reader and the exporter of `_check` against ctypes."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from dlbench import _check
from dlbench import _native_producer as producer
from dlbench.check.known_producer import copy_bytes
from dlpack_structs import Versioned, take, versioned


def test_it_reads_what_ctypes_reads() -> None:
    array = producer.Array(np.arange(24, dtype=np.int16).reshape(4, 6)[::2, ::-1])
    capsule = array.__dlpack__(max_version=(1, 3))
    observed, raw = _check.read(capsule), versioned(capsule)
    tensor = raw.tensor
    assert observed["data"] + observed["byte_offset"] == tensor.data + tensor.byte_offset
    assert observed["shape"] == tuple(tensor.shape[i] for i in range(tensor.ndim)) == (2, 6)
    assert observed["strides"] == tuple(tensor.strides[i] for i in range(tensor.ndim)) == (12, -1)
    assert observed["dtype"] == (tensor.code, tensor.bits, tensor.lanes) == (0, 16, 1)
    assert observed["version"] == (raw.major, raw.minor)
    assert (observed["flags"], observed["name"]) == (raw.flags, "dltensor_versioned")


def borrowed(**words: Any) -> tuple[_check.Memory, _check.BorrowedTensor]:
    memory = _check.Memory(np.arange(6, dtype=np.float32))
    return memory, _check.BorrowedTensor(memory, (2, 3), words.pop("strides", (3, 1)), **words)


def test_it_exports_what_ctypes_reads() -> None:
    memory, exported = borrowed(
        version=(1, 7), flags=5, device=(10, 3), dtype=(4, 16, 2), byte_offset=8, strides=None
    )
    raw = versioned(exported.capsule())
    tensor = raw.tensor
    assert (raw.major, raw.minor, raw.flags) == (1, 7, 5)
    assert (tensor.device_type, tensor.device_id) == (10, 3)
    assert (tensor.code, tensor.bits, tensor.lanes) == (4, 16, 2)
    assert (tensor.data, tensor.byte_offset) == (memory.address, 8)
    assert not tensor.strides


def test_deletions_are_counted_and_the_first_poisons() -> None:
    memory, exported = borrowed()
    capsule = exported.capsule()
    raw: Versioned = take(capsule)
    before = _check.gather(memory.address, (6,), None, 4)
    raw.deleter(ctypes.addressof(raw))
    assert (exported.deletions, exported.had_gil) == (1, False)
    after = _check.gather(memory.address, (6,), None, 4)
    assert before != after == b"\xdd" * 24
    raw.deleter(ctypes.addressof(raw))
    assert exported.deletions == 2
    del capsule
    assert exported.deletions == 2


def test_a_capsule_that_nothing_took_gives_back() -> None:
    _, exported = borrowed(legacy=True)
    exported.capsule()
    assert (exported.deletions, exported.had_gil) == (1, True)


@pytest.mark.parametrize("how", ["here", "without-gil", "thread"])
def test_what_was_taken_is_given_back_once_in_each_way(how: str) -> None:
    _, exported = borrowed()
    capsule = exported.capsule()
    taken = _check.import_capsule(capsule)
    assert '"used_dltensor_versioned"' in repr(capsule)
    taken.release(how)
    taken.release(how)
    del taken, capsule
    assert exported.deletions == 1
    assert exported.had_gil == (how != "without-gil")


def test_gathered_elements_are_numpys() -> None:
    source = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    for view in (source, source.T, source[::-1, ::2], source[1:1], source[0, 0, :1].reshape(())):
        memory, first = copy_bytes(view)
        found = _check.gather(first, view.shape, view.strides, view.itemsize)
        assert found == view.tobytes()
        assert memory.address % 4096 == 0


@pytest.mark.parametrize(
    "words",
    [
        {"deleter": "sometimes"},
        {"destructor": "never"},
        {"dtype": (256, 32, 1)},
        {"shape": "ab"},
    ],
)
def test_unfit_tensors_are_errors(words: dict[str, Any]) -> None:
    memory = _check.Memory(b"1234")
    shape = words.pop("shape", (1,))
    with pytest.raises((ValueError, OverflowError, TypeError)):
        _check.BorrowedTensor(memory, shape, (1,), **words)


@pytest.mark.parametrize("thing", [3, None, "capsule", producer.Array(b"1").__array_struct__])
def test_what_is_no_dlpack_capsule_is_an_error(thing: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        _check.read(thing)
    with pytest.raises(ValueError):  # noqa: PT011
        _check.import_capsule(thing)


def test_another_major_version_is_read_to_its_flags_alone() -> None:
    _, exported = borrowed(version=(2, 0), trapped=True)
    observed = _check.read(exported.capsule())
    assert observed["version"] == (2, 0)
    assert "shape" not in observed
