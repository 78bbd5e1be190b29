"""`__array__`: the exporter."""

from __future__ import annotations

from typing import Any

import numpy as np

from dlbench.check.reading import on_error
from dlbench.check.result_reader import dtype_of
from dlbench.check.rule import ARRAY_METHOD, COPY_KEYWORD, producer_rule
from dlbench.check.rules.array_interface import own_shape
from dlbench.check.situation import ARRAYS, EMPTY, FILLED, LAZY, NATIVE, Variant, case_of
from dlbench.check.subject import Subject
from dlbench.check.verdict import Broken, Holds, NotApplicable, Unclear, assume, expect

#: By which an array shows where its elements lie.
MEMORY = ("__dlpack__", "__array_interface__", "__array_struct__")
KEYWORDS: tuple[Variant, ...] = (
    *({"dtype": None}, {"copy": None}, {"copy": True}, {"copy": False}),
    {"dtype": None, "copy": None},
)


def array_of(array: Any, **words: Any) -> Any:
    """What `__array__` returns, called as NumPy does: with `dtype` by position."""
    dtypes = [each and np.dtype(each) for key, each in words.items() if key == "dtype"]
    return array.__array__(*dtypes, **{key: words[key] for key in words if key == "copy"})


def converted(subject: Subject, word: str) -> tuple[Any, Any, Any]:
    """An array that `__array__` converts, what it returns, and the array's content. NotApplicable
    without that method or where it raises without arguments."""
    array, expected = subject.laid(case_of(word))
    assume(hasattr(array, "__array__"), "its arrays have no __array__")
    with on_error(NotApplicable, "__array__ raises "):
        return array, array.__array__(), expected


@producer_rule("array.values", ARRAY_METHOD, arrays=(*ARRAYS, *LAZY, *NATIVE))
def values(subject: Subject, word: str) -> str:
    """__array__ returns a NumPy array with the array's elements

    given = array.__array__()
    assert isinstance(given, np.ndarray), type(given)
    assert given.dtype == source.dtype and np.array_equal(given, source), given
    """
    array, found, expected = converted(subject, word)
    expect(isinstance(found, np.ndarray), f"it returns a {type(found).__name__}")
    if found.dtype.newbyteorder("=") != expected.dtype:
        assume(dtype_of(array) == expected.dtype.name, "its array may have another dtype")
        raise Broken(f"{expected.dtype} is {found.dtype}")
    # A column of lists has one dimension of its own.
    shapes = (expected.shape, own_shape(array, found.shape, expected.shape))
    expect(found.shape in shapes, f"shape is {found.shape}, not {expected.shape}")
    expect(np.array_equal(found.ravel(), expected.ravel()), "it has other elements")
    return "its elements"


@producer_rule(
    "array.dtype",
    ARRAY_METHOD,
    level="should",
    arrays=("line", "strided", *EMPTY),
    variants=({"dtype": "float64"}, {"dtype": "int16"}, {"dtype": "float32"}),
)
def dtype_(subject: Subject, word: str, dtype: str) -> str:
    """__array__(dtype) returns elements of that dtype

    given = array_of(array, {call})
    assert given.dtype == '{dtype}' and np.array_equal(given, source), given
    """
    array, found, _ = converted(subject, word)
    with on_error(Broken, "raises "):
        given = array_of(array, dtype=dtype)
    expect(given.dtype == dtype, f"it returns {given.dtype}")
    expect(np.array_equal(given, found), "it returns other values")
    return f"it returns {dtype}"


@producer_rule("array.keywords", COPY_KEYWORD, variants=KEYWORDS, refusal="ValueError")
def keywords_(subject: Subject, word: str, **keywords: Any) -> str:
    """__array__ accepts dtype and copy

    array_of(array, {call})
    """
    array, _, _ = converted(subject, word)
    # Other rules are about what it returns or refuses.
    with on_error(NotApplicable, "it raises "), on_error(Broken, "", TypeError):
        array_of(array, **keywords)
    return "it accepts them"


@producer_rule(
    "array.copy-true",
    COPY_KEYWORD,
    arrays=FILLED,
    variants=({"copy": True}, {"dtype": "float32", "copy": True}),
)
def copy_true(subject: Subject, word: str, **keywords: Any) -> str:
    """__array__(copy=True) returns a new copy

    one, other = (array_of(array, {call}) for _ in range(2))
    assert not np.shares_memory(one, other)
    assert not np.shares_memory(one, array.__array__())
    assert np.array_equal(one, array.__array__()), one
    """
    array, plain, _ = converted(subject, word)
    with on_error(Broken, "it raises "):
        one, other = twice(array, keywords)
    expect(not np.shares_memory(one, other), "each call returns the same memory")
    expect(not np.shares_memory(one, plain), "it is the memory that a plain call returns")
    expect(np.array_equal(one, plain), "the copy has other values")
    return "a copy"


def twice(array: Any, keywords: Variant) -> list[Any]:
    """The results of two calls. Another rule covers that the keywords are accepted."""
    with on_error(NotApplicable, "copy is no keyword: ", TypeError):
        return [array_of(array, **keywords) for _ in range(2)]


@producer_rule(
    "array.copy-false",
    COPY_KEYWORD,
    arrays=FILLED,
    variants=({"copy": False}, {"dtype": "float64", "copy": False}),
    refusal="Exception",
)
def copy_false(subject: Subject, word: str, **keywords: Any) -> str:
    """__array__(copy=False) returns the same memory at each call, or raises

    one, other = (array_of(array, {call}) for _ in range(2))
    assert np.shares_memory(one, other)
    """
    array, _, _ = converted(subject, word)
    with on_error(Holds, "refused: "):
        one, other = twice(array, keywords)
    if not np.shares_memory(one, other):
        # A lazy array has no memory: its elements are computed, not copied.
        shown = any(hasattr(array, name) for name in MEMORY)
        why = "" if shown else ": a copy, or computed anew"
        raise (Broken if shown else Unclear)(f"each call returns other memory{why}")
    return "the same memory"
