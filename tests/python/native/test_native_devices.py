"""The native modules on a device: streams, copies to the CPU, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dlbench import _native_consumer as consumer
from dlbench import _native_producer as producer
from dlpack_structs import versioned
from native_arrays import NEWEST, counted

pytestmark = pytest.mark.usefixtures("balanced")

SIM = "sim:0"
EXTENSION_DEVICE = (12, 0)
IS_COPIED = 2


def made(array: np.ndarray[Any, Any] | None = None, **how: Any) -> Any:
    return producer.DeviceArray(counted() if array is None else array, SIM, **how)


def on_host(array: Any) -> np.ndarray[Any, Any]:
    return np.asarray(consumer.Importer("cpu").from_dlpack(array))


@pytest.mark.parametrize("way", ["from_dlpack", "from_dlpack_c", "from_cuda_array_interface"])
def test_an_import_is_the_producers_memory(way: str) -> None:
    array = made()
    result = getattr(consumer.Importer(SIM), way)(array)
    assert result.address == array.address
    assert result.shape == (24,)
    assert result.__dlpack_device__() == array.__dlpack_device__() == EXTENSION_DEVICE
    with pytest.raises(BufferError, match="the host cannot read"):
        memoryview(result)


@pytest.mark.parametrize(
    "source",
    [
        counted().reshape(4, 6),
        counted().reshape(4, 6).T,
        counted()[::2],
        counted()[::-1],
        counted("complex128"),
        np.broadcast_to(counted("int16", 6), (3, 6)),
    ],
    ids=["grid", "fortran", "steps", "reversed", "complex", "broadcast"],
)
def test_the_content_comes_back(source: np.ndarray[Any, Any]) -> None:
    array = made(source)
    assert (on_host(array) == source).all()
    sent = consumer.Importer(SIM).from_dlpack(producer.Array(source))
    assert sent.__dlpack_device__() == EXTENSION_DEVICE
    assert sent.shape == source.shape


@pytest.mark.parametrize("stream", [None, 1, 2, -1])
def test_streams_that_the_standard_allows(stream: int | None) -> None:
    assert '"dltensor_versioned"' in repr(made().__dlpack__(stream=stream, **NEWEST))


@pytest.mark.parametrize("stream", [0, -2])
def test_streams_that_it_does_not(stream: int) -> None:
    with pytest.raises(ValueError, match=f"stream {stream} is not allowed on sim"):
        made().__dlpack__(stream=stream)


def test_the_cpu_gets_a_copy_that_says_so() -> None:
    array = made()
    capsule = array.__dlpack__(dl_device=(1, 0), **NEWEST)
    found = versioned(capsule)
    assert found.flags & IS_COPIED
    assert (found.tensor.device_type, found.tensor.device_id) == (1, 0)
    same = array.__dlpack__(copy=True, stream=producer.stream(SIM), **NEWEST)
    assert versioned(same).flags & IS_COPIED
    assert versioned(same).tensor.device_type == EXTENSION_DEVICE[0]


@pytest.mark.parametrize(
    ("requested", "error"),
    [
        ({"dl_device": (1, 0), "stream": 1}, ValueError),
        ({"dl_device": (1, 0), "copy": False}, BufferError),
        ({"dl_device": (2, 0)}, BufferError),
        ({"dl_device": (12, 1)}, BufferError),
        ({"stream": "1"}, TypeError),
    ],
)
def test_what_cannot_be_met(requested: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        made().__dlpack__(**requested)


def test_the_interface_names_the_stream_to_wait_for() -> None:
    array = made()
    reported = array.__cuda_array_interface__
    assert (reported["version"], reported["stream"]) == (3, producer.stream(SIM))
    former = producer.stream(SIM)
    producer.set_stream(SIM, 1)
    assert array.__cuda_array_interface__["stream"] == 1
    producer.set_stream(SIM, former)
    old = made(interface=2).__cuda_array_interface__
    assert old["version"] == 2
    assert "stream" not in old
    assert made(counted()[:0]).__cuda_array_interface__["data"] == (0, False)


def test_a_stream_of_nothing_is_refused_by_the_consumer() -> None:
    class Wrong:
        __cuda_array_interface__ = made().__cuda_array_interface__ | {"stream": 0}

    with pytest.raises(ValueError, match="stream 0 is not allowed"):
        consumer.Importer(SIM).from_cuda_array_interface(Wrong())


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"device": "gpu:0"}, "gpu: native does not support this device"),
        ({"device": "sim:7"}, "sim: no device 7; number of devices: 1"),
        ({"device": "sim:x"}, "sim:x: not a device; allowed: cpu, cuda:0"),
    ],
)
def test_a_device_that_is_not_there(how: dict[str, str], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        producer.DeviceArray(counted(), how["device"])


def test_memory_that_dlpack_has_no_device_type_for() -> None:
    with pytest.raises(BufferError, match="no device type for such memory of sim"):
        made(memory="pinned")
    with pytest.raises(ValueError, match="not 'shared'"):
        made(memory="shared")
