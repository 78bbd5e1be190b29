"""`__cuda_array_interface__`: the content of the dict. Its memory is never touched."""

from __future__ import annotations

from typing import Any

from dlbench.case import Case
from dlbench.check.rule import CUDA_INTERFACE, producer_rule
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, NotApplicable, assume, expect


def interface(array: Any) -> dict[str, Any]:
    """The array's dict."""
    try:
        found = getattr(array, "__cuda_array_interface__", None)
    except Exception as error:
        raise NotApplicable(f"{type(error).__name__}: {error}") from None
    if found is None:
        raise NotApplicable("its arrays have no __cuda_array_interface__")
    return dict(found)


@producer_rule("cuda.host", CUDA_INTERFACE)
def host(subject: Subject) -> str:
    """an array in the CPU's memory has no __cuda_array_interface__

    assert not hasattr(array, '__cuda_array_interface__')
    """
    assume(subject.device == "cpu", f"the array is on {subject.device}")
    array = subject.make()
    try:
        interface(array)
    except NotApplicable:
        return "it has none"
    raise Broken("it has one")


def on_device(subject: Subject, case: Case | None = None) -> dict[str, Any]:
    """The dict of an array in a device's memory."""
    assume(subject.device != "cpu", "the array is on cpu")
    return interface(subject.make(case or subject.case()))


@producer_rule("cuda.keys", CUDA_INTERFACE)
def keys(subject: Subject) -> str:
    """shape is a tuple of ints, typestr a str, data an address and a bool

    found = array.__cuda_array_interface__
    assert isinstance(found['shape'], tuple), found['shape']
    assert all(isinstance(size, int) for size in found['shape']), found['shape']
    assert isinstance(found['typestr'], str), found['typestr']
    assert list(map(type, found['data'])) == [int, bool], found['data']
    """
    found = on_device(subject)
    shape, data = found.get("shape"), found.get("data")
    if not isinstance(shape, tuple) or not all(isinstance(size, int) for size in shape):
        raise Broken(f"shape is {shape!r}")
    expect(isinstance(found.get("typestr"), str), f"typestr is {found.get('typestr')!r}")
    if not isinstance(data, tuple) or len(data) != 2 or not isinstance(data[1], bool):
        raise Broken(f"data is {data!r}")
    return f"{found['typestr']}, shape {shape}"


@producer_rule("cuda.version", CUDA_INTERFACE)
def version(subject: Subject) -> str:
    """version is an int; 3 has the key stream

    found = array.__cuda_array_interface__
    assert isinstance(found['version'], int), found['version']
    """
    found = on_device(subject)
    expect(isinstance(found.get("version"), int), f"version is {found.get('version')!r}")
    return f"version {found['version']}"


@producer_rule("cuda.stream", CUDA_INTERFACE)
def stream(subject: Subject) -> str:
    """stream is not 0, which could mean two streams

    found = array.__cuda_array_interface__
    assert found.get('stream') != 0, found
    """
    found = on_device(subject)
    assume("stream" in found, "it names no stream")
    expect(found["stream"] != 0, "it is 0")
    return f"{found['stream']}"


@producer_rule("cuda.empty", CUDA_INTERFACE, source="empty")
def empty(subject: Subject) -> str:
    """the address of an array without elements is 0

    found = array.__cuda_array_interface__
    assert found['data'][0] == 0, found['data']
    """
    found = on_device(subject, subject.case(bytes=0, dims="empty"))
    expect(found["data"][0] == 0, "it is an address")
    return "0"
