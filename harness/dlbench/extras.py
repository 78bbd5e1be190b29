"""Extras: attributes of arrays besides their values, such as units, and which ones a result
keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

Extras = Mapping[str, Any]

#: Names of the same attribute in different libraries: missing values, and labels of dimensions.
KINDS = {"nulls": "mask", "index": "labels"}


def checked(found: Any) -> Extras | None:
    """The result of `extras(array)`. Raises TypeError unless it is a dict with texts as keys."""
    if found is None or (isinstance(found, dict) and all(isinstance(w, str) for w in found)):
        return found
    raise TypeError(f"extras must return a dict of words, not {found!r:.60}")


def lost(source: Extras, results: Iterable[Extras]) -> list[str]:
    """The source's keys that the result lacks, or has with other content."""
    kept = [(_kind(word), content) for result in results for word, content in result.items()]
    return [
        word
        for word, content in source.items()
        if not any(kind == _kind(word) and _is_same(content, other) for kind, other in kept)
    ]


def missing(source: Extras) -> bytes:
    """One byte for each element in C order, nonzero if it has no value; empty if all have one."""
    for word, content in source.items():
        if _kind(word) == "mask":
            return np.ascontiguousarray(content, np.bool_).tobytes()
    return b""


def listed(array: Any) -> np.ndarray[Any, Any]:
    """The values as the array itself lists them, without its memory."""
    return np.asarray(array.tolist())


def _kind(word: str) -> str:
    return KINDS.get(word, word)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(np.array_equal(one, other))
