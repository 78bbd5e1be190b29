"""What a finding says is so of every cell that it names."""

from __future__ import annotations

from typing import Any

import samples
from dlbench import findings


def told(label: str, *entries: dict[str, Any]) -> list[str]:
    return [one.text for one in findings.find(samples.document(*entries)) if one.label == label]


def no_protocol(producer: str, consumer: str, why: str, protocol: str) -> dict[str, Any]:
    return samples.missing(producer, consumer, "no-protocol", why, protocol=protocol)


def test_the_producer_alone_is_named_where_the_consumer_takes_it() -> None:
    """Of a couple each library takes from the other one alone."""
    offers_none = no_protocol("a", "b", "a X offers no dlpack_c", "dlpack_c")
    has_no_call = no_protocol("b", "a", "a has no call for dlpack_c", "dlpack_c")
    said = told("no-protocol", offers_none, has_no_call)
    assert said == ["dlpack_c: not taken by a; not offered by a"]


def test_where_it_is_neither_one_alone_the_pair_is_named() -> None:
    why = "the consumer took a path of its own, not dlpack_legacy"
    assert told("no-protocol", no_protocol("a", "b", why, "dlpack_legacy")) == [
        "dlpack_legacy: a -> b"
    ]


def test_an_array_that_numpy_converts_offers_no_dispatch() -> None:
    why = "a x.Array offers no array_ufunc: NumPy converts it; np.multiply: numpy.ndarray"
    assert told("no-protocol", no_protocol("a", "numpy", why, "array_ufunc")) == [
        "array_ufunc: not offered by a"
    ]
